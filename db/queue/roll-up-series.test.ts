/** The minutes that charts read: counted from the attempts themselves, at three levels, as often as one likes. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FIRST_AGE_BOUNDS_MS } from "#domain/series.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { countRows, databaseNowMs, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { rollUpSeries } from "./roll-up-series.ts";

const MINUTE_MS = 60_000;

let database: TestDatabase;
let place: Place;
let minuteMs: number;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.attempt, sluice.series_minute");
  await forget();
  place = await makePlace(database.pool);
  // A whole minute that is over, so that the test does not depend on when it runs.
  minuteMs = Math.floor((await databaseNowMs(database.pool)) / MINUTE_MS) * MINUTE_MS - 5 * MINUTE_MS;
});

afterAll(() => database.drop());

/** As if nothing had ever been counted. */
async function forget(): Promise<void> {
  await database.pool.query("UPDATE sluice.series_run SET rolled_at = 'epoch'");
}

interface Attempt {
  delivery?: string;
  at?: number;
  /** Due this long before the attempt began. */
  lateMs?: number;
  lane?: "first" | "retry";
  kind?: "http" | "not_sent" | "lease_expired";
  number?: number;
  outcome?: string;
  decision?: "delivered" | "delayed" | "dead";
  durationMs?: number;
  from?: Place;
  serviceClass?: "urgent" | "routine";
}

async function attempt(fields: Attempt = {}): Promise<string> {
  const {
    delivery = randomUUID(),
    lateMs = 0,
    lane = "first",
    kind = "http",
    number = 1,
    from = place,
  } = fields;
  const at = fields.at ?? minuteMs;
  await database.pool.query(
    `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                 due_at, started_at, duration_ms, outcome, decision)
     VALUES (gen_random_uuid(), 'us', $1, $2, $3, $4, $5, 1, $6, $7, gen_random_uuid(), to_timestamp($8::float8 / 1000),
             to_timestamp($9::float8 / 1000), $10, $11, $12)`,
    [
      delivery,
      from.tenantId,
      from.destinationId,
      fields.serviceClass ?? "routine",
      lane,
      kind,
      number,
      at - lateMs,
      at,
      fields.durationMs ?? 20,
      fields.outcome ?? "delivered",
      fields.decision ?? "delivered",
    ],
  );
  return delivery;
}

type Row = Record<string, unknown> & { first_ages: number[]; ends: number[]; gaps: number[] };

/** The rows of one level, oldest first. */
async function level(where: string): Promise<Row[]> {
  const result = await database.pool.query<Row>(
    `SELECT * FROM sluice.series_minute WHERE ${where} ORDER BY minute, service_class`,
  );
  return result.rows;
}

const REGION = "tenant_id IS NULL";
const TENANT = "tenant_id IS NOT NULL AND destination_id IS NULL";
const DESTINATION = "destination_id IS NOT NULL";

describe("SIG-2 the attempts of a minute", () => {
  it("are counted in the groups that charts draw, and a lost lease is in none of them", async () => {
    const outcomes: [string, Attempt["decision"], string][] = [
      ["delivered", "delivered", "delivered"],
      ["rate_limited", "delayed", "rate_limited"],
      ["rejected", "dead", "permanent"],
      ["redirect", "dead", "permanent"],
      ["gone", "dead", "permanent"],
      ["server_error", "delayed", "server_error"],
      ["transient_status", "delayed", "server_error"],
      ["timeout", "delayed", "network"],
      ["network", "delayed", "network"],
      ["shutdown", "delayed", "network"],
    ];
    for (const [outcome, decision] of outcomes) await attempt({ outcome, decision: decision ?? "delayed" });
    await attempt({ kind: "not_sent", number: 0, outcome: "blocked_address", decision: "dead" });
    await attempt({ kind: "lease_expired", outcome: "lease_expired", decision: "delayed" });
    await rollUpSeries(database.pool);
    const counts = {
      requests: 10,
      delivered: 1,
      rate_limited: 1,
      permanent: 3,
      server_error: 2,
      network: 3,
      blocked: 1,
      leases_expired: 1,
      died: 4,
    };
    for (const where of [REGION, TENANT, DESTINATION]) expect(await level(where)).toMatchObject([counts]);
  });

  it("are summed for the region and the tenant, and stay apart by destination and class", async () => {
    const other = await makePlace(database.pool, { tenantId: place.tenantId });
    await attempt();
    await attempt({ from: other });
    await attempt({ from: other, serviceClass: "urgent" });
    await rollUpSeries(database.pool);
    expect((await level(REGION)).map((row) => [row.service_class, row.requests])).toEqual([
      ["urgent", 1],
      ["routine", 2],
    ]);
    expect((await level(TENANT)).map((row) => row.requests)).toEqual([1, 2]);
    expect((await level(DESTINATION)).map((row) => row.requests).sort()).toEqual([1, 1, 1]);
  });

  it("are the same after runs at once and runs again; later rows are added, whole minutes anew", async () => {
    for (let n = 0; n < 4; n += 1) await attempt();
    await Promise.all(Array.from({ length: 4 }, () => rollUpSeries(database.pool, 0)));
    const once = await level("true");
    expect(once).toHaveLength(3);
    await rollUpSeries(database.pool, 0);
    expect(await level("true")).toEqual(once);
    await attempt();
    await rollUpSeries(database.pool, 0);
    expect(await level(REGION)).toMatchObject([{ requests: 5 }]);
  });

  it("are counted by one process at a time, and not again at once", async () => {
    await attempt();
    expect(await rollUpSeries(database.pool, 60_000)).toBe(3);
    await attempt();
    expect(await rollUpSeries(database.pool, 60_000)).toBe(0);
    expect(await rollUpSeries(database.pool, 0)).toBe(3);
  });
});

