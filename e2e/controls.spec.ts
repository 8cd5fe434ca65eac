/**
 * The controls in a real browser against real workers, receiver and databases: what a dialog says, and what holds after its
 * answer.
 */

import type { Page } from "@playwright/test";
import type { RequestRecord } from "#demo/receiver/types.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import {
  bar,
  customerWith,
  destinationPage,
  enqueueMany,
  fillReason,
  LONG_MS,
  REASON,
} from "./controls-parts.ts";
import type { Customer } from "./support/enqueue.ts";
import { expect, test, type World } from "./support/world.ts";

/** Leases of a tenant as (id, token): what a claim makes. */
async function leasesOf(world: World, region: Region, { tenantId }: Customer): Promise<Set<string>> {
  const { rows } = await world.regions[region].pool.query<{ lease: string }>(
    "SELECT id || '/' || lease_token AS lease FROM sluice.delivery WHERE tenant_id = $1 AND state = 'leased'",
    [tenantId],
  );
  return new Set(rows.map(({ lease }) => lease));
}

async function doneOf(world: World, region: Region, { tenantId }: Customer): Promise<number> {
  const { rows } = await world.regions[region].pool.query<{ done: number }>(
    "SELECT count(*)::integer AS done FROM sluice.delivery_archive WHERE tenant_id = $1 AND state = 'delivered'",
    [tenantId],
  );
  return rows[0]?.done ?? 0;
}

/** The most requests that were open at one moment, of those that began after `fromMs`. */
function peakOf(records: readonly RequestRecord[], fromMs: number): number {
  const own = records.filter((record) => record.arrivedAtMs >= fromMs);
  const at = (ms: number) =>
    own.filter((record) => record.arrivedAtMs <= ms && (record.answeredAtMs ?? Number.POSITIVE_INFINITY) > ms)
      .length;
  return Math.max(0, ...own.map((record) => at(record.arrivedAtMs)));
}

test("CTL-1 find a tenant, pause it for 1 h: no claim commits after the answer, its work is held apart, resume keeps the rate", async ({
  page,
  world,
}) => {
  test.setTimeout(180_000);
  const region = "eu";
  const ratePerSecond = 4;
  const customer = await customerWith(world, region, "Pause Bank", "/slow/600/pause-bank", {
    count: 16,
    ratePerSecond,
  });
  await world.receiver.client.waitFor("pause-bank", (stats) => stats.requests >= 3, LONG_MS);

  await page.goto(`/tenants?region=${region}&q=${customer.slug}`);
  await page.getByRole("link", { name: "Pause Bank" }).first().click();
  const controls = bar(page, "Pause Bank, EU");
  const button = controls.getByRole("button", { name: "Pause" });
  await button.click();
  const dialog = page.getByRole("dialog", { name: "Pause deliveries for Pause Bank, EU" });
  // Focus is on the first field, with the hour chosen and the reason empty.
  await expect(dialog.getByRole("radio", { name: "1 h", exact: true })).toBeFocused();
  await expect(dialog.getByRole("radio", { name: "1 h", exact: true })).toBeChecked();
  await expect(dialog.getByLabel(/^Reason/)).toHaveValue("");
  await expect(dialog).toContainText("New events are still accepted, and held");
  await expect(dialog).toContainText(/Counted at \d\d:\d\d:\d\d UTC/);
  // Without a reason nothing is sent.
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(dialog.getByLabel(/^Reason/)).toBeFocused();
  await expect(dialog).toContainText("at least 10 characters");
  // Escape keeps nothing and gives the focus back.
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(button).toBeFocused();

  await button.click();
  await fillReason(dialog);
  // More than the rate lets out before the press.
  await enqueueMany(world, region, customer, 12);
  await dialog.getByRole("button", { name: "Pause for 1 h" }).click();
  await expect(page.getByText("Deliveries for Pause Bank (EU) are paused")).toBeVisible();
  const atAnswer = await leasesOf(world, region, customer);
  await expect(page.getByText(/Applied at \d\d:\d\d:\d\d UTC/)).toBeVisible();
  const audit = await readAudit(world.regions[region], toPublicId("ten", customer.tenantId));
  expect(audit).toMatchObject([{ action: "tenant.pause", result: "done", reason: REASON }]);
  await expect(page.getByRole("link", { name: /^Audit entry aud_/ })).toHaveAttribute(
    "href",
    /^\/audit\?region=eu&target=ten_[0-9a-f]+&panel=aud_/,
  );

  // What was in flight ends; no other lease ever comes.
  await expect(async () => {
    const now = await leasesOf(world, region, customer);
    for (const lease of now) expect(atAnswer).toContain(lease);
    expect(now.size).toBe(0);
  }).toPass({ timeout: LONG_MS });
  const seen = (await world.receiver.client.stats("pause-bank")).requests;
  // New events are accepted all the same, and held.
  await enqueueMany(world, region, customer, 8);
  // The workers go on meanwhile: another tenant's work leaves.
  const other = await customerWith(world, region, "Other Bank", "/ok/other-bank", { count: 10 });
  await expect(async () => expect(await doneOf(world, region, other)).toBe(10)).toPass({ timeout: LONG_MS });
  expect((await leasesOf(world, region, customer)).size).toBe(0);
  expect((await world.receiver.client.stats("pause-bank")).requests).toBe(seen);

  // The same button now resumes, and the dialog shows what is held.
  await controls.getByRole("button", { name: "Resume" }).click();
  const resume = page.getByRole("dialog", { name: "Resume deliveries for Pause Bank, EU" });
  await expect(resume).toContainText(/Held now\s*\d+, oldest/);
  await expect(resume).toContainText("20 %, 40 %, 80 %, then all");
  await resume.getByRole("radio", { name: "100 %" }).check();
  await fillReason(resume);
  await resume.getByRole("button", { name: /^Resume \d+ held$/ }).click();
  await expect(page.getByText("Deliveries for Pause Bank (EU) are resumed")).toBeVisible();
  await expect(async () => expect(await doneOf(world, region, customer)).toBe(36)).toPass({
    timeout: LONG_MS,
  });
  const records = await world.receiver.client.requests({ destination: "pause-bank" });
  const after = records.slice(seen).map((record) => record.arrivedAtMs);
  const seconds = ((after.at(-1) ?? 0) - (after[0] ?? 0)) / 1_000;
  // One request less than the intervals between them, at most the rate (and the burst of one).
  expect(after.length - 1).toBeLessThanOrEqual(Math.ceil(seconds * ratePerSecond) + 1);
});

