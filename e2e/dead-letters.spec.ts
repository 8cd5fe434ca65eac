/**
 * Dead letters by cause, in a real browser against real workers and a real receiver: hundreds of refused bodies beside one
 * destination that is down are two rows that read differently, and what people do about them is guarded and audited.
 */
import type { Page } from "@playwright/test";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { enqueueDeliveries } from "#outbox/index.ts";
import { clientOf, createPerson, sessionOf } from "./support/accounts.ts";
import { addCustomer, type Customer } from "./support/enqueue.ts";
import { expect, patient, test, type World } from "./support/world.ts";

const UNREADABLE = 240;
const DOWN = 12;
const REASON = "A browser test looks into it";
const LONG_MS = 90_000;

test.describe.configure({ mode: "serial" });

let bank: Customer;
let shop: Customer;

/** Deliveries with bodies of their own, so that their receiver's answers differ in ids and amounts. */
async function enqueueMany(world: World, region: Region, customer: Customer, count: number): Promise<void> {
  await world.regions[region].prisma.$transaction((tx) =>
    enqueueDeliveries(
      tx,
      Array.from({ length: count }, (_, at) => ({
        region,
        tenantId: customer.tenantId,
        destinationId: customer.destinationId,
        eventType: "hold.released",
        idempotencyKey: `${customer.slug}-${at}`,
        body: JSON.stringify({ at }),
      })),
    ),
  );
}

async function deadOf(world: World, { tenantId }: Customer): Promise<number> {
  const { rows } = await world.regions.us.pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.dead_letter WHERE tenant_id = $1",
    [tenantId],
  );
  return rows[0]?.n ?? 0;
}

test.beforeAll(async ({ world }) => {
  test.setTimeout(LONG_MS + 60_000);
  bank = await addCustomer(
    world,
    "us",
    "Unread Bank",
    `/reject/422/unread-${Date.now()}?message=cannot+parse+the+body`,
  );
  shop = await addCustomer(world, "us", "Dark Shop", `/reset/dark-${Date.now()}`);
  await world.regions.us.prisma.destination.update({
    where: { id: shop.destinationId },
    data: { policyOverride: { maxFailures: 1 } },
  });
  await enqueueMany(world, "us", bank, UNREADABLE);
  await enqueueMany(world, "us", shop, DOWN);
  await expect
    .poll(async () => [await deadOf(world, bank), await deadOf(world, shop)], { timeout: LONG_MS })
    .toEqual([UNREADABLE, DOWN]);
});

const rowOf = (page: Page, text: string) => page.getByRole("row").filter({ hasText: text });

test("DLQ-2 hundreds of unreadable bodies and one destination that is down are two rows that read differently; the tiles count by class and filter", async ({
  page,
}) => {
  await page.goto("/dead-letters?region=us");
  const unread = rowOf(page, "Unread Bank");
  await expect(unread).toHaveCount(1);
  await expect(unread).toContainText("Bodies not accepted");
  await expect(unread).toContainText("Receiver");
  await expect(unread).toContainText("422");
  await expect(unread).toContainText(String(UNREADABLE));
  await expect(unread).toContainText("New");
  await expect(unread.getByRole("img", { name: /^240 in 24 h/ })).toBeVisible();
  const down = rowOf(page, "Dark Shop");
  await expect(down).toHaveCount(1);
  await expect(down).toContainText("Destination down: no connection");
  await expect(down).toContainText("Exhausted");
  await expect(down).toContainText(String(DOWN));
  await page.getByRole("button", { name: /^Exhausted/ }).click();
  await expect(page).toHaveURL(/cause=exhausted/);
  await expect(down).toHaveCount(1);
  await expect(unread).toHaveCount(0);
  await page.goBack();
  await expect(unread).toHaveCount(1);
});

