/**
 * Every page and every dialog, as people with and without sight, a mouse or a wide screen meet it: no axe violation of WCAG 2.2
 * AA in both themes and at 320 px, and nothing but tables scrolls sideways there.
 */
import type { APIRequestContext, Locator, Page } from "@playwright/test";
import type { ReplayVerb } from "#domain/replay-actions.ts";
import { bar } from "./controls-parts.ts";
import {
  axeFindings,
  checkAxe,
  checkView,
  checkWidth,
  pageWidth,
  SMALLEST,
  settled,
  visit,
  WIDE,
} from "./support/a11y.ts";
import { becomes, destinationPath, type Scene, setScene, tenantPath } from "./support/a11y-scene.ts";
import { clientOf } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { ALL_YES, commandReplay, REASON, readReplay, refusedCustomer } from "./support/replay.ts";
import { quickReplays } from "./support/replay-policy.ts";
import { expect, test, type World } from "./support/world.ts";

const SCENE_TIMEOUT_MS = 120_000;
const LONG_MS = 180_000;
/** The page behind either has been looked at without it. */
const OPEN_DIALOG = "dialog[open]";
const OPEN_PANEL = '[role="dialog"]';
/** Entries of the batch that is looked at. */
const REPLAYED = 6;

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

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name });
const row = (page: Page) => page.getByRole("row").nth(1);

/** Each tab of a page that is open: the page with the first, then what the others bring. */
async function checkTabs(page: Page, what: string, shows: Locator): Promise<void> {
  const tabs = await page.getByRole("main").getByRole("tablist").first().getByRole("tab").all();
  for (const [place, tab] of tabs.entries()) {
    await tab.click();
    await expect(tab).toHaveAttribute("aria-selected", "true");
    await expect(shows).toBeVisible();
    await checkView(page, `${what}: ${await tab.textContent()}`, place === 0 ? null : "main");
  }
}

