/** The frame of every page: keys, palette, notices, refresh, zone, saved views. */
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import type { ActiveControlsAnswer } from "#db/console/list-active-controls.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { readVersion } from "#tests/support/access-rows/sql.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { readAgain } from "./page-parts.ts";
import { clientOf, createPerson } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

const REASON = "a browser test of the notices";

/** A command's context, as an operator has it. */
function contextIn(world: World, region: Region) {
  return contextOf({ region, pool: world.regions[region].pool });
}

test.describe("keys", () => {
  test("do nothing while one types, in a dialog and with a modifier; move through rows, open one, and lead to pages", async ({
    page,
  }) => {
    await page.goto("/deliveries?region=us&state=delivered");
    const rows = page.getByRole("row");
    await expect(rows.nth(2).getByRole("link").first()).toBeVisible();
    const theme = await page.locator("html").getAttribute("data-theme");
    const search = page.getByRole("searchbox").first();
    await search.focus();
    await page.keyboard.type("tpg?");
    await expect(search).toHaveValue("tpg?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toHaveCount(0);
    await search.fill("");
    await search.blur();
    await page.keyboard.press("Alt+t");
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await page.keyboard.press("t");
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toHaveCount(0);
    expect(await page.locator("html").getAttribute("data-theme")).toBe(theme);
    await page.keyboard.press("t");
    await page.keyboard.press("t");
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");

    // Nothing may come in between a key and the look at what it did.
    await page.keyboard.press("p");
    await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
    await page.keyboard.press("j");
    await expect(rows.nth(1).getByRole("link").first()).toBeFocused();
    await page.keyboard.press("j");
    await expect(rows.nth(2).getByRole("link").first()).toBeFocused();
    await page.keyboard.press("k");
    const link = rows.nth(1).getByRole("link").first();
    await expect(link).toBeFocused();
    const href = (await link.getAttribute("href")) ?? "";
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`${href}`));
    await page.goBack();
    await expect(rows.nth(2).getByRole("link").first()).toBeVisible();
    await page.keyboard.press("g");
    await page.keyboard.press("l");
    await expect(page).toHaveURL(/\/dead-letters\?region=us/);
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    // The region of a list is no wish to see one region only.
    await expect(page).toHaveURL(/:\d+\/$/);
  });

  test("pause and resume live updates, and can be switched off", async ({ page }) => {
    await page.goto("/settings");
    await expect(page.getByRole("button", { name: /^Live 5 s/ })).toBeVisible();
    await page.keyboard.press("p");
    await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
    await page.keyboard.press("p");
    await expect(page.getByRole("button", { name: /^Live 5 s/ })).toBeVisible();
    await page.getByRole("group", { name: "Single-key shortcuts" }).getByText("Off").click();
    await page.locator("body").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("?");
    await page.keyboard.press("p");
    await page.reload();
    await page.keyboard.press("?");
    await expect(page.getByRole("button", { name: /^Live 5 s/ })).toBeVisible();
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toHaveCount(0);
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("dialog", { name: "Find anything" })).toBeVisible();
  });
});

test("the palette leads to pages, to tenants by name and to a delivery by key and id, in any scope that is one's own", async ({
  page,
  world,
}) => {
  const key = `palette-${Date.now()}`;
  const name = `Palette Bank ${Date.now()}`;
  const customer = await addCustomer(world, "eu", name, "/ok/palette");
  const { id } = await enqueue(world, "eu", customer, { key });
  await page.goto("/about");
  const field = page.getByRole("combobox", { name: "Find anything" });
  const options = page.getByRole("dialog", { name: "Find anything" }).getByRole("option");

  await page.keyboard.press("Control+k");
  await field.fill("dead");
  await expect(options.first()).toHaveText("Dead letters");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/dead-letters/);

  await page.keyboard.press("Control+k");
  await field.fill(name.toLowerCase());
  await options.filter({ hasText: name }).first().click();
  await expect(page).toHaveURL(new RegExp(`/tenants/${toPublicId("ten", customer.tenantId)}\\?region=eu`));

  await page.keyboard.press("Control+k");
  await field.fill(key);
  await expect(options.filter({ hasText: "Delivery to" })).toHaveCount(1);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`/deliveries/${id}`));

  await page.keyboard.press("Control+k");
  await field.fill(`somebody pasted ${id} here`);
  await expect(options).toHaveText([/Open delivery/]);
  await page.keyboard.press("Escape");
  await expect(field).toHaveCount(0);

  const narrow = await clientOf(world, world.accounts["us-operator"]);
  expect(await (await narrow.get("/api/v1/search?q=palette")).text()).not.toContain(customer.slug);
  expect((await narrow.get("/api/v1/search?q=palette&region=eu")).status()).toBe(404);
  await narrow.dispose();
});