test("FAIR-7 lower a limit, seen at the receiver; Undo opens the inverse filled in and raises it again", async ({
  page,
  world,
}) => {
  test.setTimeout(180_000);
  const region = "us";
  const customer = await customerWith(world, region, "Limit Bank", "/ok/limit-bank?ms=300", {
    count: 200,
    concurrencyLimit: 4,
  });
  await world.receiver.client.waitFor("limit-bank", (stats) => stats.peakConcurrency >= 2, LONG_MS);
  await page.goto(destinationPage(customer, region));
  await bar(page, "Ledger, US").getByRole("button", { name: "Limits" }).click();
  const dialog = page.getByRole("dialog", { name: "Change limits of Ledger, US" });
  const limit = dialog.getByLabel("Requests in flight at once");
  await expect(limit).toBeFocused();
  await expect(limit).toHaveValue("4");
  await expect(dialog).toContainText("Drain time of what waits");
  await expect(dialog).toContainText("R × L × s");
  await limit.fill("0");
  await expect(dialog).toContainText("To send nothing, use Pause.");
  await limit.fill("1");
  await expect(dialog).toContainText(/→ \d+/);
  await fillReason(dialog);
  await enqueueMany(world, region, customer, 40);
  await dialog.getByRole("button", { name: "Change limit 4 → 1" }).click();
  await expect(page.getByText("The limits of Ledger (US) are changed")).toBeVisible();
  await expect(async () =>
    expect((await leasesOf(world, region, customer)).size).toBeLessThanOrEqual(1),
  ).toPass({ timeout: LONG_MS });
  const low = (await world.receiver.client.stats("limit-bank")).requests;
  await world.receiver.client.waitFor("limit-bank", (stats) => stats.requests >= low + 8, LONG_MS);
  const lowRecords = await world.receiver.client.requests({ destination: "limit-bank" });
  const lowFromMs = lowRecords[low]?.arrivedAtMs ?? Number.POSITIVE_INFINITY;
  expect(peakOf(lowRecords, lowFromMs)).toBe(1);

  // The message outlives its page.
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit" }).click();
  await expect(page).toHaveURL(/\/audit/);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(limit).toHaveValue("4");
  await expect(dialog.getByLabel(/^Reason/)).toHaveValue("");
  await fillReason(dialog);
  await enqueueMany(world, region, customer, 40);
  await dialog.getByRole("button", { name: "Change limit 1 → 4" }).click();
  await expect(dialog).toBeHidden();
  await expect(async () => {
    const records = await world.receiver.client.requests({ destination: "limit-bank" });
    expect(peakOf(records, records[low + 8]?.arrivedAtMs ?? Number.POSITIVE_INFINITY)).toBeGreaterThan(1);
  }).toPass({ timeout: LONG_MS });
});