test.describe("pages", () => {
  test("overview, tenants and destinations, with each of their tabs", async ({ page }) => {
    await visit(page, "/", page.getByRole("row", { name: /Late Bank/ }));
    await expect(page.getByTestId("verdict-eu")).toContainText("late");
    await expect(page.getByRole("application").first()).toBeVisible();
    await checkView(page, "overview");
    await page.getByRole("button", { name: "View first-attempt age as table" }).click();
    await checkAxe(page, "overview, a chart as a table", "main");
    await visit(page, "/tenants", row(page));
    await checkView(page, "tenants");
    await visit(page, tenantPath(scene.limited, "us"), heading(page, "Limited Shop"));
    await checkTabs(page, "tenant", page.getByRole("tabpanel"));
    await visit(page, tenantPath(scene.paused, "us"), page.getByText("Paused").first());
    await checkView(page, "a paused tenant");
    await visit(page, "/destinations?region=us", row(page));
    await checkView(page, "destinations");
    await visit(page, destinationPath(scene.limited, "us"), heading(page, "Ledger"));
    await checkTabs(page, "destination", page.getByRole("tabpanel").first());
  });

  test("deliveries, one that waits, one that died, and its panel", async ({ page }) => {
    await visit(page, "/deliveries?region=us", row(page));
    await checkView(page, "deliveries");
    // Wide again: the cards have become rows, which a key needs.
    const first = row(page).getByRole("link").first();
    await expect(first).toBeVisible();
    await page.keyboard.press("j");
    await expect(first).toBeFocused();
    await page.keyboard.press("x");
    await expect(page.getByText("1 delivery of this page selected")).toBeVisible();
    await checkAxe(page, "deliveries, one selected", "main");
    await visit(page, `/deliveries?region=us&panel=${scene.waitingId}`, page.getByRole("dialog"));
    await expect(page.getByRole("dialog").getByRole("region", { name: "Timeline" })).toBeVisible();
    await checkView(page, "a delivery in the side panel", OPEN_PANEL);
    const timeline = page.getByRole("region", { name: "Timeline" });
    await visit(page, `/deliveries/${scene.waitingId}`, timeline);
    await checkView(page, "a delivery that waits");
    await page.getByRole("tab", { name: "Response" }).click();
    await checkAxe(page, "a delivery, its response", "main");
    await visit(page, `/deliveries/${scene.deadId}`, timeline);
    await checkView(page, "a dead letter");
  });

  test("dead letters by cause, one cause, and entries", async ({ page }) => {
    await visit(page, "/dead-letters?region=us", row(page));
    await checkView(page, "causes");
    await visit(page, `/dead-letters?region=us&group=${scene.groupId}`, page.getByRole("dialog"));
    await expect(page.getByRole("dialog").getByRole("button", { name: "Assign" })).toBeEnabled();
    await checkView(page, "a cause", OPEN_PANEL);
    for (const name of ["Acknowledge", "Assign", "Note", "Will not replay"]) {
      await page.getByRole("button", { name, exact: true }).first().click();
      const dialog = page.locator("dialog[open]");
      await expect(dialog.getByLabel(/^Reason|^Note/).first()).toBeVisible();
      await checkDialogView(page, dialog, name);
    }
    await visit(page, "/dead-letters?region=us&view=entries", row(page));
    await checkView(page, "entries");
  });

  test("regions, audit with an open row, settings, about, and what does not exist", async ({ page }) => {
    await visit(page, "/regions", page.getByRole("table", { name: "Workers of US" }));
    await checkView(page, "regions");
    await visit(page, "/audit?region=us", row(page));
    await checkView(page, "audit");
    await row(page).getByRole("button").click();
    await expect(page.getByRole("dialog", { name: /^Audit/ })).toBeVisible();
    await checkView(page, "audit, a row open", OPEN_PANEL);
    await visit(page, "/settings", page.getByRole("tabpanel"));
    await checkTabs(page, "settings", page.getByRole("tabpanel"));
    await visit(page, "/about", page.getByText("SLUICE_SESSION_HOURS"));
    await checkView(page, "about");
    await visit(page, "/no-such-page", page.getByText("There is no such page"));
    await checkView(page, "404");
  });

  test("sign-in, and why one has to", async ({ page }) => {
    await page.context().clearCookies();
    const button = page.getByRole("button", { name: "Sign in", exact: true });
    await visit(page, "/login?reason=expired", button);
    await checkView(page, "login");
    await page.getByLabel("E-mail").fill("nobody@example.test");
    await page.getByLabel("Password").fill("not the password");
    await button.click();
    await expect(page.getByRole("alert").filter({ hasText: /\w/ }).first()).toBeVisible();
    await checkAxe(page, "login, refused");
  });
});