test("CTL-4 acknowledged, assigned and noted with a reason; the list and the audit say who", async ({
  page,
  world,
}) => {
  await page.goto(`/dead-letters?region=us&tenant=${bank.slug}`);
  await page.getByRole("button", { name: /^Bodies not accepted/ }).click();
  const panel = page.getByRole("dialog", { name: "Bodies not accepted" });
  await expect(panel).toContainText("The receiver is up and refuses what it gets");
  await panel.getByRole("button", { name: "Acknowledge" }).click();
  const dialog = page.getByRole("dialog", { name: /^Acknowledge: Bodies not accepted/ });
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(dialog).toContainText("Say why");
  await dialog.getByLabel(/^Reason/).fill(REASON);
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(rowOf(page, "Unread Bank").first()).toContainText("Acknowledged");

  await panel.getByRole("button", { name: "Assign" }).click();
  const assign = page.getByRole("dialog", { name: /^Assign/ });
  // The server takes nobody who could not see it.
  await assign.getByLabel("Assignee").fill("nobody@elsewhere.test");
  await assign.getByLabel(/^Reason/).fill(REASON);
  await assign.getByRole("button", { name: "Assign", exact: true }).click();
  await expect(assign).toContainText("assignee must be the e-mail address");
  await assign.getByRole("button", { name: "Assign to me" }).click();
  await assign.getByLabel(/^Reason/).fill(REASON);
  await assign.getByRole("button", { name: "Assign", exact: true }).click();
  await expect(assign).toHaveCount(0);
  await expect(rowOf(page, "Unread Bank").first()).toContainText(world.accounts.operator.email);
  await expect(panel.getByRole("region", { name: "What was done" })).toContainText(
    world.accounts.operator.email,
  );

  await panel.getByRole("link", { name: "All of it in the audit" }).click();
  await expect(page).toHaveURL(/\/audit\?/);
  await expect(page.getByRole("row").filter({ hasText: "dead letter group: acknowledge" })).toHaveCount(1);
});

test("CTL-4 a second person with an old version is told who was faster, and keeps what they typed", async ({
  page,
  browser,
  world,
}) => {
  const url = `/dead-letters?region=us&tenant=${shop.slug}`;
  const context = patient(
    await browser.newContext({
      baseURL: world.consoleUrl,
      storageState: await sessionOf(world, world.accounts.support),
    }),
  );
  const second = await context.newPage();
  for (const each of [page, second]) {
    await each.goto(url);
    await each.getByRole("button", { name: /^Destination down/ }).click();
  }
  // The second person's page stands still from here on.
  await second
    .getByRole("dialog", { name: /^Destination down/ })
    .getByRole("button", { name: "Mark resolved" })
    .click();
  await second.route("**/api/v1/dead-letter-groups/**", async (route) =>
    route.request().method() === "GET" ? route.abort() : route.continue(),
  );
  await page
    .getByRole("dialog", { name: /^Destination down/ })
    .getByRole("button", { name: "Acknowledge" })
    .click();
  const first = page.getByRole("dialog", { name: /^Acknowledge/ });
  await first.getByLabel(/^Reason/).fill(REASON);
  await first.getByRole("button", { name: "Acknowledge" }).click();
  await expect(first).toHaveCount(0);
  const late = second.getByRole("dialog", { name: /^Mark resolved/ });
  await late.getByLabel(/^Reason/).fill("It works again, they say");
  await late.getByRole("button", { name: "Mark resolved" }).click();
  await expect(late.getByRole("alert")).toContainText(world.accounts.operator.email);
  await expect(late.getByLabel(/^Reason/)).toHaveValue("It works again, they say");
  await context.close();
});