test("CTL-4 a stale version in a second tab says who was faster, keeps what was typed, and goes on after a reload", async ({
  page,
  context,
  world,
}) => {
  const region = "eu";
  const customer = await customerWith(world, region, "Stale Bank", "/ok/stale-bank", { concurrencyLimit: 5 });
  const second = await context.newPage();
  const open = async (tab: Page) => {
    await tab.goto(destinationPage(customer, region));
    await bar(tab, "Ledger, EU").getByRole("button", { name: "Limits" }).click();
    const dialog = tab.getByRole("dialog", { name: "Change limits of Ledger, EU" });
    await expect(dialog.getByLabel("Requests in flight at once")).toHaveValue("5");
    await fillReason(dialog);
    return dialog;
  };
  const mine = await open(page);
  const theirs = await open(second);
  await theirs.getByLabel("Requests in flight at once").fill("3");
  await theirs.getByRole("button", { name: "Change limit 5 → 3" }).click();
  await expect(theirs).toBeHidden();

  await mine.getByLabel("Requests in flight at once").fill("4");
  await mine.getByRole("button", { name: "Change limit 5 → 4" }).click();
  await expect(mine.getByRole("alert")).toContainText(
    new RegExp(`Changed by ${world.accounts.operator.email} .+ ago: limit 5 → 3`),
  );
  await mine.getByRole("button", { name: "Reload values" }).click();
  await expect(mine.getByRole("button", { name: "Change limit 3 → 4" })).toBeVisible();
  await expect(mine.getByLabel(/^Reason/)).toHaveValue(REASON);
  await mine.getByRole("button", { name: "Change limit 3 → 4" }).click();
  await expect(mine).toBeHidden();
  const audit = await readAudit(world.regions[region], toPublicId("dst", customer.destinationId));
  expect(audit.map(({ result }) => result)).toEqual(["done", "conflict", "done"]);
});

test("CTL-3 stop and start the claims of a region with its name typed; safe is said when no lease is left", async ({
  page,
  world,
}) => {
  test.setTimeout(180_000);
  const region = "us";
  const { pool } = world.regions[region];
  const leases = async () => {
    const { rows } = await pool.query<{ leases: number }>(
      "SELECT count(*)::integer AS leases FROM sluice.delivery WHERE state = 'leased'",
    );
    return rows[0]?.leases ?? -1;
  };
  // Work for longer than this test takes.
  const customer = await customerWith(world, region, "Drain Bank", "/slow/4000/drain-bank", {
    count: 80,
    concurrencyLimit: 4,
  });
  await world.receiver.client.waitFor("drain-bank", (stats) => stats.requests >= 2, LONG_MS);
  await page.goto("/regions");
  await bar(page, "US").getByRole("button", { name: "Stop claims" }).click();
  const stop = page.getByRole("dialog", { name: "Stop claims in US" });
  await expect(stop).toContainText("Drain Bank");
  await expect(stop.getByLabel(/^Type US/)).toBeFocused();
  await fillReason(stop);
  const audited = async () => (await readAudit(world.regions[region], region)).length;
  const before = await audited();
  await stop.getByLabel(/^Type US/).fill("EU");
  await stop.getByRole("button", { name: /^Stop claims for/ }).click();
  await expect(stop).toContainText("Type US, the region's name.");
  expect(await audited()).toBe(before);
  await stop.getByLabel(/^Type US/).fill("US");
  await stop.getByRole("button", { name: /^Stop claims for/ }).click();
  await expect(stop).toContainText("Claims are stopped in US.");
  await expect(stop).toContainText(/Leases held: /);
  await expect(stop).toContainText(/Safe to switch version:\s*yes/, { timeout: LONG_MS });
  expect(await leases()).toBe(0);
  await stop.getByRole("button", { name: "Close" }).last().click();

  const done = await doneOf(world, region, customer);
  await bar(page, "US").getByRole("button", { name: "Start claims" }).click();
  const start = page.getByRole("dialog", { name: "Start claims in US" });
  await start.getByLabel(/^Type US/).fill("us");
  await fillReason(start);
  await start.getByRole("button", { name: /^Start claims/ }).click();
  await expect(page.getByText("Claims are started in US")).toBeVisible();
  await expect(async () => expect(await doneOf(world, region, customer)).toBeGreaterThan(done)).toPass({
    timeout: LONG_MS,
  });
});