test("fault 83: stopped claims and pauses are said on every page, the gravest first, and only within the scope", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "eu", "Paused Bank", "/ok/paused");
  const other = await addCustomer(world, "eu", "Running Bank", "/ok/running");
  const tenantId = toPublicId("ten", customer.tenantId);
  const { pool } = world.regions.eu;
  const person = await createPerson(world.regions, "one-eu-tenant", {
    role: "viewer",
    regions: ["eu"],
    tenantIds: [other.tenantId],
  });
  const version = () => readVersion(pool, "tenant", customer.tenantId);
  await pauseTenant(contextIn(world, "eu"), {
    tenantId,
    version: await version(),
    reason: REASON,
    end: { forMs: 600_000 },
  });
  try {
    const region = () => readVersion(pool, "region_control", null);
    await stopClaims(contextIn(world, "eu"), { version: await region(), reason: REASON });
    try {
      const lines = page.getByTestId("banners").getByRole("listitem");
      await page.goto("/settings");
      await expect(page.getByTestId("announcer")).toContainText("claims are stopped");
      for (const [keys, address] of [
        ["", /\/settings$/],
        ["gd", /\/deliveries$/],
        ["go", /\/$/],
      ] as const) {
        await page.keyboard.type(keys);
        await expect(page).toHaveURL(address);
        await expect(lines.first()).toContainText("EU: claims are stopped, for");
        await expect(lines.first()).toContainText(REASON);
        await expect(lines.filter({ hasText: "Paused Bank" })).toContainText(/\d+ tenants? paused/);
      }
      await page.getByTestId("banners").getByRole("link", { name: "Region" }).click();
      await expect(page).toHaveURL(/\/regions\?region=eu/);

      const narrow = await clientOf(world, person);
      const answer = (await (await narrow.get("/api/v1/active-controls")).json()) as ActiveControlsAnswer;
      expect(answer.regions).toMatchObject([
        { region: "eu", data: { claimsStopped: { by: null, reason: null }, controls: [], pausedTenants: 0 } },
      ]);
      expect((await narrow.get("/api/v1/active-controls?region=us")).status()).toBe(404);
      await narrow.dispose();
    } finally {
      await startClaims(contextIn(world, "eu"), { version: await region(), reason: REASON });
    }
  } finally {
    await resumeTenant(contextIn(world, "eu"), {
      tenantId,
      version: await version(),
      reason: REASON,
      share: 1,
    });
  }
  await readAgain(page);
  await expect(page.getByTestId("banners").getByText("claims are stopped")).toHaveCount(0);
});

test("refresh off stops polling, is kept over a reload, and a slower one says its interval", async ({
  page,
}) => {
  await page.clock.install();
  await page.goto("/settings");
  await page.getByRole("button", { name: /^Refresh: Live/ }).click();
  await page.getByRole("menuitemradio", { name: "Off" }).click();
  await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
  let asked = 0;
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/")) asked += 1;
  });
  // Long enough that a live page would have read twice; the clock is turned, the timers of the page run.
  await page.clock.runFor(11_000);
  await expect(page.getByRole("button", { name: /^Paused (?:1[1-9]|[2-9]\d) s/ })).toBeVisible();
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  expect(asked).toBe(0);
  await page.getByRole("button", { name: /^Refresh: Off/ }).click();
  await page.getByRole("menuitemradio", { name: "Every 15 s" }).click();
  await expect(page.getByRole("button", { name: /^Every 15 s\. Pause/ })).toBeVisible();
  await expect.poll(() => asked).toBeGreaterThan(0);
  // The clock that was turned does what it says: a page that reads does so again after its interval.
  const before = asked;
  await expect
    .poll(async () => {
      // An interval begins with the answer, which may still be on its way.
      await page.clock.runFor(16_000);
      return asked;
    })
    .toBeGreaterThan(before);
});

