/** The sums of a quarter of an hour are those of its minutes, whatever is counted late or anew, and the running one is told by its minutes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { END_BUCKETS, FIRST_AGE_BOUNDS_MS } from "#domain/series.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import type { Reader } from "./read-region.ts";
import { type CountRow, readCounts } from "./series-rows.ts";

const QUARTER_MS = 900_000;
const MINUTE_MS = 60_000;
const MINUTES = 200;
/** In the middle of a quarter, minutes into an hour: steps of two hours begin earlier. */
const TO_MS = Date.UTC(2026, 0, 15, 9, 37);
const REGION = { kind: "region", tenantIds: null } as const;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const sql: Reader = async (text, values) =>
  (await database.pool.query(text, values ? [...values] : [])).rows as never;

/** Counts minutes: `n` is different for each minute and class. Repeating it with another factor counts them anew. */
async function count(fromMinute: number, minutes: number, factor: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.series_minute (minute, service_class, region, requests, delivered, rate_limited, permanent, server_error, network, blocked,
            leases_expired, died, first_ages, first_age_max_ms, services, service_max_ms, ends, end_attempts, gaps)
     SELECT to_timestamp($1::float8 / 1000) - n * interval '1 minute', c.class, 'us', n * $4, n, 1, 2, 3, 4, 5, 6, 7,
            ARRAY(SELECT (n + i) * $4 FROM generate_series(1, $5::integer) i), n * 10, '{}', 0,
            ARRAY(SELECT n + i FROM generate_series(1, $6::integer) i), n, '{}'
       FROM generate_series($2::integer, $2::integer + $3::integer - 1) n
      CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class)
      WHERE n % 7 <> 0 OR c.class = 'urgent'
     ON CONFLICT (minute, tenant_id, destination_id, service_class) DO UPDATE
        SET requests = EXCLUDED.requests, first_ages = EXCLUDED.first_ages`,
    [TO_MS, fromMinute, minutes, factor, FIRST_AGE_BOUNDS_MS.length + 1, END_BUCKETS],
  );
}

/** By steps of 15 minutes, from the minutes themselves: a span that begins within a quarter is never read by quarters. */
async function byMinutes(fromMs: number, stepMs: number): Promise<CountRow[]> {
  const rows = await readCounts(sql, REGION, {
    from: new Date(fromMs),
    to: new Date(TO_MS),
    stepMs: MINUTE_MS,
  });
  const steps = new Map<string, CountRow>();
  for (const row of rows) {
    const t = Math.floor(row.t / stepMs) * stepMs;
    const key = `${t} ${row.service_class}`;
    const known = steps.get(key);
    if (known === undefined) {
      steps.set(key, { ...row, t });
      continue;
    }
    for (const column of [
      "requests",
      "delivered",
      "rate_limited",
      "permanent",
      "server_error",
      "network",
    ] as const)
      known[column] += row[column];
    for (const column of ["blocked", "leases_expired", "died", "end_attempts"] as const)
      known[column] += row[column];
    known.first_age_max_ms = Math.max(known.first_age_max_ms, row.first_age_max_ms);
    known.first_ages = known.first_ages.map((n, index) => n + (row.first_ages[index] ?? 0));
    known.ends = known.ends.map((n, index) => n + (row.ends[index] ?? 0));
  }
  return [...steps.values()];
}

const inOrder = (rows: readonly CountRow[]) =>
  rows.toSorted((one, two) => one.t - two.t || one.service_class.localeCompare(two.service_class));

test("a long range is the same by quarters and by minutes, after late minutes and after ones that are counted anew", async () => {
  await count(1, MINUTES, 1);
  // Attempts that were recorded late, and a minute after the last whole one, which no answer may hold yet.
  await count(MINUTES, 40, 1);
  await count(5, 30, 3);
  await count(-1, 2, 1);
  const fromMs = Math.floor((TO_MS - (MINUTES + 60) * MINUTE_MS) / QUARTER_MS) * QUARTER_MS;
  for (const stepMs of [QUARTER_MS, 8 * QUARTER_MS]) {
    const from = Math.floor(fromMs / stepMs) * stepMs;
    const quarters = await readCounts(sql, REGION, { from: new Date(from), to: new Date(TO_MS), stepMs });
    expect(inOrder(quarters)).toEqual(inOrder(await byMinutes(from, stepMs)));
    expect(quarters.length).toBeGreaterThan(2);
  }
  // That they were read at all: without its quarters the range is empty but for the running one.
  await database.pool.query("DELETE FROM sluice.series_quarter");
  const left = await readCounts(sql, REGION, {
    from: new Date(fromMs),
    to: new Date(TO_MS),
    stepMs: QUARTER_MS,
  });
  expect(new Set(left.map((row) => row.t)).size).toBe(1);
});
