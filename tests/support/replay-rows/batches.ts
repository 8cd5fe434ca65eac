/** Batches that have come some way: started, and running with their canary delivered. Only tests import this. */
import type { Pool } from "pg";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { continueReplay, startReplay } from "#db/console/replay/run.ts";
import type { TurnResult } from "#db/queue/replay-turn.ts";
import { toPublicId } from "#domain/ids.ts";
import type { ReplayPlanInput } from "#domain/replay-plan.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import {
  about,
  type Batch,
  makeApproved,
  makeDead,
  readBatch,
  refillRates,
  send,
  setMetrics,
  setReplayPolicy,
  turn,
} from "./sql.ts";

const FAST: ReplayPlanInput = { ratePerSecond: 50, concurrency: 50 };

export interface Started {
  readonly batch: Batch;
  /** Of its deliveries. */
  readonly ids: string[];
}

export const bobOf = (database: TestDatabase) => contextOf(database, { actor: "user:bob" });

/** A batch of these places' dead letters that has been started. */
export async function startBatch(
  database: TestDatabase,
  places: readonly Place[],
  each: number,
  plan: ReplayPlanInput = {},
): Promise<Started> {
  const ids: string[] = [];
  for (const at of places) ids.push(...(await makeDead(database.pool, at, each)));
  const selection = { ids: ids.map((id) => toPublicId("dlv", id)) };
  const batch = await makeApproved(database, selection, { ...FAST, ...plan });
  const answer = await startReplay(bobOf(database), about(batch));
  return { batch: { ...batch, version: answer.version ?? 0 }, ids };
}

/** A turn after a long enough wait for its rates. */
export async function nextTurnOf(pool: Pool, batch: Batch): Promise<TurnResult> {
  await refillRates(pool, batch.id);
  return turn(pool, batch.id);
}

/** ... whose canary is delivered and which runs. The policy's hold must be 0. */
export async function runBatch(
  database: TestDatabase,
  places: readonly Place[],
  each: number,
  plan: ReplayPlanInput = {},
): Promise<Started> {
  const made = await startBatch(database, places, each, plan);
  await nextTurnOf(database.pool, made.batch);
  for (const at of places) await send(database.pool, at);
  await nextTurnOf(database.pool, made.batch);
  const held = await readBatch(database.pool, made.batch.id);
  if (held.state !== "canary_hold") throw new Error(`the batch is ${held.state} after its canary`);
  const answer = await continueReplay(bobOf(database), { ...about(made.batch), version: held.version });
  return { ...made, batch: { ...made.batch, version: answer.version ?? 0 } };
}

export interface ReplayRows {
  readonly database: TestDatabase;
  /** A new one for each test. */
  readonly place: Place;
}

/**
 * For the top of a test file of rows alone: one database without holds, and a place and fresh readings for each test.
 * @param each hears of them before each test
 */
export function useReplayRows(each: (rows: ReplayRows) => void) {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await setReplayPolicy(database.pool, { canaryHoldMs: 0, rampHoldMs: 0 });
  });
  beforeEach(async () => {
    const place = await makePlace(database.pool);
    await setMetrics(database.pool);
    each({ database, place });
  });
  afterAll(() => database.drop());
  return {
    bob: () => bobOf(database),
    now: (batch: Batch) => readBatch(database.pool, batch.id),
    started: (places: readonly Place[], count: number, plan: ReplayPlanInput = {}) =>
      startBatch(database, places, count, plan),
    running: (places: readonly Place[], count: number, plan: ReplayPlanInput = {}) =>
      runBatch(database, places, count, plan),
    nextTurn: (batch: Batch) => nextTurnOf(database.pool, batch),
  };
}