test("a browser clock that is an hour behind is said to be so, and changes no age and no time", async ({
  page,
}) => {
  await page.addInitScript(() => {
    const Real = Date;
    const offMs = -3_600_000;
    globalThis.Date = class extends Real {
      constructor(...given: [] | [number]) {
        if (given.length === 0) super(Real.now() + offMs);
        else super(...given);
      }
      static override now(): number {
        return Real.now() + offMs;
      }
    } as DateConstructor;
  });
  await page.goto("/deliveries?region=us&state=delivered");
  await expect(page.getByTestId("banners")).toContainText(/clock is (?:1 h 0 m|59 m) behind the server's/);
  await expect(page.getByRole("row").nth(1).getByRole("link").first()).toBeVisible();
  const asOf = await page.getByRole("main").locator("time").first().getAttribute("datetime");
  expect(Math.abs(Date.parse(asOf ?? "") - Date.now())).toBeLessThan(10 * 60_000);
  await expect(page.getByRole("button", { name: /^Live 5 s/ })).toBeVisible();
});

test("Asia/Kolkata is chosen by name in a browser of another zone, on the 12-hour clock, and stays; compact rows are set before the first paint and are 28 px high", async ({
  page,
}) => {
  await page.goto("/settings");
  await page.getByRole("combobox", { name: "My zone" }).fill("Asia/Kolkatta");
  await page.getByRole("button", { name: "Use", exact: true }).click();
  await expect(page.getByText("No zone has this name")).toBeVisible();
  await page.getByRole("combobox", { name: "My zone" }).fill("Asia/Kolkata");
  await page.getByRole("button", { name: "Use", exact: true }).click();
  await page.getByRole("group", { name: "Times" }).getByText("My zone").click();
  await expect(page.getByText("10 Mar 04:35:07 GMT+5:30")).toBeVisible();
  await page.getByRole("group", { name: "Clock" }).getByText("12 h").click();
  await expect(page.getByText("10 Mar 04:35:07 am GMT+5:30")).toBeVisible();
  await page.getByRole("group", { name: "Density" }).getByText("Compact").click();
  await page.goto("/deliveries?region=us&state=delivered", { waitUntil: "commit" });
  await expect(page.locator("html")).toHaveAttribute("data-density", "compact");
  const row = page.getByRole("row").nth(1);
  await expect(row.getByRole("link").first()).toBeVisible();
  expect((await row.boundingBox())?.height).toBeLessThanOrEqual(29);
  const asOf = page.getByRole("main").locator("time").first();
  await expect(asOf).toContainText(/\d\d:\d\d:\d\d [ap]m GMT\+5:30/);
  await asOf.locator("..").focus();
  await expect(page.getByRole("tooltip")).toContainText("UTC");
});

test("a saved view keeps filters and not the place, is shared only when asked to be, and only its owner deletes it", async ({
  page,
  world,
}) => {
  const name = `Delivered ${Date.now()}`;
  await page.goto("/deliveries?region=us&state=delivered&range=6h");
  await expect(page.getByRole("row").nth(1).getByRole("link").first()).toBeVisible();
  await page.getByRole("button", { name: "Views" }).click();
  const views = page.getByRole("dialog", { name: "Saved views" });
  await views.getByLabel("Save these filters as").fill(name);
  await views.getByLabel("Share with everybody").check();
  await views.getByRole("button", { name: "Save view" }).click();
  await expect(views.getByRole("link", { name })).toHaveAttribute(
    "href",
    "/deliveries?range=6h&region=us&state=delivered",
  );
  await views.getByLabel("Save these filters as").fill(name);
  await views.getByRole("button", { name: "Save view" }).click();
  await expect(views.getByText(/You have a view called/)).toBeVisible();

  await page.goto("/deliveries?region=us");
  await page.getByRole("button", { name: "Views" }).click();
  await views.getByRole("link", { name }).click();
  await expect(page.getByRole("combobox", { name: "State" })).toHaveValue("delivered");

  const eu = await clientOf(world, world.accounts["eu-viewer"]);
  expect(await (await eu.get("/api/v1/saved-views?page=deliveries")).text()).not.toContain(name);
  await eu.dispose();
  const viewer = await clientOf(world, world.accounts.viewer);
  const seen = (await (await viewer.get("/api/v1/saved-views?page=deliveries")).json()) as {
    views: { id: string; name: string; own: boolean }[];
  };
  const shared = seen.views.find((view) => view.name === name);
  expect(shared).toMatchObject({ own: false });
  expect((await viewer.delete(`/api/v1/saved-views/${shared?.id}`)).status()).toBe(404);
  await viewer.dispose();

  await page.getByRole("button", { name: "Views" }).click();
  await views.getByRole("button", { name: `Delete view ${name}` }).click();
  await expect(views.getByRole("link", { name })).toHaveCount(0);
});

test("copy link fixes a relative range where the page can show one, and says so where it cannot", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/deliveries?region=us&range=1h");
  await expect(page.getByRole("row").nth(1).getByRole("link").first()).toBeVisible();
  await page.keyboard.press("u");
  await expect(page.getByText("Link copied. Its range is fixed")).toBeVisible();
  const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()));
  const [from, to] = ["from", "to"].map((edge) => Date.parse(copied.searchParams.get(edge) ?? ""));
  expect((to ?? 0) - (from ?? 0)).toBe(3_600_000);
  expect(copied.searchParams.has("range")).toBe(false);
  await page.goto(`${copied.pathname}${copied.search}`);
  await expect(page.getByRole("row").nth(1).getByRole("link").first()).toBeVisible();
  await expect(page.getByText("Ignored, because it means nothing here")).toHaveCount(0);
  await page.goto("/dead-letters?region=us&view=entries&range=24h");
  await expect(page.getByText("latest first, as of")).toBeVisible();
  await page.keyboard.press("u");
  await expect(page.getByText(/Its range stays relative/)).toBeVisible();
});
