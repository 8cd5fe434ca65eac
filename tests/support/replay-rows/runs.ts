/**
 * Batches for tests whose promise is about worker processes: started at once, because fresh readings are written here in place
 * of the first roll-up's ten seconds. Only tests import this.
 */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { continueReplay, startReplay } from "#db/console/replay/run.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import type { ReplayPlanInput } from "#domain/replay-plan.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { countRows, type Place } from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { writePolicy } from "#tests/support/worker-rows/sql.ts";
import { bobOf, type Started } from "./batches.ts";
import {
  about,
  type Batch,
  itemStates,
  makeApproved,
  makeDead,
  publicIds,
  readBatch,
  setMetrics,
  setReplayPolicy,
} from "./sql.ts";

export const RUN_ITEMS = 20;
export const RUN_PLAN = { ratePerSecond: 50, concurrency: 10, attemptBudget: 3 };
const LONG_MS = 120_000;

export const untilLong = (condition: () => Promise<unknown>, what: string) =>
  waitFor(condition, { timeoutMs: LONG_MS, intervalMs: 50, what });

export const stateOf = async (database: TestDatabase, batch: Batch) =>
  (await readBatch(database.pool, batch.id)).state;

/** Dead letters of a new tenant at the address, in an approved batch. */
export async function approveAt(
  database: TestDatabase,
  url: string,
  plan: ReplayPlanInput = RUN_PLAN,
): Promise<Started> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { url });
  const place: Place = { lane: "first", serviceClass: "routine", tenantId, destinationId };
  const ids = await makeDead(database.pool, place, RUN_ITEMS);
  return { batch: await makeApproved(database, { ids: publicIds(ids) }, plan), ids };
}

export async function start(database: TestDatabase, batch: Batch): Promise<void> {
  await setMetrics(database.pool);
  await startReplay(bobOf(database), about(batch));
}

/** ... and started. */
export async function startAt(
  database: TestDatabase,
  url: string,
  plan: ReplayPlanInput = RUN_PLAN,
): Promise<Started> {
  const made = await approveAt(database, url, plan);
  await start(database, made.batch);
  return made;
}

/** Waits for the end of the canary and lets the batch go on. */
export async function intoRun(database: TestDatabase, batch: Batch): Promise<void> {
  await untilLong(async () => (await stateOf(database, batch)) === "canary_hold", "the end of the canary");
  const { version } = await readBatch(database.pool, batch.id);
  await continueReplay(bobOf(database), { ...about(batch), version });
}

/** Longer than a slow machine needs: what a killed worker holds is free when the test ends its leases. */
const LEASE = { leaseMs: 600_000 };

export interface CrashWorld {
  readonly database: TestDatabase;
  readonly receiver: Receiver;
  spawn(): Promise<SpawnedWorker>;
}

/** For the top of a test file: one database without holds, one receiver, and no worker left after a test. */
export function useCrashWorld(): CrashWorld {
  let database: TestDatabase;
  let receiver: Receiver;
  beforeAll(async () => {
    [database, receiver] = await Promise.all([createTestDatabase(), createReceiver()]);
    // A lease is as long as the longest of all classes.
    for (const serviceClass of ["routine", "urgent"] as const)
      await writePolicy(database.pool, serviceClass, LEASE);
    await setReplayPolicy(database.pool, { canaryHoldMs: 0, rampHoldMs: 0, metricsMaxAgeMs: 600_000 });
  });
  afterEach(() => endWorkers());
  afterAll(async () => {
    await receiver.close();
    await database.drop();
  });
  return {
    get database() {
      return database;
    },
    get receiver() {
      return receiver;
    },
    spawn: () => spawnReadyWorker({ urls: { us: database.connectionString } }),
  };
}

export async function killed(worker: SpawnedWorker): Promise<void> {
  worker.kill("SIGKILL");
  await worker.exited;
}

/** Deliveries of the batch that are live. */
export const outOf = (database: TestDatabase, batch: Batch) =>
  countRows(database.pool, "delivery WHERE replay_batch_id = $1", [batch.id]);

/** Lets it go on to its end: everything is delivered with one effect, and each item has ended with its delivery. */
export async function endsWhole(
  database: TestDatabase,
  { batch, ids }: Started,
  seen: () => { readonly effects: number; readonly distinctKeys: number },
): Promise<void> {
  await intoRun(database, batch);
  await untilLong(async () => (await stateOf(database, batch)) === "completed", "the end of the batch");
  const states = await itemStates(database.pool, batch.id);
  const { effects, distinctKeys } = seen();
  const archived = await countRows(database.pool, "delivery_archive WHERE id = ANY ($1::uuid[])", [ids]);
  const found = { states, effects, distinctKeys, archived, out: await outOf(database, batch) };
  const all = RUN_ITEMS;
  expect(found).toEqual({
    states: { delivered: all },
    effects: all,
    distinctKeys: all,
    archived: all,
    out: 0,
  });
}
