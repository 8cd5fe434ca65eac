/** Faults of the data: answers that no text can hold, rows that others change, partitions that are missing or full. */
import { setTimeout as pause } from "node:timers/promises";
import { type Arena, anyRegion, type Inject, placeOf, sure } from "./arena.ts";
import { FINISH_CALL } from "./names.ts";
import { dropDefaults, emptyDefault, ensurePartitions, fillDefault, touchLeased, waitingIn } from "./sql.ts";

/** Good ones beside the bad one, so that they meet in one finish batch. */
const GOOD_BESIDE = 30;
const BAD = 3;
const TOUCHED = 5;
const TOUCH_TRIES = 20;
const TOUCH_EVERY_MS = 50;
const MOST_HELD_MS = 1_000;
const LOOK_EVERY_MS = 10;
const MISSING_MS = 1_500;
const DEFAULT_TRIES = 30;

export const badResponse: Inject = async (arena) => {
  const region = anyRegion(arena);
  const written = await region.load.writeMixed(
    new Map([
      [placeOf(region, "raw"), BAD],
      [placeOf(region, "plain-1"), GOOD_BESIDE],
      [placeOf(region, "plain-3"), GOOD_BESIDE],
    ]),
  );
  return written.length === BAD + 2 * GOOD_BESIDE;
};

export const rowUpdated: Inject = async (arena) => {
  const region = anyRegion(arena);
  const { destinationId } = placeOf(region, "slow");
  const client = await sure(() => region.pool.connect());
  try {
    for (let attempt = 0; attempt < TOUCH_TRIES; attempt++, await pause(TOUCH_EVERY_MS)) {
      await client.query("BEGIN");
      const touched = await touchLeased(client, destinationId, TOUCHED);
      const isWaitedFor = touched > 0 && (await finishWaits(region.pool));
      await client.query("COMMIT");
      if (isWaitedFor) return true;
    }
    return false;
  } catch {
    // The connection went away in the middle: nothing of it stands.
    return false;
  } finally {
    client.release(true);
  }
};

async function finishWaits(pool: Parameters<typeof waitingIn>[0]): Promise<boolean> {
  for (
    const untilMs = performance.now() + MOST_HELD_MS;
    performance.now() < untilMs;
    await pause(LOOK_EVERY_MS)
  ) {
    if ((await waitingIn(pool, FINISH_CALL)).length > 0) return true;
  }
  return false;
}

/** Does something to the DEFAULT partitions, waits, and puts them right. */
async function onDefaults(
  arena: Arena,
  harm: (client: Parameters<typeof dropDefaults>[0], region: string) => Promise<boolean>,
): Promise<boolean> {
  const { pool, region } = anyRegion(arena);
  return arena.exclusive(async () => {
    const client = await sure(() => pool.connect());
    let isDone = false;
    try {
      for (let attempt = 0; attempt < DEFAULT_TRIES && !isDone; attempt++) {
        isDone = await harm(client, region).catch(() => false);
      }
      if (isDone) await pause(MISSING_MS);
    } finally {
      client.release(true);
      await sure(() =>
        emptyDefault(pool)
          .catch(() => undefined)
          .then(() => ensurePartitions(pool)),
      );
    }
    return isDone;
  });
}

export const defaultMissing: Inject = (arena) =>
  onDefaults(arena, async (client) => (await dropDefaults(client)) === 3);

export const defaultFull: Inject = (arena) =>
  onDefaults(arena, async (client, region) => {
    await fillDefault(client, region);
    return true;
  });
