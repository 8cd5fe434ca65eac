/**
 * A reviewed batch against a real worker and a real receiver: what was frozen and nothing else is sent, with the same ids,
 * keys and bodies as the first time, and the destination that still fails stops alone.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { continueReplay, startReplay } from "#db/console/replay/run.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import {
  about,
  type Batch,
  deadRows,
  itemStates,
  makeApproved,
  moveDestination,
  publicIds,
  readBatch,
  setReplayPolicy,
} from "#tests/support/replay-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 120_000;
const NAMES = ["repaired-a", "repaired-b", "broken"] as const;
const DEAD_OF = [70, 70, 60];
const FROZEN_EACH = 40;

let database: TestDatabase;
let receiver: Receiver;
let worker: TestWorker;
const destinations: string[] = [];
const dead: string[][] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  // A busy machine samples late; what old readings do has tests of its own.
  await setReplayPolicy(database.pool, { canaryHoldMs: 0, rampHoldMs: 0, metricsMaxAgeMs: 600_000 });
  worker = await startTestWorker(database);
  for (const [index, name] of NAMES.entries()) {
    const tenantId = await makeTenant(database.pool);
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/status/422/${name}`,
    });
    destinations.push(destinationId);
    dead.push(await makeDeliveries(database.pool, { tenantId, destinationId, count: DEAD_OF[index] ?? 0 }));
  }
  await until(async () => (await countRows(database.pool, "dead_letter")) === 200, "200 dead letters");
  for (const [index, name] of NAMES.slice(0, 2).entries()) {
    await moveDestination(database.pool, String(destinations[index]), `${receiver.url}/status/204/${name}`);
  }
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await database.drop();
});

function until(condition: () => Promise<unknown>, what: string): Promise<unknown> {
  return waitFor(condition, { timeoutMs: LONG_MS, intervalMs: 100, what });
}

const bob = () => contextOf(database, { actor: "user:bob" });
const stateOf = async (batch: Batch) => (await readBatch(database.pool, batch.id)).state;

describe("DLQ-4 a reviewed batch", () => {
  it("sends 120 frozen of 200: 80 are delivered once, the failing destination's lane stops, the rest is untouched", async () => {
    const frozen = dead.map((ids) => ids.slice(0, FROZEN_EACH));
    const firstTime = receiver.totals().requests;
    const others = await deadRows(
      database.pool,
      dead.flatMap((ids) => ids.slice(FROZEN_EACH)),
    );
    const plan = { ratePerSecond: 50, concurrency: 20 };
    const batch = await makeApproved(database, { ids: publicIds(frozen.flat()) }, plan);
    // Refused as long as no minute was counted: the conditions are unknown then.
    await until(async () => startReplay(bob(), about(batch)), "a start with fresh readings");
    await until(async () => (await stateOf(batch)) === "canary_hold", "the end of the canary");
    expect(await countRows(database.pool, "replay_item WHERE batch_id = $1 AND canary", [batch.id])).toBe(6);
    const held = await readBatch(database.pool, batch.id);
    await continueReplay(bob(), { ...about(batch), version: held.version });
    await until(async () => (await stateOf(batch)) === "completed", "the end of the batch");

    const states = await itemStates(database.pool, batch.id);
    expect(states.delivered).toBe(80);
    expect((states.dead_again ?? 0) + (states.not_released ?? 0) + (states.recalled ?? 0)).toBe(FROZEN_EACH);
    for (const [index, name] of NAMES.slice(0, 2).entries()) {
      expect(receiver.stats(name)).toMatchObject({ effects: FROZEN_EACH, distinctKeys: DEAD_OF[index] });
      sameRequests(name, frozen[index] ?? [], firstTime);
    }
    expect(keysSince("broken", firstTime).size).toBe(states.dead_again ?? 0);
    expect(
      await deadRows(
        database.pool,
        others.map(({ id }) => String(id)),
      ),
    ).toEqual(others);
    expect(await countRows(database.pool, "delivery")).toBe(0);
    const lane = await database.pool.query(
      "SELECT destination_id FROM sluice.replay_lane WHERE batch_id = $1 AND stopped_at IS NOT NULL",
      [batch.id],
    );
    expect(lane.rows).toEqual([{ destination_id: destinations[2] }]);
  }, 300_000);
});

const since = (name: string, sequence: number) =>
  receiver.requests({ destination: name }).filter((request) => request.sequence > sequence);
const keysSince = (name: string, sequence: number) => new Set(since(name, sequence).map(({ key }) => key));

/**
 * What was sent since the batch began is what was frozen, with the ids, keys and bodies of the first time and the next attempt
 * number. (A machine that stands still may have sent one of them more than once; its effect is there once.)
 */
function sameRequests(name: string, ids: readonly string[], firstTime: number): void {
  expect(keysSince(name, firstTime)).toEqual(new Set(ids.map((id) => `key-${id}`)));
  const requests = receiver.requests({ destination: name });
  for (const id of ids) {
    const [first, ...later] = requests.filter(({ key }) => key === `key-${id}`);
    expect(later.length).toBeGreaterThan(0);
    let before = first?.attempt ?? Number.NaN;
    for (const { webhookId, bodySha256, attempt } of later) {
      expect({ webhookId, bodySha256 }).toEqual({
        webhookId: first?.webhookId,
        bodySha256: first?.bodySha256,
      });
      expect(attempt).toBeGreaterThan(before);
      before = attempt ?? Number.NaN;
    }
  }
}
