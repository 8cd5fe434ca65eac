/**
 * The states that a page is in when things go wrong or there is nothing to show, and the journeys of people who use the keyboard
 * alone, a phone, or who asked for less motion.
 */
import type { Page } from "@playwright/test";
import { bar, fillReason, REASON } from "./controls-parts.ts";
import {
  checkSmall,
  checkState,
  checkView,
  runningAnimations,
  settled,
  tabTo,
  visit,
} from "./support/a11y.ts";
import { becomes, destinationPath, type Scene, setScene, tenantPath } from "./support/a11y-scene.ts";
import { addCustomer } from "./support/enqueue.ts";
import { openTcpGate } from "./support/tcp-gate.ts";
import { expect, test } from "./support/world.ts";

const SCENE_TIMEOUT_MS = 120_000;
const LONG_MS = 180_000;

let scene: Scene;
let end: () => Promise<void> = async () => {};

test.beforeAll(async ({ world }) => {
  test.setTimeout(SCENE_TIMEOUT_MS);
  scene = await setScene(world);
  end = scene.end;
});
test.afterAll(() => end());

test.beforeEach(async ({ page, world }) => {
  test.setTimeout(LONG_MS);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await becomes(page, world, scene.admin);
});

/**
 * Where a page reads what it shows: its address and the path of the API without its query. One page of each make: lists
 * share one frame, and so do the pages of one row.
 */
const reads = () =>
  [
    ["/", "overview"],
    ["/tenants", "tenants"],
    [destinationPath(scene.limited, "us"), "destinations/dst_[0-9a-f]+"],
    ["/deliveries?region=us", "deliveries"],
    [`/deliveries/${scene.waitingId}`, "deliveries/dlv_[0-9a-f]+"],
    ["/dead-letters?region=us", "dead-letter-groups"],
    ["/regions", "regions"],
    ["/audit?region=us", "audit"],
    ["/settings?tab=access", "people"],
  ] as const;

/** In full where all parts of the look stand; the other pages show the same parts in their own frames. */
const check = (address: string) =>
  address === "/" || address.startsWith("/deliveries?") ? checkView : checkState;

const apiPath = (path: string) => new RegExp(`/api/v1/${path}(?:\\?|$)`);

const PROBLEM = {
  type: "about:blank",
  title: "Something went wrong",
  detail: "The console could not read this. Deliveries are not affected.",
  status: 500,
  code: "internal",
  correlationId: "0b0e7a52-3a6f-4d53-9a0b-2f0b6f8f1c11",
};

