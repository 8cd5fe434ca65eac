/**
 * A running batch and workers that die: killed with requests out, its job lost, stopped in the middle. Nothing is released
 * twice, nothing is lost, and no item ends without its delivery.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { continueReplay, startReplay, stopReplay } from "#db/console/replay/run.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { countRows, type Place, readAttempts } from "#tests/support/queue-rows/sql.ts";
import { bobOf } from "#tests/support/replay-rows/batches.ts";
import {
  about,
  type Batch,
  deadRows,
  itemStates,
  makeApproved,
  makeDead,
  publicIds,
  readBatch,
  setReplayPolicy,
} from "#tests/support/replay-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { writePolicy } from "#tests/support/worker-rows/sql.ts";

const LEASE = { leaseMs: 5_000, requestDeadlineMs: 2_000, leaseMarginMs: 500 };
const LONG_MS = 120_000;
const TEST_MS = 300_000;
const ITEMS = 40;
const PLAN = { ratePerSecond: 50, concurrency: 10, attemptBudget: 3 };

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  await writePolicy(database.pool, "routine", LEASE);
  await setReplayPolicy(database.pool, { canaryHoldMs: 0, rampHoldMs: 0, metricsMaxAgeMs: 600_000 });
});
afterEach(async () => {
  await endWorkers();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

const until = (condition: () => Promise<unknown>, what: string) =>
  waitFor(condition, { timeoutMs: LONG_MS, intervalMs: 50, what });
const spawnHere = () => spawnReadyWorker({ urls: { us: database.connectionString } });
const stateOf = async (batch: Batch) => (await readBatch(database.pool, batch.id)).state;

/** A batch that is started as soon as the conditions are known. */
async function startHere(path: string): Promise<{ batch: Batch; ids: string[] }> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}${path}` });
  const place: Place = { lane: "first", serviceClass: "routine", tenantId, destinationId };
  const ids = await makeDead(database.pool, place, ITEMS);
  const batch = await makeApproved(database, { ids: publicIds(ids) }, PLAN);
  await until(async () => startReplay(bobOf(database), about(batch)), "a start with fresh readings");
  return { batch, ids };
}

async function intoRun(batch: Batch): Promise<void> {
  await until(async () => (await stateOf(batch)) === "canary_hold", "the end of the canary");
  const { version } = await readBatch(database.pool, batch.id);
  await continueReplay(bobOf(database), { ...about(batch), version });
}

describe("kill -9", () => {
  it(
    "in the run, with requests out: another worker takes over, each is delivered with one effect, and each item ends once",
    async () => {
      const first = await spawnHere();
      const { batch, ids } = await startHere("/slow/300/target");
      await intoRun(batch);
      await until(
        async () => (await countRows(database.pool, "delivery WHERE state = 'leased'")) > 2,
        "requests that are out",
      );
      first.kill("SIGKILL");
      await first.exited;
      const out = await countRows(database.pool, "delivery WHERE replay_batch_id = $1", [batch.id]);
      expect(out).toBeGreaterThan(0);
      expect((await itemStates(database.pool, batch.id)).released).toBe(out);
      await spawnHere();
      await until(async () => (await stateOf(batch)) === "completed", "the end of the batch");
      expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: ITEMS });
      expect(receiver.stats("target")).toMatchObject({ effects: ITEMS, distinctKeys: ITEMS });
      expect(receiver.stats("target").requests - ITEMS).toBeLessThanOrEqual(out);
      expect(await countRows(database.pool, "delivery_archive WHERE id = ANY ($1::uuid[])", [ids])).toBe(
        ITEMS,
      );
      expect(await countRows(database.pool, "delivery")).toBe(0);
    },
    TEST_MS,
  );

  it(
    "while stopping: another worker ends it, and what was not sent is the dead letter that it was",
    async () => {
      const first = await spawnHere();
      const { batch, ids } = await startHere("/slow/1500/target");
      const before = await deadRows(database.pool, ids);
      await until(
        async () => (await countRows(database.pool, "delivery WHERE state = 'leased'")) > 2,
        "requests that are out",
      );
      await stopReplay(bobOf(database), about(batch));
      first.kill("SIGKILL");
      await first.exited;
      expect(await stateOf(batch)).toBe("stopping");
      await spawnHere();
      await until(async () => (await stateOf(batch)) === "stopped", "the end of the batch");
      expect(await countRows(database.pool, "delivery")).toBe(0);
      const states = await itemStates(database.pool, batch.id);
      expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(ITEMS);
      expect(states.released).toBeUndefined();
      const untouched = await database.pool.query<{ delivery_id: string }>(
        "SELECT delivery_id FROM sluice.replay_item WHERE batch_id = $1 AND state IN ('not_released', 'recalled')",
        [batch.id],
      );
      const rest = untouched.rows.map(({ delivery_id }) => delivery_id);
      expect(await deadRows(database.pool, rest)).toEqual(
        before.filter(({ id }) => rest.includes(String(id))),
      );
    },
    TEST_MS,
  );
});

describe("the job", () => {
  it(
    "is put back when it is lost, and an ended batch has none",
    async () => {
      await spawnHere();
      const { batch } = await startHere("/ok/target");
      await intoRun(batch);
      await database.pool.query("DELETE FROM graphile_worker._private_jobs WHERE key = $1", [
        `replay:${batch.id}`,
      ]);
      await until(async () => (await stateOf(batch)) === "completed", "the end of the batch");
      expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: ITEMS });
      await until(
        async () => (await countRows(database.pool, "worker_process")) === 1 && (await jobsOf(batch)) === 0,
        "no job of an ended batch",
      );
    },
    TEST_MS,
  );

  it(
    "DLQ-8 an item has its declared attempts and no more, whatever the policy of its destination says",
    async () => {
      await spawnHere();
      const { batch, ids } = await startHere("/status/503/target");
      await until(async () => (await stateOf(batch)) === "stopped", "the end of the batch");
      const again = (await deadRows(database.pool, ids)).filter(({ cycle }) => cycle === 2);
      expect(again.length).toBeGreaterThan(0);
      for (const row of again) {
        const attempts = (await readAttempts(database.pool, String(row.id))).filter(
          ({ cycle }) => cycle === 2,
        );
        expect(attempts.length).toBeLessThanOrEqual(PLAN.attemptBudget);
        expect(row).toMatchObject({ reason: "attempts_exhausted", replay_batch_id: batch.id });
      }
    },
    TEST_MS,
  );
});

async function jobsOf(batch: Batch): Promise<number> {
  const { rows } = await database.pool.query("SELECT 1 FROM graphile_worker.jobs WHERE key = $1", [
    `replay:${batch.id}`,
  ]);
  return rows.length;
}
