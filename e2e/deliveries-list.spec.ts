/**
 * The list of deliveries: files that no spreadsheet can be hurt by, every filter at the API, selection, and cards on a phone.
 */
import { readFile } from "node:fs/promises";
import type { DeliveryPage } from "#db/console/list-deliveries.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { toPublicId } from "#domain/ids.ts";
import { readState } from "#tests/support/delivery-rows/sql.ts";
import { shutGate } from "#tests/support/gate-rows/sql.ts";
import { clientOf } from "./support/accounts.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

test("exports hold what the list holds, in scope, and no cell is a formula", async ({ page, world }) => {
  const { pool } = world.regions.us;
  const customer = await addCustomer(world, "us", "Export Bank", "/ok/export");
  await pool.query("UPDATE sluice.tenant SET name = $2 WHERE id = $1", [
    customer.tenantId,
    '=HYPERLINK("http://evil","x")',
  ]);
  await shutGate(world.regions.us.pool, customer.destinationId);
  const first = await enqueue(world, "us", customer, { key: `export-a-${Date.now()}` });
  const second = await enqueue(world, "us", customer, { key: `export-b-${Date.now()}` });
  await page.goto(`/deliveries?region=us&tenant=${customer.slug}&state=ready`);
  await expect(page.getByRole("row")).toHaveCount(3);

  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export deliveries as CSV" }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^deliveries-us-\d{8}T\d{6}Z\.csv$/);
  const text = await readFile(await download.path(), "utf8");
  const lines = text.split("\r\n");
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatch(/^id,tenant,tenant_name,/);
  expect(text).toContain(`,"'=HYPERLINK(""http://evil"",""x"")",`);
  for (const { id } of [first, second]) expect(text).toContain(id);
  expect(text).not.toContain("amount");

  const client = await clientOf(world, world.accounts.viewer);
  const json = await client.get(`/api/v1/deliveries/export?region=us&tenant=${customer.slug}&format=ndjson`);
  expect(json.headers()["content-type"]).toContain("application/x-ndjson");
  const rows = (await json.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(rows.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
  expect(rows[0]).toMatchObject({
    tenant_name: '=HYPERLINK("http://evil","x")',
    attempts: 0,
    last_status: null,
  });
  expect((await client.get("/api/v1/deliveries/export?region=us&format=xlsx")).status()).toBe(422);
  expect((await client.get("/api/v1/deliveries/export?region=us&colour=blue")).status()).toBe(422);
  const named = (query: string) => client.get(`/api/v1/deliveries/export?region=us&format=ndjson&${query}`);
  const one = await named(`ids=${second.id}`);
  expect((await one.text()).trim().split("\n")).toHaveLength(1);
  const absent = `dlv_${"0".repeat(32)}`;
  // A file is never shorter than what was asked for in silence.
  expect((await named(`ids=${second.id},${absent}`)).status()).toBe(404);
  for (const query of [
    "ids=",
    "ids=dlv_x",
    `ids=${second.id},${second.id}`,
    `ids=${second.id}&state=ready`,
    `ids=${Array.from({ length: 51 }, (_, at) => `dlv_${String(at).padStart(32, "0")}`).join(",")}`,
  ]) {
    expect((await named(query)).status(), query).toBe(422);
  }
  await client.dispose();

  const narrow = await clientOf(world, world.accounts["eu-viewer"]);
  expect((await narrow.get("/api/v1/deliveries/export?region=us")).status()).toBe(404);
  await narrow.dispose();
});

test("the API takes every filter of the list and refuses what means nothing", async ({ request, world }) => {
  const customer = await addCustomer(world, "us", "Filter Bank", "/ok/filter");
  const { id } = await enqueue(world, "us", customer, { key: `filter-${Date.now()}` });
  const ask = async (query: string) => {
    const response = await request.get(`/api/v1/deliveries?region=us&tenant=${customer.slug}&${query}`);
    expect(response.status(), query).toBe(200);
    const answer = (await response.json()) as RegionAnswer<DeliveryPage>;
    if (answer.status !== "ok") throw new Error(answer.detail);
    return answer.data;
  };
  await expect(async () => expect((await ask("state=delivered")).rows).toHaveLength(1)).toPass();
  for (const query of [
    "code=2xx",
    "attempts=1..",
    "type=hold.released",
    "range=1h",
    "class=routine",
    `destination=${toPublicId("dst", customer.destinationId)}`,
  ]) {
    expect(
      (await ask(query)).rows.map((row) => row.id),
      query,
    ).toEqual([id]);
  }
  for (const query of [
    "code=5xx",
    "attempts=2..",
    "type=other.type",
    "age=1h..",
    "reason=rejected",
    "class=urgent",
    "to=2020-01-01T00:00:00Z",
  ]) {
    expect((await ask(query)).rows, query).toEqual([]);
  }
  expect((await ask("limit=1")).total).toEqual({ count: 1, atLeast: false });
  for (const query of [
    "code=9xx",
    "attempts=3",
    "age=1w..",
    "range=2h",
    "from=yesterday",
    "reason=none",
    "type=a b",
    "sort=age",
  ]) {
    const response = await request.get(`/api/v1/deliveries?region=us&${query}`);
    expect(response.status(), query).toBe(422);
  }
});

test("rows are selected one by one, in ranges and by page, a filter takes the selection away; rule 3: each selected one is cancelled, or skipped with its reason", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "us", "Select Bank", "/ok/select");
  await shutGate(world.regions.us.pool, customer.destinationId);
  const rows: { id: string; uuid: string }[] = [];
  for (let index = 0; index < 5; index += 1)
    rows.push(await enqueue(world, "us", customer, { key: `select-${index}-${Date.now()}` }));
  await page.goto(`/deliveries?region=us&tenant=${customer.slug}`);
  const boxes = page.getByRole("checkbox", { name: /^Select delivery/ });
  await expect(boxes).toHaveCount(5);
  await boxes.nth(1).click();
  await boxes.nth(3).click({ modifiers: ["Shift"] });
  await expect(page.getByText("3 deliveries of this page selected")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText(/of this page selected/)).toHaveCount(0);
  await page.getByRole("checkbox", { name: "Select the 5 on this page" }).click();
  await expect(page.getByText("5 deliveries of this page selected")).toBeVisible();
  await page.getByRole("combobox", { name: "State" }).selectOption("ready");
  await expect(page).toHaveURL(/state=ready/);
  await expect(page.getByText(/of this page selected/)).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Deliveries, latest due first" })).toBeVisible();

  await page.getByRole("checkbox", { name: "Select the 5 on this page" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export selected deliveries as CSV" }).click(),
  ]);
  const text = await readFile(await file.path(), "utf8");
  expect(text.trim().split("\r\n")).toHaveLength(6);
  for (const { id } of rows) expect(text).toContain(id);
  const retry = page.getByRole("button", { name: "Retry each now" });
  await expect(retry).toHaveAttribute("aria-disabled", "true");
  await expect(retry).toHaveAccessibleDescription(/none of them is delayed/);

  await page.getByRole("button", { name: "Cancel each" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel the selected deliveries" });
  await dialog.getByRole("button", { name: "Cancel 5 deliveries" }).click();
  await expect(dialog).toContainText("at least 10 characters");
  await dialog.getByLabel(/^Reason/).fill("A browser test cancels them");
  // Somebody else is faster with one of them.
  const operator = await clientOf(world, world.accounts.operator);
  const faster = await operator.post(`/api/v1/deliveries/${rows[2]?.id}/cancel?region=us`, {
    data: { reason: "somebody else was faster" },
  });
  expect(faster.status()).toBe(200);
  await operator.dispose();
  await dialog.getByRole("button", { name: "Cancel 5 deliveries" }).click();
  await expect(dialog.getByText("4 done, 1 skipped, 0 failed", { exact: true })).toBeVisible();
  const skipped = dialog.getByRole("row", { name: new RegExp(rows[2]?.id ?? "") });
  await expect(skipped).toContainText("Skipped");
  await expect(skipped).toContainText(/has ended: cancelled/);
  for (const { uuid } of rows) {
    expect(await readState(world.regions.us.pool, uuid)).toEqual({
      state: "cancelled",
      reason: "staff_cancel",
    });
  }
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(page.getByText(/of this page selected/)).toHaveCount(0);
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 740 } });

  test("the list is cards with the four fields that decide, and nothing scrolls sideways", async ({
    page,
    world,
  }) => {
    const customer = await addCustomer(world, "us", "Phone Bank", "/ok/phone");
    await shutGate(world.regions.us.pool, customer.destinationId);
    const { id } = await enqueue(world, "us", customer, { key: `phone-${Date.now()}` });
    await page.goto(`/deliveries?region=us&tenant=${customer.slug}`);
    const card = page.getByRole("list", { name: /^Deliveries/ }).getByRole("listitem");
    await expect(card).toContainText("Phone Bank");
    for (const term of ["State", "Tenant", "Last result", "Next attempt"]) {
      await expect(card.getByRole("term").filter({ hasText: term })).toBeVisible();
    }
    await expect(page.getByRole("table")).toHaveCount(0);
    // The first screen is for rows: what narrows the list is said on the button that unfolds it.
    await expect(card.first()).toBeInViewport();
    const state = page.getByRole("combobox", { name: "State" });
    await expect(state).toBeHidden();
    await page.getByRole("button", { name: "Filters (1 set)" }).click();
    await state.selectOption("ready");
    await expect(page).toHaveURL(/state=ready/);
    await expect(page.getByRole("button", { name: "Filters (2 set)" })).toHaveAttribute(
      "aria-expanded",
      "true",
    );
    await card.getByRole("link", { name: id }).click();
    await expect(page.getByRole("region", { name: "Timeline" })).toBeVisible();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