test.describe("states", () => {
  test("error: each page says what happened, with the correlation id and a way to try again", async ({
    page,
  }) => {
    for (const [address, path] of reads()) {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.route(apiPath(path), (route) =>
        route.fulfill({ status: 500, contentType: "application/problem+json", json: PROBLEM }),
      );
      await page.goto(address);
      const alert = page.getByRole("main").getByRole("alert").filter({ hasText: PROBLEM.correlationId });
      await expect.soft(alert.first(), address).toBeVisible();
      await expect.soft(alert.getByRole("button", { name: "Try again" }).first(), address).toBeVisible();
      await check(address)(page, `error on ${address}`);
    }
  });

  test("empty: nothing yet, and how it fills", async ({ page }) => {
    for (const [address, path] of reads()) {
      // There is always oneself among the people, and one row is never without its page.
      if (/about|people|_\[/.test(path)) continue;
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.route(apiPath(path), async (route) => {
        // A kept connection may be closed at the moment it is used again.
        const response = await route.fetch({ maxRetries: 2 });
        await route.fulfill({ response, json: emptied(await response.json()) });
      });
      await page.goto(address);
      const words = page
        .getByRole("main")
        .getByRole("status")
        .filter({ hasText: /^(?:No |Nothing )/ });
      await expect(words.first(), address).toBeVisible();
      await check(address)(page, `nothing on ${address}`);
    }
  });

  test("no match, not there, and what the address has that means nothing", async ({ page }) => {
    const none = "0".repeat(32);
    for (const [address, words] of [
      ["/tenants?q=nothing-of-this-name", "No tenant matches"],
      ["/destinations?region=us&q=nothing-of-this-name", "No destination matches"],
      ["/deliveries?region=us&q=nothing-of-this-key", "No delivery matches"],
      ["/dead-letters?region=us&reason=config_error", "No dead letter matches"],
      ["/audit?region=us&actor=user:nobody@example.test", "Nothing in the audit matches"],
      [`/tenants/ten_${none}?region=us`, "No such tenant"],
      [`/destinations/dst_${none}?region=us`, "No such destination"],
      [`/deliveries/dlv_${none}`, "No such delivery"],
      ["/?range=2h", "range=2h"],
    ] as const) {
      await visit(page, address, page.getByRole("main").getByText(words));
      await checkSmall(page, `${words}, on ${address}`);
    }
  });

  test("loading: stand-ins while nothing has answered", async ({ page }) => {
    for (const [address, path] of reads()) {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      // Never answered.
      await page.route(apiPath(path), () => {});
      await page.goto(address);
      await expect(page.getByRole("main").locator(".animate-skeleton").first(), address).toBeVisible();
      await checkSmall(page, `loading ${address}`);
    }
  });

  test("stale: the values stay, with the time they are of", async ({ page }) => {
    await page.clock.install();
    for (const address of ["/", "/deliveries?region=us"]) {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await visit(page, address, page.getByRole("row").nth(1));
      await settled(page);
      await page.route("**/api/v1/**", () => {});
      await page.clock.runFor(20_000);
      await expect(page.getByRole("button", { name: /^Stale/ })).toBeVisible();
      await checkView(page, `stale ${address}`);
    }
  });

  test("partial: one region does not answer, on every page that shows it", async ({ page, world }) => {
    const gate = await openTcpGate(world.config.urls.eu);
    const web = await world.startConsole({ us: world.config.urls.us, eu: gate.url });
    try {
      await visit(page, web.url, page.getByTestId("region-eu"));
      await gate.shut();
      for (const address of [
        "/",
        "/tenants",
        "/regions",
        tenantPath(scene.late, "eu"),
        "/destinations?region=eu",
        "/deliveries?region=eu",
        "/dead-letters?region=eu",
        "/audit?region=eu",
        `/deliveries/dlv_${"0".repeat(32)}`,
      ]) {
        await visit(
          page,
          `${web.url}${address}`,
          page.getByRole("main").getByText(/do(?:es)? not answer|did not answer/),
        );
        await check(address)(page, `partial ${address}`);
      }
    } finally {
      await web.stop();
      await gate.shut();
    }
  });
});

/** The same answer without its rows. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, own]) => [
      key,
      Array.isArray(own) && /^(?:rows|tenants|workers|people|tokens)$/.test(key) ? [] : emptied(own),
    ]),
  );
}

test("keyboard only: sign in, find the late tenant, pause it and resume it; the focus is always seen", async ({
  page,
}) => {
  await page.context().clearCookies();
  await page.goto("/");
  await expect(page).toHaveURL(/\/login/);
  await tabTo(page, page.getByLabel("E-mail"));
  await page.keyboard.type(scene.admin.email);
  await page.keyboard.press("Tab");
  await page.keyboard.type(scene.admin.password);
  await page.keyboard.press("Enter");
  const link = page.getByRole("row", { name: /Late Bank/ }).getByRole("link", { name: "Late Bank" });
  await expect(link).toBeVisible();
  await settled(page);

  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
  await tabTo(page, link);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Late Bank" })).toBeVisible();

  const controls = bar(page, "Late Bank, EU");
  const pause = controls.getByRole("button", { name: "Pause" });
  await tabTo(page, pause);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Pause deliveries for Late Bank, EU" });
  await expect(dialog.getByRole("radio", { name: "1 h", exact: true })).toBeFocused();
  await tabTo(page, dialog.getByLabel(/^Reason/));
  await page.keyboard.type("This is not kept");
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(pause).toBeFocused();

  await page.keyboard.press("Enter");
  await expect(dialog.getByRole("radio", { name: "1 h", exact: true })).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(dialog.getByRole("radio", { name: "30 m", exact: true })).toBeChecked();
  await tabTo(page, dialog.getByLabel(/^Reason/));
  await expect(dialog.getByLabel(/^Reason/)).toHaveValue("");
  await page.keyboard.type(REASON);
  await tabTo(page, dialog.getByRole("button", { name: "Pause for 30 m" }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Deliveries for Late Bank (EU) are paused")).toBeVisible();
  await expect(dialog).toHaveCount(0);

  const resume = controls.getByRole("button", { name: "Resume" });
  await expect(resume).toBeFocused();
  await page.keyboard.press("Enter");
  const again = page.getByRole("dialog", { name: "Resume deliveries for Late Bank, EU" });
  await tabTo(page, again.getByLabel(/^Reason/));
  await page.keyboard.type(REASON);
  await tabTo(page, again.getByRole("button", { name: /^Resume/ }));
  await page.keyboard.press("Enter");
  await expect(page.getByText("Deliveries for Late Bank (EU) are resumed")).toBeVisible();
});

test.describe("on a phone, 360 px", () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true });

  test("a tenant is paused and resumed by touch, with targets of 44 px", async ({ page, world }) => {
    const customer = await addCustomer(world, "us", "Pocket Bank", "/ok/pocket");
    const controls = bar(page, "Pocket Bank, US");
    await visit(page, tenantPath(customer, "us"), controls);
    for (const [name, title] of [
      ["Pause", "Pause deliveries for Pocket Bank, US"],
      ["Resume", "Resume deliveries for Pocket Bank, US"],
    ] as const) {
      const button = controls.getByRole("button", { name });
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
      await button.tap();
      const dialog = page.getByRole("dialog", { name: title });
      await fillReason(dialog);
      const submit = dialog.locator('button[type="submit"]');
      const box = await submit.boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
      expect((box?.x ?? 360) + (box?.width ?? 360)).toBeLessThanOrEqual(360);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      await submit.tap();
      await expect(dialog).toHaveCount(0);
    }
    await expect(controls.getByRole("button", { name: "Pause" })).toBeVisible();
  });
});

test("reduced motion: nothing moves while a page loads or lives; without the wish something does", async ({
  page,
}) => {
  for (const address of ["/", "/deliveries?region=us", "/regions"]) {
    await visit(page, address, page.getByRole("row").nth(1));
    await expect.poll(() => runningAnimations(page)).toEqual([]);
  }
  await page.keyboard.press("?");
  await expect.poll(() => runningAnimations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  const loading = async () => {
    await page.route(apiPath("deliveries"), () => {});
    await page.goto("/deliveries?region=us");
    await expect(page.locator(".animate-skeleton").first()).toBeVisible();
  };
  await loading();
  await expect.poll(() => runningAnimations(page)).toEqual([]);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  await loading();
  await expect.poll(async () => (await runningAnimations(page)).length).toBeGreaterThan(0);
});

test("ages come from the server's clock: in a browser that is an hour off the late tenant is as late", async ({
  page,
}) => {
  const age = async (tab: Page) => {
    await visit(tab, "/?region=eu", tab.getByRole("row", { name: /Late Bank/ }));
    return (
      (await tab
        .getByRole("row", { name: /Late Bank/ })
        .getByRole("cell")
        .nth(2)
        .textContent()) ?? ""
    );
  };
  await page.clock.install({ time: Date.now() + 3_600_000 });
  const minutes = Number(/^(\d+) m/.exec(await age(page))?.[1]);
  expect(minutes).toBeGreaterThanOrEqual(10);
  expect(minutes).toBeLessThan(30);
});