test("DLQ-3 a whole cause is marked as will not replay: the number on the button is what was marked, and every row stays; its entries have pages and a file", async ({
  page,
  world,
}) => {
  await page.goto(`/dead-letters?region=us&tenant=${bank.slug}`);
  await page.getByRole("button", { name: /^Bodies not accepted/ }).click();
  const panel = page.getByRole("dialog", { name: "Bodies not accepted" });
  await panel.getByRole("button", { name: "Will not replay" }).click();
  const dialog = page.getByRole("dialog", { name: /^Will not replay/ });
  await dialog.getByLabel(/^Reason/).fill("The customer does not want them any more");
  await dialog.getByRole("button", { name: `Mark ${UNREADABLE} as will not replay` }).click();
  await expect(page.getByText(`${UNREADABLE} marked as will not replay.`)).toBeVisible();
  await expect(rowOf(page, "Unread Bank").first()).toContainText(`${UNREADABLE} will not be replayed`);
  expect(await deadOf(world, bank)).toBe(UNREADABLE);
  await expect(page.getByRole("button", { name: /purge|delete/i })).toHaveCount(0);

  await panel.getByRole("button", { name: "Show its entries" }).click();
  await expect(page).toHaveURL(/view=entries/);
  await expect(page.getByRole("row").nth(50)).toContainText("Unread Bank");
  await page.getByRole("button", { name: "Next page" }).click();
  await expect(page).toHaveURL(/cursor=/);
  await expect(page.getByRole("row").nth(1)).toContainText("will not be replayed");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export dead letters as CSV" }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const lines = Buffer.concat(chunks).toString("utf8").trim().split("\r\n");
  expect(lines).toHaveLength(UNREADABLE + 1);
  expect(lines[0]).toMatch(/^id,group,tenant/);
});

test("none: the page says when the last one died", async ({ page }) => {
  await page.goto("/dead-letters?region=us&reason=config_error");
  await expect(page.getByText("No dead letter matches")).toBeVisible();
  await expect(page.getByText(/Last one: .+ ago\./)).toBeVisible();
});

test("REG-3 who may not: a viewer reads but cannot decide, and a grant for another tenant does not find the cause", async ({
  world,
}) => {
  const operator = await clientOf(world, world.accounts.operator);
  const list = await operator.get(`/api/v1/dead-letter-groups?region=us&tenant=${bank.slug}`);
  const { id, version } = ((await list.json()) as { data: { rows: { id: string; version: number }[] } }).data
    .rows[0] ?? {
    id: "",
    version: 0,
  };
  const path = `/api/v1/dead-letter-groups/${id}`;
  const request = { data: { reason: REASON }, headers: { "if-match": `"${version}"` } };

  const viewer = await clientOf(world, world.accounts.viewer);
  expect((await viewer.get(`${path}?region=us`)).status()).toBe(200);
  expect((await viewer.post(`${path}/resolve?region=us`, request)).status()).toBe(403);
  const narrow = await clientOf(
    world,
    await createPerson(world.regions, "shop-support", {
      role: "support",
      regions: ["us"],
      tenantIds: [shop.tenantId],
    }),
  );
  expect((await narrow.get(`${path}?region=us`)).status()).toBe(404);
  expect((await narrow.post(`${path}/resolve?region=us`, request)).status()).toBe(404);
  const narrowList = await narrow.get("/api/v1/dead-letter-groups?region=us");
  expect(await narrowList.text()).not.toContain(toPublicId("ten", bank.tenantId));
  const eu = await clientOf(world, world.accounts["eu-viewer"]);
  expect((await eu.get(`${path}?region=us`)).status()).toBe(404);

  expect((await operator.post(`${path}/resolve?region=us`, { data: { reason: REASON } })).status()).toBe(428);
  const keyed = { ...request, headers: { ...request.headers, "idempotency-key": `resolve-${id}` } };
  const done = await operator.post(`${path}/resolve?region=us`, keyed);
  expect(done.status(), await done.text()).toBe(200);
  const again = await operator.post(`${path}/resolve?region=us`, keyed);
  expect(again.headers()["idempotency-replayed"]).toBe("true");
  expect(((await again.json()) as { auditId: string }).auditId).toBe(
    ((await done.json()) as { auditId: string }).auditId,
  );
});
