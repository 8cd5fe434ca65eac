/**
 * A reviewed replay by two people in two browsers, from a cause of dead letters to its report, against real workers and a real
 * receiver; and the stop of a batch from a phone. The numbers of the plan are the product's own, the holds are a policy row.
 */
import type { Locator, Page } from "@playwright/test";
import { QUESTION_WORDS, QUESTIONS } from "#components/replay-draft/draft-words.ts";
import { clientOf, createPerson, type Person, sessionOf } from "./support/accounts.ts";
import {
  approvedBatch,
  commandReplay,
  REASON,
  type Refused,
  readReplay,
  refusedCustomer,
} from "./support/replay.ts";
import { quickReplays } from "./support/replay-policy.ts";
import { expect, patient, test, type World } from "./support/world.ts";

const REGION = "eu";
/** All of them are in the sample; the canary is five. */
const ENTRIES = 8;
const LONG_MS = 60_000;

test.describe.configure({ mode: "serial" });

let bank: Refused;
let shop: Refused;
let second: Person;

test.beforeAll(async ({ world }) => {
  test.setTimeout(LONG_MS * 3);
  await quickReplays(world, REGION);
  [bank, shop] = await Promise.all([
    refusedCustomer(world, REGION, "Replay Bank", ENTRIES),
    refusedCustomer(world, REGION, "Halted Shop", ENTRIES),
  ]);
  // Another operator than the one whose page every test starts with.
  second = await createPerson(world.regions, "second-operator", {
    role: "operator",
    regions: [REGION],
    tenantIds: null,
  });
});

const panel = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true });

/** Fills the dialog's text, presses its button, and waits until it is gone. */
async function confirm(dialog: Locator, { label, text }: { label: string; text: string }): Promise<void> {
  await dialog.getByRole("textbox", { name: /^(Comment|Reason)/ }).fill(text);
  await dialog.getByRole("button", { name: label, exact: true }).click();
  await expect(dialog).toHaveCount(0);
}

/** From the cause to a draft of its own page; returns the batch's id. */
async function draftFromCause(page: Page, name: string): Promise<string> {
  await page.goto(`/dead-letters?region=${REGION}&tenant=${bank.customer.slug}`);
  await page.getByRole("row").filter({ hasText: "Replay Bank" }).getByRole("button").first().click();
  await page.getByRole("dialog").getByRole("link", { name: "Draft replay", exact: true }).click();
  await expect(page).toHaveURL(/\/replays\/new\?/);
  await expect(panel(page, `What would be in it, ${REGION.toUpperCase()}`)).toContainText(
    `${ENTRIES} dead letters`,
  );
  await page.getByRole("textbox", { name: /^Name of the batch/ }).fill(name);
  await page.getByRole("textbox", { name: /^Reason/ }).fill(REASON);
  await page.getByRole("button", { name: `Draft a batch of ${ENTRIES} dead letters` }).click();
  await expect(page).toHaveURL(/\/replays\/rpl_[0-9a-f]{32}\?/);
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  return /rpl_[0-9a-f]{32}/.exec(page.url())?.[0] ?? "";
}

async function inspectAll(page: Page): Promise<void> {
  const step = panel(page, "1. Inspect a sample");
  const rows = step.getByRole("row").filter({ has: page.getByRole("checkbox") });
  await expect(rows).toHaveCount(ENTRIES);
  // A tick needs the entry to have been opened.
  await expect(rows.first().getByRole("checkbox")).toBeDisabled();
  for (let at = 0; at < ENTRIES; at += 1) {
    await rows
      .nth(at)
      .getByRole("button", { name: /^Open delivery/ })
      .click();
    // The entry itself, beside the list.
    await expect(page.getByRole("dialog")).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await rows.nth(at).getByRole("checkbox").check();
  }
  await step.getByRole("button", { name: `Record ${ENTRIES} as inspected` }).click();
  await expect(step.getByText("Done", { exact: true })).toBeVisible();
}

