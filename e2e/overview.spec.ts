/** The first screen: both regions deliver, and the page, the API and the table say the same. */
import type { Overview } from "#db/console/read-overview.ts";
import { formatAge } from "#domain/queue-age.ts";
import { addCustomer, enqueue } from "./support/enqueue.ts";
import { expect, test } from "./support/world.ts";

/** A number of a tile, without its separators. */
async function tileNumber(text: string | null): Promise<number> {
  return Number((text ?? "").replace(/[^0-9]/g, ""));
}

test("both regions deliver, and the page says so in words; rule 5: paused it asks for nothing; without its console it is offline and keeps its numbers", async ({
  page,
}) => {
  await page.clock.install();
  await page.goto("/");
  for (const region of ["us", "eu"]) {
    const tiles = page.getByTestId(`region-${region}`);
    await expect(page.getByTestId(`verdict-${region}`)).toContainText(/: (on time|slow|late)\./);
    await expect(async () => {
      const value = tiles.getByTestId("completed").locator("dd");
      expect(await tileNumber(await value.textContent())).toBeGreaterThan(0);
    }).toPass();
  }
  await expect(page.getByRole("table", { name: /Tenants by region/ })).toBeVisible();
  await expect(page.getByTestId("ages-us").locator(".recharts-line-curve").first()).toBeAttached();

  await test.step("rule 5: paused live updates ask for nothing until they are resumed", async () => {
    await page.getByRole("button", { name: /Pause live updates/ }).click();
    await expect(page.getByRole("button", { name: /^Paused/ })).toBeVisible();
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes("/api/v1/")) asked += 1;
    });
    // The clock is turned by more than an interval, and the timers of the page run.
    await page.clock.runFor(7_000);
    await expect(page.getByRole("button", { name: /^Paused (?:[7-9]|\d\d) s/ })).toBeVisible();
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    expect(asked).toBe(0);
    await page.getByRole("button", { name: /Resume live updates/ }).click();
    await expect(page.getByRole("button", { name: /^Live 5 s/ })).toBeVisible();
    expect(asked).toBeGreaterThan(0);
  });

  await test.step("a console that no longer answers is called offline, its numbers stay and are marked", async () => {
    await page.route("**/api/v1/**", (route) => route.abort());
    await page.clock.runFor(5_000);
    await expect(page.getByRole("button", { name: /^Offline/ })).toBeVisible();
    await expect(page.getByTestId("region-us").getByTestId("completed")).toBeVisible();
    await expect(page.getByTestId("verdict-us")).not.toContainText(": on time.");
  });
});

test("SIG-8 page, API and table agree on the age of one delivery that waits behind a gate", async ({
  page,
  world,
}) => {
  const region = "eu";
  const { pool } = world.regions[region];
  const customer = await addCustomer(world, region, "Agreement Bank", "/ok/agreement");
  await pool.query(
    "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
    [customer.destinationId],
  );
  const { uuid } = await enqueue(world, region, customer, { key: `agreement-${Date.now()}` });
  const { rows } = await pool.query<{ due_at: Date }>("SELECT due_at FROM sluice.delivery WHERE id = $1", [
    uuid,
  ]);
  const dueMs = rows[0]?.due_at.getTime() ?? Number.NaN;

  await page.goto(`/?region=${region}`);
  const line = page.getByRole("row", { name: /Agreement Bank/ });
  await expect(line).toBeVisible();
  await page.getByRole("button", { name: /Pause live updates/ }).click();
  const answered = page.waitForResponse((response) => response.url().includes("/api/v1/overview?"));
  await page.getByRole("button", { name: "Read once now" }).click();
  const overview = (await (await answered).json()) as Overview;
  const [answer] = overview.regions;
  if (answer?.status !== "ok") throw new Error("The region did not answer.");
  const row = answer.data.tenants.find((tenant) => tenant.slug === customer.slug);
  const expectedMs = Date.parse(answer.asOf) - dueMs;
  // The API's ages are whole milliseconds of the same database clock.
  expect(Math.abs((row?.firstAttemptMs ?? 0) - expectedMs)).toBeLessThanOrEqual(1);
  await expect(line).toContainText(formatAge(row?.firstAttemptMs ?? 0));
  await expect(line).toContainText("Rate-limited");
  const worst = answer.data.verdict.firstAttempt.oldestMs;
  await expect(page.getByTestId(`region-${region}`).getByTestId("first-attempt")).toContainText(
    formatAge(worst),
  );
  await expect(page.getByTestId(`verdict-${region}`)).toContainText(
    formatAge(worst).replaceAll(" ", "\u00a0"),
  );
  // Who is noisy: named, or said in words that nobody is or can be.
  const { noise } = answer.data;
  const nobody = noise.verdict === "nobody" ? "Noisy: nobody." : "Noisy: nobody can be named";
  await expect(page.getByTestId(`noise-${region}`)).toContainText(noise.tenants[0]?.name ?? nobody);
  await page.getByRole("button", { name: /Resume live updates/ }).click();
  await pool.query(
    "UPDATE sluice.destination_state SET hold_until = clock_timestamp() WHERE destination_id = $1",
    [customer.destinationId],
  );
});
