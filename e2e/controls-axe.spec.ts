/** Every control dialog, open, in both themes and on a narrow phone: axe finds nothing and nothing is cut off sideways. */
import AxeBuilder from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";
import { bar, customerWith, destinationPage, tenantPage } from "./controls-parts.ts";
import { signInAs } from "./support/accounts.ts";
import { expect, test } from "./support/world.ts";

const REGION = "eu";
const NARROW_PX = 320;

/** A button, or an item of the menu. */
interface Opener {
  name: string;
  menu?: true;
}

const TENANT: readonly Opener[] = [
  { name: "Pause" },
  { name: "Limits" },
  { name: "Change weight", menu: true },
];
const DESTINATION: readonly Opener[] = [
  { name: "Limits" },
  { name: "Send test event" },
  { name: "Disable", menu: true },
  { name: "Pin the adaptive limit", menu: true },
  { name: "Rotate secret", menu: true },
];
const OF_REGION: readonly Opener[] = [{ name: "Stop claims" }, { name: "Default limits" }];

async function open(page: Page, controls: Locator, { name, menu }: Opener): Promise<Locator> {
  if (menu) {
    await controls.getByRole("button", { name: "More controls" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  } else {
    await controls.getByRole("button", { name, exact: true }).click();
  }
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel(/^Reason/)).toBeVisible();
  return dialog;
}

async function findings(page: Page): Promise<unknown[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing on any control dialog, ${colorScheme}`, async ({ browser, world }) => {
    test.setTimeout(180_000);
    const customer = await customerWith(world, REGION, "Plain Bank", "/ok/plain-bank");
    // Only an administrator may open all of them.
    const storageState = await signInAs(world.consoleUrl, world.accounts.admin);
    const context = await browser.newContext({
      storageState,
      baseURL: world.consoleUrl,
      colorScheme,
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    const places: [string, string, readonly Opener[]][] = [
      [tenantPage(customer, REGION), "Plain Bank, EU", TENANT],
      [destinationPage(customer, REGION), "Ledger, EU", DESTINATION],
      ["/regions", "EU", OF_REGION],
    ];
    for (const [path, of, openers] of places) {
      await page.setViewportSize({ width: 1_360, height: 900 });
      await page.goto(path);
      for (const opener of openers) {
        const dialog = await open(page, bar(page, of), opener);
        expect(await findings(page), `${of}: ${opener.name}`).toEqual([]);
        await page.setViewportSize({ width: NARROW_PX, height: 640 });
        const box = await dialog.boundingBox();
        expect(box?.width ?? NARROW_PX + 1, opener.name).toBeLessThanOrEqual(NARROW_PX);
        expect(await dialog.evaluate((element) => element.scrollWidth), opener.name).toBeLessThanOrEqual(
          NARROW_PX,
        );
        // The buttons stay in sight while the body scrolls.
        await expect(dialog.getByRole("button", { name: "Cancel" })).toBeInViewport();
        await page.setViewportSize({ width: 1_360, height: 900 });
        // With its problems shown as well.
        await dialog.getByLabel(/^Reason/).fill("short");
        await dialog.locator("button[type=submit]").click();
        await expect(dialog).toContainText("at least 10 characters");
        expect(await findings(page), `${of}: ${opener.name}, refused`).toEqual([]);
        await page.keyboard.press("Escape");
        await expect(dialog).toBeHidden();
      }
    }
    await context.close();
  });
}
