/** The series: gaps are gaps, zero is zero, and a stopped sampler is no data. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { type AgeSeries, readAgeSeries, SERIES_RANGES, withGaps } from "./read-age-series.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addSample } from "./test-rows.ts";

let regions: TestRegions;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
});

afterEach(async () => {
  await regions.us.pool.query("TRUNCATE sluice.sample_run, sluice.queue_sample");
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function series(range: keyof typeof SERIES_RANGES = "15m"): Promise<AgeSeries> {
  const answer = await readAgeSeries(EVERYWHERE, "us", range);
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

test("no sampling at all is no data and no point", async () => {
  expect(await series()).toMatchObject({ sampling: false, lastSampleAt: null, points: [] });
});

test("a sampler that stopped a minute ago is said to have stopped; its old points stay", async () => {
  await addSample(regions.us.pool, "us", { secondsAgo: 60, firstAttemptMs: 5_000, dueMs: 100 });
  const data = await series();
  expect(data.sampling).toBe(false);
  expect(data.points).toMatchObject([{ firstAttemptMs: 5_000, dueMs: 100 }]);
});

test("SIG-5 a successful sampling without rows is zero, a failed one is a gap", async () => {
  const { pool } = regions.us;
  await pool.query(
    "INSERT INTO sluice.sample_run (at, scope, region, ok) VALUES (clock_timestamp(), 'class', 'us', true)",
  );
  await pool.query(
    `INSERT INTO sluice.sample_run (at, scope, region, ok, error)
     VALUES (clock_timestamp() - interval '5 minutes', 'class', 'us', false, 'no answer')`,
  );
  const data = await series();
  expect(data.sampling).toBe(true);
  expect(data.points).toMatchObject([{ firstAttemptMs: 0, dueMs: 0 }]);
});

test("samples at 0, 1 and 31 minutes leave one empty point between the last two", () => {
  const at = (minutes: number) => ({ t: minutes * 60_000, firstAttemptMs: 1, dueMs: 1, dueCount: 1 });
  const points = withGaps([at(0), at(1), at(31)], 60_000);
  expect(points.map(({ t, firstAttemptMs }) => [t / 60_000, firstAttemptMs])).toEqual([
    [0, 1],
    [1, 1],
    [2, null],
    [31, 1],
  ]);
});

test("the worst sample of a step is the one that is shown", async () => {
  for (let secondsAgo = 600; secondsAgo < 720; secondsAgo += 1) {
    await addSample(regions.us.pool, "us", {
      secondsAgo,
      firstAttemptMs: secondsAgo === 660 ? 90_000 : 10,
      dueMs: 0,
    });
  }
  const data = await series("24h");
  expect(Math.max(...data.points.map((point) => point.firstAttemptMs ?? 0))).toBe(90_000);
  expect(data.points.length).toBeLessThan(5);
});

test("no range has more points than a chart can draw", () => {
  for (const { rangeMs, stepMs } of Object.values(SERIES_RANGES))
    expect(rangeMs / stepMs).toBeLessThanOrEqual(360);
});
