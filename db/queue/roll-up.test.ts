/** Attempts by minute: counted from the rows themselves, as often as one likes. On a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  leaseRows,
  makePlace,
  outcomeOf,
  type Place,
} from "#tests/support/queue-rows/sql.ts";
import { type FinishRow, finish } from "./finish.ts";
import { returnExpiredLeases } from "./reconcile.ts";
import { rollUpAttempts, summarizeAttempts } from "./sample-queue-age.ts";

const MINUTE_MS = 60_000;

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.attempt, sluice.attempt_rollup");
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

async function attempts(
  count: number,
  changes: Partial<FinishRow>,
  lane: "first" | "retry" = "first",
): Promise<void> {
  const ids = await makeDeliveries(database.pool, { ...place, lane, count });
  const token = await leaseRows(database.pool, ids);
  const rows = ids.map((id, index) => outcomeOf(id, token, { duration_ms: index + 1, ...changes }));
  expect((await finish(database.pool, rows)).size).toBe(count);
}

async function rolled(): Promise<Record<string, unknown>[]> {
  const result = await database.pool.query(
    "SELECT * FROM sluice.attempt_rollup ORDER BY minute, outcome, decision",
  );
  return result.rows;
}

describe("SIG-2 the attempts of a minute", () => {
  it("are counted by outcome and decision, with first attempts and durations", async () => {
    const startedMs = await databaseNowMs(database.pool);
    await attempts(20, { started_ms: startedMs });
    await attempts(5, { started_ms: startedMs }, "retry");
    await attempts(3, {
      started_ms: startedMs,
      decision: "delayed",
      outcome: "rate_limited",
      delay_ms: 9_000,
      status: 429,
    });
    await rollUpAttempts(database.pool);
    const minute = new Date(Math.floor(startedMs / MINUTE_MS) * MINUTE_MS);
    const { tenantId, destinationId } = place;
    const common = {
      minute,
      region: "us",
      tenant_id: tenantId,
      destination_id: destinationId,
      service_class: "routine",
    };
    expect(await rolled()).toMatchObject([
      {
        ...common,
        outcome: "delivered",
        attempts: 25,
        first_attempts: 20,
        duration_sum_ms: 225,
        duration_max_ms: 20,
        duration_p95_ms: 19,
      },
      {
        ...common,
        outcome: "rate_limited",
        decision: "delayed",
        attempts: 3,
        first_attempts: 3,
        duration_sum_ms: 6,
        duration_max_ms: 3,
      },
    ]);
  });

  it("are the same after a second run, and after two runs at once; later rows of an open minute are added", async () => {
    const startedMs = await databaseNowMs(database.pool);
    await attempts(4, { started_ms: startedMs });
    await rollUpAttempts(database.pool);
    const once = await rolled();
    await Promise.all(Array.from({ length: 4 }, () => rollUpAttempts(database.pool)));
    expect(await rolled()).toEqual(once);
    await attempts(6, { started_ms: startedMs });
    await rollUpAttempts(database.pool);
    expect(await rolled()).toMatchObject([{ attempts: 10, duration_sum_ms: 31 }]);
  });

  it("are exact at the edges of minutes", async () => {
    const minuteMs = Math.floor((await databaseNowMs(database.pool)) / MINUTE_MS) * MINUTE_MS;
    await attempts(2, { started_ms: minuteMs - MINUTE_MS });
    await attempts(3, { started_ms: minuteMs - 1 });
    await attempts(4, { started_ms: minuteMs });
    await rollUpAttempts(database.pool);
    expect(
      (await rolled()).map(({ minute, attempts: n }) => [(minute as Date).getTime() - minuteMs, n]),
    ).toEqual([
      [-MINUTE_MS, 5],
      [0, 4],
    ]);
  });

  it("hold every attempt, also one that is recorded long after it began", async () => {
    const nowMs = await databaseNowMs(database.pool);
    await attempts(2, { started_ms: nowMs });
    // The database did not answer for ten minutes; a worker died and its region was down.
    await attempts(3, { started_ms: nowMs - 10 * MINUTE_MS });
    const ids = await makeDeliveries(database.pool, place);
    await leaseRows(database.pool, ids, { untilInMs: -1, leasedAgoMs: 7 * MINUTE_MS });
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    await rollUpAttempts(database.pool);
    const total = (await rolled()).reduce((sum, row) => sum + Number(row.attempts), 0);
    expect(total).toBe(await countRows(database.pool, "attempt"));
  });
});

/** Attempts of this moment that count as recorded an hour ago, as a busy day has them. */
async function fillDay(count: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                 due_at, started_at, duration_ms, outcome, decision, recorded_at)
     SELECT gen_random_uuid(), 'us', gen_random_uuid(), $1, $2, 'routine', 'first', 1, 'http', 1, gen_random_uuid(),
            now(), now(), 5, 'delivered', 'delivered', now() - interval '1 hour' FROM generate_series(1, $3::integer)`,
    [place.tenantId, place.destinationId, count],
  );
}

/** Rows that a look for the last two minutes reads in vain. */
async function readInVain(): Promise<number> {
  const client = await database.pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SET LOCAL enable_seqscan = off");
    const { rows } = await client.query<{ "QUERY PLAN": unknown }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)
       SELECT count(*) FROM sluice.attempt a WHERE a.recorded_at >= now() - interval '2 minutes'`,
    );
    const text = JSON.stringify(rows[0]?.["QUERY PLAN"]);
    expect(text).toContain("recorded_at_idx");
    return [...text.matchAll(/"Rows Removed by Index Recheck":(\d+)/g)].reduce(
      (sum, [, removed]) => sum + Number(removed),
      0,
    );
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

describe("the indexes by time", () => {
  it("are brought up to date without a vacuum, so that a look for new attempts does not read the day", async () => {
    // Nobody else may do it in between.
    await database.pool.query(
      `DO $$ BEGIN EXECUTE format('ALTER TABLE sluice.%I SET (autovacuum_enabled = off)', 'attempt_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')); END $$`,
    );
    await fillDay(20_000);
    await attempts(3, { started_ms: await databaseNowMs(database.pool) });
    expect(await readInVain()).toBeGreaterThan(18_000);
    expect(await summarizeAttempts(database.pool)).toBeGreaterThan(10);
    expect(await readInVain()).toBeLessThan(2_000);
    expect(await summarizeAttempts(database.pool)).toBe(0);
    const before = await countRows(database.pool, "attempt");
    await rollUpAttempts(database.pool);
    const total = (await rolled()).reduce((sum, row) => sum + Number(row.attempts), 0);
    expect(total).toBe(before);
  });
});
