/**
 * LEASE-4 fault 51: graphile-worker's jobs are locked by a worker that died with them, which graphile-worker itself
 * believes for four hours. Nothing of ours waits for that.
 */
import { afterEach, beforeEach, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, makeDue, readWakeJob } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;
const DUE_IN_MS = 3_600_000;

let database: TestDatabase;
let receiver: Receiver;
let worker: TestWorker | null = null;

beforeEach(async () => {
  [database, receiver] = await Promise.all([createTestDatabase(), createReceiver()]);
});
afterEach(async () => {
  await worker?.stop();
  worker = null;
  await receiver.close();
  await database.drop();
});

it.each<[string, TestWorkerOptions["off"]]>([
  ["the probe", ["timers", "listen", "reconciler"]],
  ["the reconciler, which puts the wake-up back,", ["probe", "timers", "listen"]],
])(
  "%s alone gets due rows out although the wake-up is locked by the dead",
  async (_name, off = []) => {
    const tenantId = await makeTenant(database.pool);
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/ok/locked`,
    });
    const ids = await makeDeliveries(database.pool, {
      tenantId,
      destinationId,
      count: 3,
      dueInMs: DUE_IN_MS,
    });
    // A worker looks once when it starts, finds that nothing is due, and puts the wake-up at the due time.
    worker = await startTestWorker(database, { off });
    // The wake-up's time has come, and the one that took it is dead.
    const lock = () =>
      database.pool.query(
        "UPDATE graphile_worker._private_jobs SET run_at = clock_timestamp(), locked_at = clock_timestamp(), locked_by = 'dead' WHERE locked_at IS NULL",
      );
    await waitFor(async () => ((await readWakeJob(database.pool, "us"))?.run_ms ?? 0) > Date.now(), {
      timeoutMs: LONG_MS,
      what: "the wake-up at the due time",
    });
    expect((await lock()).rowCount).toBe(1);
    await makeDue(database.pool, ids);
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 3, {
      timeoutMs: LONG_MS,
      what: "the due rows to be delivered",
    });
    expect(receiver.stats("locked")).toMatchObject({ requests: 3, effects: 3 });
  },
  LONG_MS * 2,
);
