/**
 * Workers that are killed with requests of a batch out, and while it stops. Nothing is released twice, nothing is lost, and no
 * item ends without its delivery. The points before that are in replay-crash-release.test.ts.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { stopReplay } from "#db/console/replay/run.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import { bobOf } from "#tests/support/replay-rows/batches.ts";
import {
  endsWhole,
  killed,
  makeCrashDatabase,
  outOf,
  RUN_ITEMS,
  startAt,
  stateOf,
  untilLong,
} from "#tests/support/replay-rows/runs.ts";
import { about, type Batch, deadRows, itemStates } from "#tests/support/replay-rows/sql.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";

const TEST_MS = 300_000;

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
  database = await makeCrashDatabase();
});
afterEach(() => endWorkers());
afterAll(async () => {
  await receiver.close();
  await database.drop();
});

const spawnHere = () => spawnReadyWorker({ urls: { us: database.connectionString } });
const leasedOf = (batch: Batch) =>
  countRows(database.pool, "delivery WHERE state = 'leased' AND replay_batch_id = $1", [batch.id]);

describe("kill -9", () => {
  it(
    "in the run, with requests out: another worker takes over, each is delivered with one effect, and each item ends once",
    async () => {
      const first = await spawnHere();
      const { batch, ids } = await startAt(database, `${receiver.url}/slow/1000/run`);
      await untilLong(async () => (await leasedOf(batch)) > 2, "requests that are out");
      await killed(first);
      const out = await outOf(database, batch);
      expect(out).toBeGreaterThan(0);
      expect((await itemStates(database.pool, batch.id)).released).toBe(out);
      await spawnHere();
      await endsWhole(database, receiver, batch, ids, "run");
      expect(receiver.stats("run").requests - RUN_ITEMS).toBeLessThanOrEqual(out);
    },
    TEST_MS,
  );

  it(
    "while stopping: another worker ends it, and what was not sent is the dead letter that it was",
    async () => {
      const first = await spawnHere();
      const { batch, ids } = await startAt(database, `${receiver.url}/slow/1500/stop`);
      const before = await deadRows(database.pool, ids);
      await untilLong(async () => (await leasedOf(batch)) > 2, "requests that are out");
      await stopReplay(bobOf(database), about(batch));
      await killed(first);
      expect(await stateOf(database, batch)).toBe("stopping");
      await spawnHere();
      await untilLong(async () => (await stateOf(database, batch)) === "stopped", "the end of the batch");
      expect(await outOf(database, batch)).toBe(0);
      const states = await itemStates(database.pool, batch.id);
      expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(RUN_ITEMS);
      expect(states.released).toBeUndefined();
      const untouched = await database.pool.query<{ delivery_id: string }>(
        "SELECT delivery_id FROM sluice.replay_item WHERE batch_id = $1 AND state IN ('not_released', 'recalled')",
        [batch.id],
      );
      const rest = untouched.rows.map(({ delivery_id }) => delivery_id);
      expect(rest.length).toBeGreaterThan(0);
      expect(await deadRows(database.pool, rest)).toEqual(
        before.filter(({ id }) => rest.includes(String(id))),
      );
    },
    TEST_MS,
  );
});
