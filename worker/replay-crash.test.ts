/**
 * Workers that are killed with requests of a batch out, and while it stops. Nothing is released twice, nothing is lost, and no
 * item ends without its delivery. The points before that are in replay-crash-release.test.ts.
 */
import { describe, expect, it, onTestFinished } from "vitest";
import { stopReplay } from "#db/console/replay/run.ts";
import { type HeldReceiver, startHeldReceiver } from "#tests/support/held-receiver.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import { bobOf } from "#tests/support/replay-rows/batches.ts";
import {
  endsWhole,
  killed,
  outOf,
  RUN_ITEMS,
  startAt,
  stateOf,
  untilLong,
  useCrashWorld,
} from "#tests/support/replay-rows/runs.ts";
import { about, type Batch, deadRows, itemStates } from "#tests/support/replay-rows/sql.ts";
import { endLeasesOf } from "#tests/support/worker-rows/sql.ts";

const TEST_MS = 300_000;

const world = useCrashWorld();

/** Its requests stay out until the test lets them go. */
async function holdRequests(): Promise<HeldReceiver> {
  const held = await startHeldReceiver();
  onTestFinished(() => held.close());
  return held;
}

const leasedOf = (batch: Batch) =>
  countRows(world.database.pool, "delivery WHERE state = 'leased' AND replay_batch_id = $1", [batch.id]);

describe("kill -9", () => {
  it(
    "in the run, with requests out: another worker takes over, each is delivered with one effect, and each item ends once",
    async () => {
      const { database } = world;
      const held = await holdRequests();
      const first = await world.spawn();
      const started = await startAt(database, held.url);
      await untilLong(async () => (await leasedOf(started.batch)) > 2, "requests that are out");
      await killed(first);
      const out = await outOf(database, started.batch);
      expect(out).toBeGreaterThan(0);
      expect((await itemStates(database.pool, started.batch.id)).released).toBe(out);
      held.letGo();
      await world.spawn();
      expect(await endLeasesOf(database.pool, first.pid)).toBeGreaterThan(2);
      const keys = () => new Set(held.keys()).size;
      await endsWhole(database, started, () => ({ effects: keys(), distinctKeys: keys() }));
      expect(held.keys().length - RUN_ITEMS).toBeLessThanOrEqual(out);
    },
    TEST_MS,
  );

  it(
    "while stopping: another worker ends it, and what was not sent is the dead letter that it was",
    async () => {
      const { database } = world;
      const held = await holdRequests();
      const first = await world.spawn();
      const { batch, ids } = await startAt(database, held.url);
      const before = await deadRows(database.pool, ids);
      await untilLong(async () => (await leasedOf(batch)) > 2, "requests that are out");
      await stopReplay(bobOf(database), about(batch));
      await killed(first);
      expect(await stateOf(database, batch)).toBe("stopping");
      held.letGo();
      await world.spawn();
      await endLeasesOf(database.pool, first.pid);
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