/** Presses a button of the bar or of its menu, looks at the dialog with its fields and with their errors, and closes it. */
async function checkDialog(page: Page, controls: Locator, name: string): Promise<void> {
  const direct = controls.getByRole("button", { name, exact: true });
  if ((await direct.count()) > 0) {
    await expect(direct).toBeEnabled();
    await direct.click();
  } else {
    await controls.getByRole("button", { name: "More controls" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  }
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByLabel(/^Reason/)).toBeVisible();
  // Sent without a reason: the fields say what is missing.
  await dialog.locator('button[type="submit"]').click();
  await expect(dialog.getByText(/at least 10 characters/).first()).toBeVisible();
  await checkDialogView(page, dialog, name);
}

/** The open dialog in both themes and at 320 px; Escape closes it. */
async function checkDialogView(page: Page, dialog: Locator, name: string): Promise<void> {
  await checkAxe(page, name, OPEN_DIALOG);
  await page.setViewportSize(SMALLEST);
  await checkWidth(page, name);
  const wide = await dialog.evaluate((own) => own.scrollWidth > own.clientWidth);
  expect.soft(wide, `${name}: the dialog is wider than 320 px`).toBe(false);
  // The buttons stay in sight while the body scrolls.
  await expect.soft(dialog.locator("footer").getByRole("button").last(), name).toBeInViewport();
  await page.setViewportSize(WIDE);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
}

async function controlsOf(page: Page, path: string, of: string): Promise<Locator> {
  const controls = bar(page, of);
  await visit(page, path, controls);
  await settled(page);
  return controls;
}

test("replays: a selection, a draft, its review with the dialog, a batch under way, and its report", async ({
  page,
  world,
}) => {
  await quickReplays(world, "us");
  const { ids } = await refusedCustomer(world, "us", "Replayed Shop", REPLAYED);
  await visit(
    page,
    `/replays/new?region=us&ids=${ids.join(",")}`,
    page.getByText(`${REPLAYED} dead letters`),
  );
  await checkView(page, "a selection");
  await page.getByRole("textbox", { name: /^Name of the batch/ }).fill("Replayed for accessibility");
  await page.getByRole("textbox", { name: /^Reason/ }).fill(REASON);
  await page.getByRole("button", { name: /^Draft a batch/ }).click();
  await expect(page).toHaveURL(/rpl_/);
  await page.getByText("Make stop conditions stricter").click();
  await checkView(page, "a draft");
  const batch = { id: /rpl_[0-9a-f]{32}/.exec(page.url())?.[0] ?? "", region: "us" as const };
  const [author, second] = [
    await clientOf(world, scene.admin),
    await clientOf(world, world.accounts.operator),
  ];
  const done = async (client: APIRequestContext, verb: ReplayVerb, fields: object = {}) =>
    expect((await commandReplay(client, batch, verb, fields)).status(), verb).toBe(200);
  await done(author, "inspect", { deliveryIds: ids });
  await done(author, "annotate", { rootCause: "their table was empty", checklist: ALL_YES });
  await done(author, "submit");
  await visit(page, `/replays/${batch.id}?region=us`, page.getByRole("button", { name: "Request changes" }));
  await checkView(page, "a batch in review");
  await page.getByRole("button", { name: "Request changes" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("textbox", { name: /^Comment/ })).toBeVisible();
  await checkDialogView(page, dialog, "request changes");
  await done(second, "approve", { sha256: (await readReplay(author, batch)).sha256 });
  await done(second, "start");
  await expect(page.getByRole("progressbar")).toBeVisible();
  await expect(page.getByText(/^Requests$/).first()).toBeVisible();
  await checkView(page, "a batch under way");
  await done(second, "stop");
  await expect(page.getByRole("region", { name: "Report" }).getByText(/delivered$/)).toBeVisible();
  await checkView(page, "a report");
  await visit(page, "/replays?region=us&tab=finished", row(page));
  await checkView(page, "replays");
});

test.describe("dialogs", () => {
  test("of a tenant: pause, limits, weight, and resume", async ({ page }) => {
    const controls = await controlsOf(page, tenantPath(scene.limited, "us"), "Limited Shop, US");
    for (const name of ["Pause", "Limits", "Change weight", "Change the replay header"]) {
      await checkDialog(page, controls, name);
    }
    await controls.getByRole("button", { name: "More controls" }).click();
    await checkAxe(page, "an open menu");
    const paused = await controlsOf(page, tenantPath(scene.paused, "us"), "Paused Shop, US");
    for (const name of ["Resume", "Change the end of the pause"]) await checkDialog(page, paused, name);
  });

  test("of a destination: limits, gate, test event, secret, disable, pin", async ({ page }) => {
    const controls = await controlsOf(page, destinationPath(scene.limited, "us"), "Ledger, US");
    for (const name of [
      "Limits",
      "Open gate now",
      "Send test event",
      "Rotate secret",
      "Disable",
      "Pin the adaptive limit",
    ]) {
      await checkDialog(page, controls, name);
    }
  });

  test("of a region: stop claims, default limits", async ({ page }) => {
    const controls = await controlsOf(page, "/regions", "US");
    for (const name of ["Stop claims", "Default limits"]) await checkDialog(page, controls, name);
  });

  test("of a delivery: retry, cancel, will not replay; and a revealed body", async ({ page, world }) => {
    const { deadId } = scene;
    // One that is tried again: nothing but its own next time holds it back.
    const failing = await addCustomer(world, "us", "Failing Shop", `/reset/failing-${Date.now()}`);
    const { id } = await enqueue(world, "us", failing, { key: `failing-${Date.now()}` });
    const waiting = await controlsOf(page, `/deliveries/${id}`, `delivery ${id}`);
    for (const name of ["Retry now", "Cancel"]) await checkDialog(page, waiting, name);
    const dead = await controlsOf(page, `/deliveries/${deadId}`, `delivery ${deadId}`);
    await checkDialog(page, dead, "Will not replay");
    await page.getByRole("button", { name: "Reveal (audited)" }).click();
    await expect(page.getByRole("region", { name: "Body as text" })).toBeVisible();
    await checkView(page, "a revealed body");
  });

  test("of the frame: palette, help, account, saved views, navigation", async ({ page }) => {
    await visit(page, "/deliveries?region=us", row(page));
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Find anything" });
    await expect(palette.getByRole("option").first()).toBeVisible();
    await checkView(page, "palette", OPEN_DIALOG);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
    await checkView(page, "help", OPEN_DIALOG);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Views" }).click();
    await expect(page.getByLabel("Save these filters as")).toBeVisible();
    await checkView(page, "saved views", OPEN_PANEL);
    await page.keyboard.press("Escape");
    await page.setViewportSize(SMALLEST);
    await page.getByRole("button", { name: /^Signed in as/ }).click();
    await checkAxe(page, "account, 320 px");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Open navigation" }).click();
    await expect(page.getByRole("dialog", { name: "Navigation" })).toBeVisible();
    await checkAxe(page, "navigation, 320 px", OPEN_DIALOG);
  });
});

test("the looks of these tests find a small target, pale text in each theme, an image without words and a wide page", async ({
  page,
}) => {
  await visit(page, "/about", page.getByText("SLUICE_SESSION_HOURS"));
  await page.getByRole("main").evaluate((main) => {
    const add = (tag: string, style: Partial<CSSStyleDeclaration>, text = "some words") => {
      const own = document.createElement(tag);
      own.textContent = text;
      Object.assign(own.style, style);
      main.append(own);
    };
    for (let at = 0; at < 2; at += 1) add("button", { width: "10px", height: "10px", padding: "0" });
    add("p", { color: "#808080", background: "#707070" });
    add("img", {}, "");
    add("div", { width: "700px" });
  });
  const rulesOf = (findings: readonly string[]) => new Set(findings.map((line) => line.split(" | ")[0]));
  expect([...rulesOf(await axeFindings(page))].sort()).toEqual([
    "color-contrast",
    "image-alt",
    "target-size",
  ]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect([...rulesOf(await axeFindings(page, "colours"))]).toEqual(["color-contrast"]);
  await page.setViewportSize(SMALLEST);
  expect([...rulesOf(await axeFindings(page, "structure"))].sort()).toEqual(["image-alt", "target-size"]);
  expect(await pageWidth(page)).toBeGreaterThan(SMALLEST.width);
});

test("what a role may not do stays in sight with its reason", async ({
  page,
  world,
}: {
  page: Page;
  world: World;
}) => {
  await becomes(page, world, world.accounts.viewer);
  const controls = await controlsOf(page, tenantPath(scene.limited, "us"), "Limited Shop, US");
  const pause = controls.getByRole("button", { name: "Pause" });
  await expect(pause).toHaveAttribute("aria-disabled", "true");
  await expect(pause).toHaveAccessibleDescription(/\w/);
  await checkView(page, "a tenant, as a viewer");
  await visit(page, `/deliveries/${scene.deadId}`, page.getByRole("region", { name: "Timeline" }));
  await checkAxe(page, "a dead letter, as a viewer");
  for (const tab of ["access", "tokens"]) {
    await visit(page, `/settings?tab=${tab}`, page.getByRole("tabpanel").getByText(/admin/i));
    await checkView(page, `settings, ${tab}, as a viewer`);
  }
});
