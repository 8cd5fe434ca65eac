/**
 * FAIR-3, FAIR-4, FAIR-5: depth never hides anybody. New work of others starts at once beside tens of thousands of due
 * rows, retries and replays stop at their part of the slots, and one tenant alone may use all that is left.
 */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  type DeliveryOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
} from "#tests/support/factories.ts";
import { makeBatch } from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, countStarts, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;
const CHUNK = 10_000;
/** What a destination with a cap of 10 and answers after 20 ms can start in a second. */
const A_SECOND = 500;

let database: TestDatabase;
let receiver: Receiver;
let workers: TestWorker[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver({ recording: { recordLimit: 0 } });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await receiver.close();
  await database.drop();
});

async function start(options: TestWorkerOptions = {}): Promise<void> {
  workers.push(await startTestWorker(database, { logLevel: "warn", ...options }));
}

interface Lane {
  readonly tenantId: string;
  readonly destinationId: string;
}

async function laneOf(path: string, options: { tenantId?: string; cap?: number } = {}): Promise<Lane> {
  const tenantId = options.tenantId ?? (await makeTenant(database.pool, { concurrencyLimit: 1_000 }));
  const url = `${receiver.url}${path}`;
  return {
    tenantId,
    destinationId: await makeDestination(database.pool, tenantId, {
      url,
      concurrencyLimit: options.cap ?? 10,
    }),
  };
}

async function fill(lane: Lane, count: number, more: Partial<DeliveryOptions> = {}): Promise<void> {
  for (let left = count; left > 0; left -= CHUNK) {
    await makeDeliveries(database.pool, { ...lane, count: Math.min(left, CHUNK), dueInMs: -60_000, ...more });
  }
}

/**
 * Adds one row that is due now and returns how many attempts of the crowds started before its own first one: who waits behind a
 * crowd waits for all of it, on a fast machine and on a slow one.
 */
async function overtakenBy(
  crowds: readonly string[],
  lane: Lane,
  more: Partial<DeliveryOptions> = {},
): Promise<number> {
  const [id = ""] = await makeDeliveries(database.pool, { ...lane, ...more });
  const { first_due_ms: dueMs } = await readDelivery(database.pool, id);
  await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered", {
    timeoutMs: LONG_MS,
  });
  const [attempt] = await readAttempts(database.pool, id);
  const startedMs = attempt?.started_ms ?? Number.NaN;
  const counts = await Promise.all(crowds.map((id) => countStarts(database.pool, id, dueMs, startedMs)));
  return counts.reduce((sum, count) => sum + count, 0);
}

describe("50,000 due rows of one tenant whose destination has a cap of 10", () => {
  it(
    "FAIR-5 fault 16: a new row of another tenant starts within a second of them",
    async () => {
      const deep = await laneOf("/ok/deep?ms=20");
      await fill(deep, 50_000);
      await start();
      await receiver.waitFor("deep", (stats) => stats.requests > 200, LONG_MS);
      const crowd = [deep.destinationId];
      for (let n = 0; n < 3; n++) {
        expect(await overtakenBy(crowd, await laneOf(`/ok/quiet-${n}`))).toBeLessThan(A_SECOND);
      }
      // And behind a burst that came a moment before it.
      await fill(deep, 10_000, { dueInMs: 0 });
      expect(await overtakenBy(crowd, await laneOf("/ok/quiet-burst"))).toBeLessThan(A_SECOND);
      const before = receiver.stats("deep").requests;
      await receiver.waitFor("deep", (stats) => stats.requests > before, LONG_MS);
      expect(receiver.stats("deep").peakConcurrency).toBeLessThanOrEqual(10);
      expect((await countDeliveries(database.pool)).ready).toBeGreaterThan(10_000);
    },
    LONG_MS * 2,
  );
});