describe("SIG-1 first-attempt age of tried deliveries", () => {
  it("counts from the due time to the first request, in the bucket that the age ends in", async () => {
    for (const lateMs of [0, 10, 11, 15_000, 15_001, 120_000, 120_001, 99_999_999]) await attempt({ lateMs });
    // Later attempts are no first ones, whatever their lag.
    await attempt({ lane: "retry", number: 2, lateMs: 500_000 });
    await rollUpSeries(database.pool);
    const [row] = await level(REGION);
    const bucket = (bound: number) => FIRST_AGE_BOUNDS_MS.indexOf(bound as never);
    const expected = new Array<number>(FIRST_AGE_BOUNDS_MS.length + 1).fill(0);
    const counted = [10, 10, 25, 15_000, 30_000, 120_000, 180_000].map(bucket);
    for (const index of [...counted, FIRST_AGE_BOUNDS_MS.length])
      expected[index] = (expected[index] ?? 0) + 1;
    expect(row?.first_ages).toEqual(expected);
    expect(row?.first_age_max_ms).toBe(99_999_999);
  });

  it("LEASE-3 after a lost lease the age still counts from the first due time", async () => {
    const delivery = await attempt({
      kind: "lease_expired",
      outcome: "lease_expired",
      decision: "delayed",
      at: minuteMs - 40_000,
      lateMs: 5_000,
    });
    await attempt({ delivery, number: 2, lateMs: 1_000 });
    await rollUpSeries(database.pool);
    expect((await level(REGION)).at(-1)?.first_age_max_ms).toBe(45_000);
  });
});

describe("SIG-3 amplification", () => {
  it("keeps for each request how long before it the last one of its delivery began", async () => {
    const delivery = await attempt({
      at: minuteMs - 14 * MINUTE_MS,
      decision: "delayed",
      outcome: "network",
    });
    await attempt({
      delivery,
      number: 2,
      lane: "retry",
      at: minuteMs - MINUTE_MS,
      decision: "delayed",
      outcome: "network",
    });
    await attempt({
      delivery,
      number: 3,
      lane: "retry",
      at: minuteMs,
      decision: "delayed",
      outcome: "network",
    });
    await attempt({ delivery, number: 4, lane: "retry", at: minuteMs + 30_000 });
    await attempt();
    await rollUpSeries(database.pool);
    const rows = await level(REGION);
    expect(rows.map(({ requests, gaps }) => [requests, gaps.findIndex((count) => count > 0)])).toEqual([
      [1, -1],
      [1, 13],
      [3, 0],
    ]);
    expect(rows.at(-1)?.gaps.slice(0, 2)).toEqual([1, 1]);
    // One delivery ended at its fourth attempt, one at its first.
    expect(rows.at(-1)?.ends.slice(0, 4)).toEqual([1, 0, 0, 1]);
    expect(rows.at(-1)?.end_attempts).toBe(5);
  });
});

it("minutes older than the longest range are removed", async () => {
  await attempt();
  await rollUpSeries(database.pool);
  await database.pool.query("UPDATE sluice.series_minute SET minute = minute - interval '9 days'");
  await rollUpSeries(database.pool);
  expect(await countRows(database.pool, "series_minute WHERE minute < now() - interval '8 days'")).toBe(0);
});
