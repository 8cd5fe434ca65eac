/**
 * Workers that are killed before a batch sends anything: after the freeze and before the start, and in the very statement that
 * releases. Nothing is out then, and the next worker does all of it once.
 */
import { describe, expect, it } from "vitest";
import { openTransaction, waitUntilBlocked } from "#tests/support/queue-rows/sql.ts";
import {
  approveAt,
  endsWhole,
  killed,
  RUN_ITEMS,
  start,
  untilLong,
  useCrashWorld,
} from "#tests/support/replay-rows/runs.ts";
import { deadRows, itemStates } from "#tests/support/replay-rows/sql.ts";

const TEST_MS = 300_000;

const world = useCrashWorld();

describe("kill -9", () => {
  it(
    "after the freeze before the start, and in the middle of a release: nothing is out, and the next worker does all of it",
    async () => {
      const { database, receiver } = world;
      const first = await world.spawn();
      const approved = await approveAt(database, `${receiver.url}/ok/release`);
      const { batch, ids } = approved;
      const before = await deadRows(database.pool, ids);
      await killed(first);
      expect(await deadRows(database.pool, ids)).toEqual(before);

      const second = await world.spawn();
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

      await world.spawn();
      await endsWhole(database, approved, () => receiver.stats("release"));
      expect(receiver.stats("release").requests).toBe(RUN_ITEMS);
    },
    TEST_MS,
  );
});