describe("10,000 due retries of one tenant", () => {
  it(
    "FAIR-3 fault 18: a new row of another starts within 5 s of them, and retries stay at 40 % of the slots",
    async () => {
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      const crowd: string[] = [];
      for (let n = 0; n < 10; n++) {
        const lane = await laneOf(`/ok/again/${n}?ms=100`, { tenantId, cap: 100 });
        await fill(lane, 1_000, { lane: "retry" });
        crowd.push(lane.destinationId);
      }
      await start({ slots: 50 });
      await waitFor(() => receiver.totals().requests > 200, { timeoutMs: LONG_MS });
      expect(await overtakenBy(crowd, await laneOf("/ok/fresh"))).toBeLessThan(5 * 200);
      // The new row's own request is one more.
      expect(receiver.totals().peakConcurrency).toBeGreaterThanOrEqual(19);
      expect(receiver.totals().peakConcurrency).toBeLessThanOrEqual(21);
    },
    LONG_MS * 2,
  );
});

describe("the parts of the slots", () => {
  it("FAIR-3 fault 16: first attempts of one tenant alone use every slot", async () => {
    const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
    // Answered so slowly that the last of forty is out before the first one is back, also on a slow machine.
    await fill(await laneOf("/ok/all?ms=500", { tenantId, cap: 1_000 }), 500);
    await start({ slots: 40 });
    await receiver.waitFor("all", (stats) => stats.peakConcurrency >= 40, LONG_MS);
    expect(receiver.stats("all").peakConcurrency).toBe(40);
  });

  it("FAIR-3 FAIR-11 replays stay at 10 %, also when everything else is idle", async () => {
    const lane = await laneOf("/ok/replay?ms=100", { cap: 1_000 });
    await makeReplays(lane, 60);
    await start({ slots: 50 });
    await receiver.waitFor("replay", (stats) => stats.requests === 60, LONG_MS);
    expect(receiver.stats("replay").peakConcurrency).toBeLessThanOrEqual(5);
    expect(receiver.stats("replay").peakConcurrency).toBeGreaterThan(1);
  });

  it(
    "FAIR-3 a flood of retries and replays leaves the rest of the slots to first attempts",
    async () => {
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      await fill(await laneOf("/ok/flood/retry?ms=100", { tenantId, cap: 1_000 }), 2_000, { lane: "retry" });
      await makeReplays(await laneOf("/ok/flood/replay?ms=100", { tenantId, cap: 1_000 }), 500);
      await start({ slots: 50 });
      await waitFor(() => receiver.totals().requests > 60, { timeoutMs: LONG_MS });
      await fill(await laneOf("/ok/flood/first?ms=300", { cap: 1_000 }), 300);
      await receiver.waitFor("flood/first", (stats) => stats.requests === 300, LONG_MS);
      expect(receiver.stats("flood/retry").peakConcurrency).toBeLessThanOrEqual(20);
      expect(receiver.stats("flood/replay").peakConcurrency).toBeLessThanOrEqual(5);
      expect(receiver.stats("flood/first").peakConcurrency).toBeGreaterThanOrEqual(25);
    },
    LONG_MS * 2,
  );
});

describe("service classes", () => {
  it("FAIR-4 an urgent row overtakes thousands of routine ones of its own destination", async () => {
    const lane = await laneOf("/ok/bulk?ms=20", { cap: 4 });
    await fill(lane, 5_000, { serviceClass: "routine" });
    await start();
    await receiver.waitFor("bulk", (stats) => stats.requests > 100, LONG_MS);
    for (let n = 0; n < 3; n++)
      expect(await overtakenBy([lane.destinationId], lane, { serviceClass: "urgent" })).toBeLessThan(200);
    expect((await countDeliveries(database.pool)).ready).toBeGreaterThan(1_000);
  });
});

/** Rows as an approved batch releases them. */
async function makeReplays(lane: Lane, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => uuidV7(Date.now(), randomBytes));
  await database.pool.query(
    `WITH batch AS (SELECT $1::uuid AS id),
     i AS MATERIALIZED (SELECT unnest($2::uuid[]) AS id),
     p AS (INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
           SELECT i.id, rc.region, '{}', 'application/json', 2 FROM i, sluice.region_control rc)
     INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                  state, lane, cycle, attempts, replay_batch_id)
     SELECT i.id, rc.region, $3, $4, i.id, 2, 'test.event', 'key-' || i.id, 'routine', 'delayed', 'replay', 2, 8, b.id
       FROM i, batch b, sluice.region_control rc`,
    [await makeBatch(database.pool, "running"), ids, lane.tenantId, lane.destinationId],
  );
}
