/** The kept sums are those of their minutes and samples, whatever comes late or anew, and what is not summed yet is told by these. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { END_BUCKETS, FIRST_AGE_BOUNDS_MS, SERVICE_BOUNDS_MS } from "#domain/series.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import { sumSeries } from "../queue/sum-series.ts";
import type { Reader } from "./read-region.ts";
import type { SeriesLevel } from "./series-level.ts";
import { type CountRow, readCounts, readSamples } from "./series-rows.ts";

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

interface Counted {
  readonly toMs: number;
  /** Null: of the region. */
  readonly tenantId?: string | null;
  readonly destinationId?: string | null;
}

/** Counts minutes: `n` is different for each minute and class. Repeating it with another factor counts them anew. */
async function count(
  fromMinute: number,
  minutes: number,
  factor: number,
  { toMs, tenantId = null, destinationId = null }: Counted = { toMs: TO_MS },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.series_minute (minute, service_class, region, requests, delivered, rate_limited, permanent, server_error, network, blocked,
            leases_expired, died, first_ages, first_age_max_ms, services, service_max_ms, ends, end_attempts, gaps, tenant_id, destination_id)
     SELECT to_timestamp($1::float8 / 1000) - n * interval '1 minute', c.class, 'us', n * $4, n, 1, 2, 3, 4, 5, 6, 7,
            ARRAY(SELECT (n + i) * $4 FROM generate_series(1, $5::integer) i), n * 10, ARRAY(SELECT n * i FROM generate_series(1, $9::integer) i), n * 20,
            ARRAY(SELECT n + i FROM generate_series(1, $6::integer) i), n, '{}', $7::uuid, $8::uuid
       FROM generate_series($2::integer, $2::integer + $3::integer - 1) n
      CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class)
      WHERE n % 7 <> 0 OR c.class = 'urgent'
     ON CONFLICT (minute, tenant_id, destination_id, service_class) DO UPDATE
        SET requests = EXCLUDED.requests, first_ages = EXCLUDED.first_ages`,
    [
      toMs,
      fromMinute,
      minutes,
      factor,
      FIRST_AGE_BOUNDS_MS.length + 1,
      END_BUCKETS,
      tenantId,
      destinationId,
      SERVICE_BOUNDS_MS.length + 1,
    ],
  );
}

const ADDED = [
  "requests",
  "delivered",
  "rate_limited",
  "permanent",
  "server_error",
  "network",
  "blocked",
  "leases_expired",
  "died",
  "end_attempts",
] as const;
const HIGHEST = ["first_age_max_ms", "service_max_ms"] as const;
const BY_BUCKET = ["first_ages", "ends", "services"] as const;

/** By steps, from the minutes themselves: a span in steps of a minute is never read by sums. */
async function byMinutes(
  fromMs: number,
  stepMs: number,
  level: SeriesLevel = REGION,
  toMs = TO_MS,
): Promise<CountRow[]> {
  const span = { from: new Date(fromMs), to: new Date(toMs), stepMs: MINUTE_MS };
  const steps = new Map<string, CountRow>();
  for (const row of await readCounts(sql, level, span)) {
    const t = Math.floor(row.t / stepMs) * stepMs;
    const key = `${t} ${row.service_class}`;
    const known = steps.get(key);
    if (known === undefined) {
      steps.set(key, { ...row, t });
      continue;
    }
    for (const column of ADDED) known[column] += row[column];
    for (const column of HIGHEST) known[column] = Math.max(known[column], row[column]);
    for (const column of BY_BUCKET)
      known[column] = known[column].map((n, index) => n + (row[column][index] ?? 0));
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

/** The whole minute that is running. */
async function thisMinuteMs(): Promise<number> {
  const { rows } = await database.pool.query<{ ms: number }>(
    "SELECT (extract(epoch FROM date_trunc('minute', clock_timestamp())) * 1000)::float8 AS ms",
  );
  return rows[0]?.ms ?? 0;
}

/** As after `hours` in which workers counted and nobody summed. */
async function beginSums(toMs: number, hours: number): Promise<void> {
  await database.pool.query("UPDATE sluice.series_run SET rolled_at = clock_timestamp()");
  await database.pool.query(
    `UPDATE sluice.series_summed SET summed_to = date_bin('1 hour', to_timestamp($1::float8 / 1000) - $2::integer * interval '1 hour', 'epoch')`,
    [toMs, hours],
  );
}

const summed = async () => {
  let hours = 0;
  for (let last = 1; last > 0; hours += last) last = await sumSeries(database.pool);
  return hours;
};

test("a tenant's and a destination's range is the same by sums and by minutes: before they are summed, after, and when some come late or anew", async () => {
  const toMs = await thisMinuteMs();
  const [tenantId, destinationId, otherId] = [randomUUID(), randomUUID(), randomUUID()];
  const tenant = { kind: "tenant", tenantId } as const;
  const destination = { kind: "destination", tenantId, destinationId } as const;
  const scope = { kind: "region", tenantIds: [tenantId, otherId] } as const;
  const levels: [SeriesLevel, number][] = [
    [tenant, QUARTER_MS],
    [tenant, 8 * QUARTER_MS],
    [scope, QUARTER_MS],
    [destination, 4 * QUARTER_MS],
    [destination, 8 * QUARTER_MS],
  ];
  const HOURS = 5;
  const expectSame = async () => {
    for (const [level, stepMs] of levels) {
      const fromMs = Math.floor((toMs - HOURS * 60 * MINUTE_MS) / stepMs) * stepMs;
      const rows = await readCounts(sql, level, { from: new Date(fromMs), to: new Date(toMs), stepMs });
      expect(inOrder(rows)).toEqual(inOrder(await byMinutes(fromMs, stepMs, level, toMs)));
      expect(rows.length).toBeGreaterThan(4);
    }
  };
  await count(10, HOURS * 60, 1, { toMs, tenantId });
  await count(20, HOURS * 60, 2, { toMs, tenantId: otherId });
  await count(10, HOURS * 60, 1, { toMs, tenantId, destinationId });
  await beginSums(toMs, HOURS + 2);
  await expectSame();
  expect(await summed()).toBeGreaterThanOrEqual(HOURS);
  await expectSame();
  // A late minute and one that is counted anew, in hours that are summed: told by the minutes again until they are.
  await count(200, 3, 5, { toMs, tenantId, destinationId });
  await count(200, 3, 5, { toMs, tenantId });
  await count(1, 5, 1, { toMs, tenantId });
  await expectSame();
  expect(await summed()).toBeGreaterThan(1);
  await expectSame();
  const kept = await database.pool.query("SELECT s.*, s.xmin FROM sluice.series_sum s ORDER BY 1, 2, 3, 4");
  // A repeat from the begin changes nothing, and writes nothing.
  await beginSums(toMs, HOURS + 2);
  await summed();
  const again = await database.pool.query("SELECT s.*, s.xmin FROM sluice.series_sum s ORDER BY 1, 2, 3, 4");
  expect(again.rows).toEqual(kept.rows);
  // That they were read at all: without them only the minutes since are left.
  await database.pool.query("DELETE FROM sluice.series_sum");
  for (const [level, stepMs] of levels) {
    const from = new Date(Math.floor((toMs - HOURS * 60 * MINUTE_MS) / stepMs) * stepMs);
    const left = await readCounts(sql, level, { from, to: new Date(toMs), stepMs });
    expect(Math.min(...left.map((row) => row.t))).toBeGreaterThan(toMs - 70 * MINUTE_MS - stepMs);
  }
});

test("a tenant's samples are the same by sums and by themselves, with samplings that found nothing and ones that failed", async () => {
  const toMs = await thisMinuteMs();
  const tenantId = randomUUID();
  const HOURS = 5;
  const take = (minute: number, ok: boolean, values: string | null) =>
    database.pool.query(
      `WITH r AS (INSERT INTO sluice.sample_run (at, scope, region, ok)
                  VALUES (to_timestamp($1::float8 / 1000) - $2::integer * interval '1 minute', 'tenant', 'us', $3) RETURNING at)
       INSERT INTO sluice.queue_sample (at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms,
                                        gated_count, ready, delayed, in_flight, dead)
       SELECT r.at, 'tenant', $4::uuid, c.class, 'us', ${values ?? "0, 0, 0, 0, 0, 0, 0, 0, 0, 0"} FROM r
        CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class) WHERE ${values !== null}`,
      [toMs, minute, ok, tenantId],
    );
  for (let minute = 1; minute <= HOURS * 60; minute++) {
    // Half an hour without any sampling, one with failed ones only, and every fifth sampling without a row of the tenant.
    if (minute >= 130 && minute < 190) continue;
    const ok = minute < 60 || minute >= 110;
    const values = `${minute * 7}, ${minute}, ${minute * 5}, ${minute % 11}, ${minute * 3}, 0, 1, 1, ${minute % 13}, ${minute % 17}`;
    await take(minute, ok, ok && minute % 5 !== 0 ? values : null);
  }
  const level = { kind: "tenant", tenantId } as const;
  // It begins within a step, as a range of a week does.
  const from = new Date(toMs - (HOURS * 60 - 7) * MINUTE_MS - 1_234);
  const read = () => readSamples(sql, level, { from, to: new Date(toMs), stepMs: 2 * QUARTER_MS });
  await beginSums(toMs, HOURS + 2);
  const before = await read();
  expect(before.length).toBeGreaterThan(4);
  expect(before.length).toBeLessThanOrEqual(2 * HOURS);
  await summed();
  expect(await countRows(database.pool, "queue_sample_30m")).toBeGreaterThan(4);
  expect(await read()).toEqual(before);
  // A sample of an hour that is summed sets the sums back, and is in the next one.
  await take(150, true, "999999, 1, 1, 1, 1, 0, 1, 1, 1, 1");
  const late = await read();
  expect(Math.max(...late.map((row) => row.oldest_ms))).toBe(999_999);
  await summed();
  expect(await read()).toEqual(late);
});

interface PlanNode {
  "Relation Name"?: string;
  "Actual Loops": number;
  Plans?: PlanNode[];
}

test("the samples of the last hour are summed once, though Postgres expects none that new", async () => {
  const { pool } = database;
  await pool.query("TRUNCATE sluice.sample_run, sluice.queue_sample");
  const take = (from: string, to: string) =>
    pool.query(
      `WITH r AS (INSERT INTO sluice.sample_run (at, scope, region, ok)
                  SELECT t, 'class', 'us', true FROM generate_series(${from}, ${to}, interval '5 seconds') t RETURNING at)
       INSERT INTO sluice.queue_sample (at, scope, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count, held_age_ms,
                                        gated_count, ready, delayed, in_flight, dead)
       SELECT r.at, 'class', 'routine', 'us', 7, 1, 1, 0, 0, 0, 1, 0, 0, 0 FROM r`,
    );
  await take("clock_timestamp() - interval '4 hours'", "clock_timestamp() - interval '2 hours'");
  await pool.query("ANALYZE sluice.sample_run, sluice.queue_sample");
  await take("clock_timestamp() - interval '1 hour'", "clock_timestamp()");
  const scans: PlanNode[] = [];
  const visit = (node: PlanNode): void => {
    if (["sample_run", "queue_sample"].includes(node["Relation Name"] ?? "")) scans.push(node);
    for (const child of node.Plans ?? []) visit(child);
  };
  const explain: Reader = async (text, values) => {
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values ? [...values] : []);
    visit(rows[0]["QUERY PLAN"][0].Plan);
    return [];
  };
  const toMs = Date.now();
  const span = { from: new Date(toMs - 60 * MINUTE_MS), to: new Date(toMs + MINUTE_MS), stepMs: 15_000 };
  await readSamples(explain, REGION, span);
  expect(scans.map((node) => node["Actual Loops"])).toEqual([1, 1]);
  expect((await readSamples(sql, REGION, span)).every((row) => row.oldest_ms === 7)).toBe(true);
});
