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
import { rollUpAttempts } from "./sample-queue-age.ts";

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
