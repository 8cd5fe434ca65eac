/**
 * Workers that are killed before a batch sends anything: after the freeze and before the start, and in the very statement that
 * releases. Nothing is out then, and the next worker does all of it once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { openTransaction, waitUntilBlocked } from "#tests/support/queue-rows/sql.ts";
import {
  approveAt,
  endsWhole,
  killed,
  makeCrashDatabase,
  RUN_ITEMS,
  start,
  untilLong,
} from "#tests/support/replay-rows/runs.ts";
import { deadRows, itemStates } from "#tests/support/replay-rows/sql.ts";
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

describe("kill -9", () => {
  it(
    "after the freeze before the start, and in the middle of a release: nothing is out, and the next worker does all of it",
    async () => {
      const first = await spawnHere();
      const { batch, ids } = await approveAt(database, `${receiver.url}/ok/release`);
      const before = await deadRows(database.pool, ids);
      await killed(first);
      expect(await deadRows(database.pool, ids)).toEqual(before);

      const second = await spawnHere();
      const held = await openTransaction(database.pool);
      await held.client.query("SELECT 1 FROM sluice.dead_letter WHERE id = ANY ($1::uuid[]) FOR UPDATE", [
        ids,
      ]);
      await start(database, batch);
      await waitUntilBlocked(database.pool, "i.dead_letter_version, i.dead_letter_cycle");
      await killed(second);
      await held.rollback();
      // What its session had begun is undone when the server notices.
      await untilLong(
        () =>
          database.pool.query("SELECT 1 FROM sluice.replay_batch WHERE id = $1 FOR UPDATE NOWAIT", [
            batch.id,
          ]),
        "the end of the killed worker's session",
      );
      expect(await itemStates(database.pool, batch.id)).toEqual({ frozen: RUN_ITEMS });
      expect(await deadRows(database.pool, ids)).toEqual(before);
      expect(receiver.stats("release").requests).toBe(0);

      await spawnHere();
      await endsWhole(database, receiver, batch, ids, "release");
      expect(receiver.stats("release").requests).toBe(RUN_ITEMS);
    },
    TEST_MS,
  );
});