async function annotateAndPlan(page: Page): Promise<void> {
  const said = panel(page, "2. Say what happened");
  await said.getByRole("textbox", { name: /^Root cause/ }).fill("Their account table was empty");
  for (const name of QUESTIONS) {
    const group = said.getByRole("group", { name: QUESTION_WORDS[name].question });
    await group.getByRole("radio", { name: "Yes" }).check();
    await group.getByRole("textbox", { name: /^Evidence/ }).fill("A browser test made it so");
  }
  await said.getByRole("button", { name: "Save cause and evidence" }).click();
  await expect(said.getByText("Done", { exact: true })).toBeVisible();
  const plan = panel(page, "3. Plan it");
  await plan.getByRole("textbox", { name: /^Rate for each destination/ }).fill("10");
  await plan.getByRole("button", { name: "Save plan" }).click();
  await expect(plan.getByRole("cell", { name: "10/s" })).toBeVisible();
}

/** The second person finds the batch in the list, reads it and approves what is frozen; then it is started. */
async function reviewAndStart(page: Page, name: string): Promise<void> {
  await page.goto(`/replays?region=${REGION}`);
  await expect(page.getByRole("tab", { name: /^Needs review/ })).toHaveAttribute("aria-selected", "true");
  await page.getByRole("link", { name }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await confirm(page.getByRole("dialog", { name: `Approve: ${name}, EU` }), {
    label: "Approve",
    text: "Looked at the sample; the cause is gone",
  });
  await page.getByRole("button", { name: "Start canary" }).click();
  await confirm(page.getByRole("dialog", { name: `Start canary: ${name}, EU` }), {
    label: "Start canary",
    text: REASON,
  });
}

test("DLQ-4 PROOF-7 two people: from a cause through draft, review and canary to the report; the author cannot approve", async ({
  page,
  browser,
  world,
}) => {
  test.setTimeout(LONG_MS * 3);
  const name = `INC-${Date.now()} accounts were missing`;
  const id = await draftFromCause(page, name);
  await inspectAll(page);
  await annotateAndPlan(page);
  await page.getByRole("button", { name: `Freeze ${ENTRIES} entries and ask for review` }).click();
  await authorCannotApprove(page, world, id);

  const context = patient(
    await browser.newContext({
      baseURL: world.consoleUrl,
      storageState: await sessionOf(world, second),
    }),
  );
  const reviewer = await context.newPage();
  await reviewAndStart(reviewer, name);
  // The canary's hold ends with a person's word, and not before.
  const goOn = reviewer.getByRole("button", { name: "Continue", exact: true });
  await expect(goOn).toBeEnabled({ timeout: LONG_MS });
  await expect(reviewer.getByRole("progressbar")).toHaveAttribute(
    "aria-valuetext",
    `5 of ${ENTRIES} delivered`,
  );
  await goOn.click();
  await confirm(reviewer.getByRole("dialog", { name: `Continue: ${name}, EU` }), {
    label: "Continue",
    text: REASON,
  });
  // Both see the end; nobody reloads.
  for (const each of [reviewer, page]) {
    await expect(each.getByText("Completed", { exact: true }).first()).toBeVisible({ timeout: LONG_MS });
    const report = panel(each, "Report");
    await expect(report).toContainText(`${ENTRIES} of ${ENTRIES} entries delivered`);
    await expect(report).toContainText(second.email);
  }
  await context.close();
  await sentOnceUnderTheirFirstIds(world, id);
});

async function authorCannotApprove(page: Page, world: World, id: string): Promise<void> {
  await expect(page.getByRole("button", { name: "Approve", exact: true })).toBeDisabled();
  await expect(
    page.getByText("You wrote or changed this batch. Somebody else has to approve it."),
  ).toBeVisible();
  const author = await clientOf(world, world.accounts.operator);
  const batch = { id, region: REGION } as const;
  const { sha256 } = await readReplay(author, batch);
  const refused = await commandReplay(author, batch, "approve", { sha256 });
  expect(refused.status()).toBe(403);
  expect(await refused.json()).toMatchObject({ code: "forbidden", own: true });
  expect((await readReplay(author, batch)).state).toBe("in_review");
  await author.dispose();
}

/** At the receiver: the second request of each is the first one again, and its only effect. */
async function sentOnceUnderTheirFirstIds(world: World, id: string): Promise<void> {
  const requests = await world.receiver.client.requests({ destination: bank.receiverName });
  for (const delivery of bank.ids) {
    const [first, again, ...more] = requests.filter(({ webhookId }) => webhookId === delivery);
    expect(more).toEqual([]);
    expect(again).toMatchObject({
      key: first?.key,
      bodySha256: first?.bodySha256,
      attempt: 2,
      effect: "applied",
    });
  }
  expect(requests).toHaveLength(ENTRIES * 2);
  const author = await clientOf(world, world.accounts.operator);
  const report = await author.get(`/api/v1/replays/${id}/report?region=${REGION}`);
  expect(await report.json()).toMatchObject({
    data: { total: ENTRIES, requests: ENTRIES, counts: { delivered: ENTRIES }, state: "completed" },
  });
  await author.dispose();
}

test("DLQ-7 a batch is stopped from a phone: one confirmation, and the rest are the dead letters that they were", async ({
  browser,
  world,
}) => {
  test.setTimeout(LONG_MS * 2);
  const author = await clientOf(world, world.accounts.support);
  const reviewer = await clientOf(world, second);
  const name = `INC-${Date.now()} stopped by phone`;
  // So slow that it is still in its canary when somebody looks.
  const batch = await approvedBatch({ author, reviewer }, REGION, {
    name,
    ids: shop.ids,
    plan: { ratePerSecond: 0.1, concurrency: 1 },
  });
  const start = async () => (await commandReplay(reviewer, batch, "start")).status();
  // Refused as long as no minute was counted: the conditions are unknown then.
  await expect.poll(start, { timeout: LONG_MS }).toBe(200);

  const context = patient(
    await browser.newContext({
      baseURL: world.consoleUrl,
      storageState: await sessionOf(world, world.accounts.support),
      viewport: { width: 360, height: 740 },
      hasTouch: true,
    }),
  );
  const phone = await context.newPage();
  await phone.goto(`/replays/${batch.id}?region=${REGION}`);
  const stop = phone.getByRole("button", { name: "Stop batch" });
  await expect(stop).toBeInViewport();
  expect((await stop.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await stop.tap();
  const dialog = phone.getByRole("dialog", { name: `Stop batch: ${name}, EU` });
  await expect(dialog).toContainText("becomes the dead letter that it was");
  // Nothing has to be typed.
  await dialog.getByRole("button", { name: "Stop batch" }).tap();
  await expect(phone.getByText("Stopped", { exact: true }).first()).toBeVisible({ timeout: LONG_MS });
  expect(await phone.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await context.close();

  const { counts, state } = await readReplay(author, batch);
  expect(state).toBe("stopped");
  expect(counts.delivered).toBeLessThan(ENTRIES);
  expect(counts.delivered + counts.recalled + counts.not_released).toBe(ENTRIES);
  const { pool } = world.regions[REGION];
  const { rows } = await pool.query(
    `SELECT attempts, cycle, reason, replay_batch_id IS NULL AS untouched, count(*)::integer AS n
       FROM sluice.dead_letter WHERE destination_id = $1 GROUP BY 1, 2, 3, 4`,
    [shop.customer.destinationId],
  );
  expect(rows).toEqual([
    { attempts: 1, cycle: 1, reason: "rejected", untouched: true, n: ENTRIES - counts.delivered },
  ]);
  expect((await world.receiver.client.stats(shop.receiverName)).effects).toBe(counts.delivered);
  await Promise.all([author.dispose(), reviewer.dispose()]);
});
