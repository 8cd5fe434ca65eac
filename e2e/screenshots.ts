/**
 * Pictures of every page of a running console, light and dark, wide and narrow:
 * `node e2e/screenshots.ts [--url http://127.0.0.1:3000] [--out screenshots] [--accounts .sluice/demo-accounts.txt]`. It signs in as
 * the first account of the file and only looks; it starts and changes nothing.
 */
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { findBrowser } from "#scripts/lib/browser.ts";
import { signInAs } from "./support/accounts.ts";

const SCHEMES = ["light", "dark"] as const;
const SIZES = [
  { name: "wide", width: 1440, height: 900, scale: 1 },
  { name: "narrow", width: 390, height: 844, scale: 2 },
] as const;
const SETTLE_TIMEOUT_MS = 15_000;

interface Shot {
  name: string;
  path: string;
}

/** The pages with the parameters that show the most; a delivery that waits for a retry where there is one. */
async function shotsOf(url: string, cookie: string): Promise<Shot[]> {
  const id = (await firstDelivery(url, cookie, "delayed")) ?? (await firstDelivery(url, cookie, "delivered"));
  return [
    { name: "overview", path: "/" },
    { name: "tenants", path: "/tenants" },
    { name: "destinations", path: "/destinations?region=us" },
    { name: "regions", path: "/regions" },
    { name: "audit", path: "/audit?region=us" },
    { name: "settings", path: "/settings" },
    { name: "about", path: "/about" },
    { name: "deliveries", path: "/deliveries?region=us" },
    { name: "dead-letters", path: "/dead-letters?region=us" },
    ...(id === null ? [] : [{ name: "delivery", path: `/deliveries/${id}` }]),
  ];
}

async function firstDelivery(url: string, cookie: string, state: string): Promise<string | null> {
  const response = await fetch(`${url}/api/v1/deliveries?region=us&limit=1&state=${state}`, {
    headers: { cookie },
  });
  const answer = (await response.json()) as RegionAnswer<DeliveryPage>;
  return answer.status === "ok" ? (answer.data.rows[0]?.id ?? null) : null;
}

type SignedIn = Exclude<BrowserContextOptions["storageState"], string | undefined>;

/** The first line of the demo's accounts: e-mail, password, what it may. */
function readAccount(file: string): { email: string; name: string; password: string } {
  const [email = "", password = ""] = (readFileSync(file, "utf8").split("\n")[0] ?? "").split(/\s+/);
  return { email, name: email, password };
}

async function takeAll(browser: Browser, url: string, folder: string, signedIn: SignedIn): Promise<number> {
  const cookie = signedIn.cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const shots = await shotsOf(url, cookie);
  let count = 0;
  for (const colorScheme of SCHEMES) {
    for (const { name, width, height, scale } of SIZES) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height },
        deviceScaleFactor: scale,
        locale: "en-GB",
      });
      const page = await context.newPage();
      await page.goto(`${url}/login`);
      await page
        .getByRole("button", { name: "Sign in", exact: true })
        .waitFor({ timeout: SETTLE_TIMEOUT_MS });
      await page.screenshot({ path: path.join(folder, `login-${colorScheme}-${name}.png`) });
      count += 1;
      await context.addCookies(signedIn.cookies);
      for (const shot of shots) {
        await page.goto(`${url}${shot.path}`);
        await settle(page);
        await page.screenshot({
          path: path.join(folder, `${shot.name}-${colorScheme}-${name}.png`),
          fullPage: shot.name !== "deliveries" && shot.name !== "dead-letters",
        });
        count += 1;
      }
      await context.close();
    }
  }
  return count;
}

/** Until times are shown and no stand-in is left. */
async function settle(page: Page): Promise<void> {
  await page.locator("main time").first().waitFor({ timeout: SETTLE_TIMEOUT_MS });
  await page.waitForFunction(() => document.querySelector("main .animate-skeleton") === null, null, {
    timeout: SETTLE_TIMEOUT_MS,
  });
}

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:3000" },
    out: { type: "string", default: "screenshots" },
    accounts: { type: "string", default: ".sluice/demo-accounts.txt" },
  },
});
mkdirSync(values.out, { recursive: true });
const signedIn = await signInAs(values.url, readAccount(values.accounts));
const browser = await chromium.launch(findBrowser());
try {
  console.log(`${await takeAll(browser, values.url, values.out, signedIn)} pictures in ${values.out}`);
} finally {
  await browser.close();
}
