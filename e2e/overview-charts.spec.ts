/** The charts of the overview: each has its numbers in a table, gaps and objectives are drawn, and what people did is marked. */
import type { APIRequestContext } from "@playwright/test";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Series } from "#db/console/read-series.ts";
import { clientOf } from "./support/accounts.ts";
import { addCustomer, type Customer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

const CHARTS = [
  "First-attempt age",
  "Due but unclaimed",
  "Outcomes",
  "Dead letters",
  "Attempts per delivery",
];

let counted: Customer;

/** Sent first and looked for last: its minute ends while the other tests run. */
test.beforeAll(async ({ world }) => {
  counted = await addCustomer(world, "us", "Counted Bank", "/ok/counted");
  await enqueue(world, "us", counted, { key: `counted-${counted.slug}` });
});

async function readSeries(request: APIRequestContext, query: string): Promise<Series> {
  const response = await request.get(`/api/v1/series?${query}`);
  const answer = (await response.json()) as RegionAnswer<Series>;
  if (answer.status !== "ok") throw new Error("The region did not answer.");
  return answer.data;
}

test("every chart has a picture for each region, named with its latest value, the same numbers as a table, and goes out as CSV", async ({
  page,
}) => {
  await page.goto("/?range=15m");
  for (const title of CHARTS) {
    const panel = page.getByRole("region", { name: title, exact: true });
    await expect(panel).toBeVisible();
    for (const region of ["US", "EU"]) {
      await expect(panel.getByRole("region", { name: `${title}, ${region}. Latest:` })).toBeVisible();
    }
    await panel.getByRole("button", { name: /as table$/ }).click();
    for (const region of ["US", "EU"]) {
      const rows = panel.getByRole("table", { name: `${title}, ${region}` }).getByRole("row");
      await expect(rows.nth(1)).toBeVisible();
      if (title === "First-attempt age") await expect(rows.nth(1)).toContainText(/\d\d:\d\d:\d\d/);
    }
    await panel.getByRole("button", { name: /as chart$/ }).click();
  }
  await expect(page.getByTestId("ages-us").getByRole("application")).toBeVisible();

  const panel = page.getByRole("region", { name: "First-attempt age", exact: true });
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    panel.getByRole("button", { name: "Download first-attempt age as CSV" }).click(),
  ]);
  const stream = await file.createReadStream();
  let text = "";
  for await (const part of stream) text += String(part);
  const [head, ...lines] = text.trim().split("\r\n");
  expect(head).toBe("Of,Time (UTC),p50 (ms),p95 (ms),max (oldest waiting) (ms)");
  expect(lines.some((line) => /^US,\d{4}-\d\d-\d\dT/.test(line))).toBe(true);
});

test("a pause is a line in the charts with a letter that covers no other, and a sentence below them", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "eu", "Marked Bank", "/ok/marked");
  await world.regions.eu.pool.query(
    `INSERT INTO sluice.operator_action (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, result, correlation_id)
     VALUES (gen_random_uuid(), 'eu', 'dana', 'operator', 'tenant.pause', 'tenant', $1, $2, 'Their maintenance window', 'done', 'test')`,
    [`ten_${customer.tenantId.replaceAll("-", "")}`, customer.tenantId],
  );
  await page.goto("/?region=eu&range=15m");
  const list = page.getByText(/What people did in this range, EU/);
  await expect(list).toBeVisible();
  const sentence = page.getByText("Tenant paused: Marked Bank");
  // A short list is open by itself.
  if (!(await sentence.isVisible())) await list.click();
  await expect(sentence).toBeVisible();
  await expect(page.getByText("dana: Their maintenance window")).toBeVisible();
  // Three lines are objectives.
  const lines = page.getByTestId("ages-eu").locator(".recharts-reference-line");
  await expect.poll(() => lines.count()).toBeGreaterThan(3);
  const letters = page
    .getByTestId("ages-eu")
    .locator(".recharts-label")
    .filter({ hasText: /^[A-Z]{1,2}(?:–[A-Z]{1,2})?$/ });
  await expect(letters.first()).toBeVisible();
  const boxes = await letters.evaluateAll((marks) =>
    marks.map((mark) => mark.getBoundingClientRect().toJSON() as { left: number; right: number }),
  );
  boxes.sort((a, b) => a.left - b.left);
  for (const [index, box] of boxes.entries()) {
    expect(box.left).toBeGreaterThanOrEqual(boxes[index - 1]?.right ?? 0);
  }
});

test("on a phone the tenants are cards and nothing is wider than the screen; tiles fit at every width; a wrong range is dropped with a chip, never silently", async ({
  page,
  world,
}) => {
  const customer = await addCustomer(world, "us", "Waiting Bank", "/ok/waiting");
  const { pool } = world.regions.us;
  await pool.query(
    "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
    [customer.destinationId],
  );
  await enqueue(world, "us", customer, { key: `waiting-${Date.now()}` });
  await page.setViewportSize({ width: 320, height: 740 });
  await page.goto("/?region=us&range=2h");
  const cards = page.getByRole("list", { name: /Tenants by region/ });
  await expect(cards.getByRole("listitem").filter({ hasText: "Waiting Bank" })).toContainText("Rate-limited");
  await expect(page.getByText("range=2h")).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
  expect(wide).toBe(false);
  await page.goto("/");
  await expect(page.getByTestId("region-us")).toBeVisible();
  for (const width of [320, 768, 1360, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const cut = await page
      .getByTestId("region-us")
      .locator("dt, dd")
      .evaluateAll((parts) =>
        parts.filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent),
      );
    expect(cut, `labels and numbers that do not fit at ${width} px`).toEqual([]);
  }
  await pool.query(
    "UPDATE sluice.destination_state SET hold_until = clock_timestamp() WHERE destination_id = $1",
    [customer.destinationId],
  );
});

test("REG-4 a grant for us gets no series of eu", async ({ world }) => {
  const client = await clientOf(world, world.accounts["us-operator"]);
  expect((await client.get("/api/v1/series?region=us&range=1h")).status()).toBe(200);
  expect((await client.get("/api/v1/series?region=eu&range=1h")).status()).toBe(404);
  expect((await client.get("/api/v1/series?region=us&range=2h")).status()).toBe(422);
  await client.dispose();
});

test("SIG-1 what was delivered is counted in its minute, by region, tenant and destination", async ({
  request,
}) => {
  // The minute has to end, and the roll-up after it: that has begun before the other tests of this file.
  test.setTimeout(240_000);
  const customer = counted;
  for (const of of [
    `tenant=${customer.slug}`,
    `destination=dst_${customer.destinationId.replaceAll("-", "")}`,
  ]) {
    await expect(async () => {
      const { ends, counts } = await readSeries(request, `region=us&range=15m&${of}`);
      expect(ends.counts[0]).toBe(1);
      // A minute is shown when it is over.
      expect(counts.reduce((sum, point) => sum + (point.outcomes?.delivered ?? 0), 0)).toBe(1);
    }).toPass({ intervals: [2_000] });
  }
});
