/**
 * A client that stops in the middle of a call: it has sent its claim or its finish, the server works on it, and nobody
 * will read the answer for longer than a lease. The region must go on.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import type { WorkerSlot } from "../fleet.ts";
import type { RegionWorld } from "../world.ts";
import { type Arena, anyRegion, beyondLease, type Inject, placeOf, sure, takeWorker } from "./arena.ts";
import { CLAIM_CALL, FINISH_CALL } from "./names.ts";
import { lockLeased, nowMs, othersWork, takeClaimLock, waitingIn } from "./sql.ts";

/** Others wait up to a second for the claim lock, then ask again; the rest is what a busy machine may need. */
const GO_ON_MS = 5_000;
const LOOK_EVERY_MS = 10;
/** The lock that makes the call wait is held no longer than this. */
const MOST_HELD_MS = 900;

/** Holds something that the call needs until a worker's call waits for it, and stops that worker there. */
async function stopInCall(
  arena: Arena,
  region: RegionWorld,
  call: string,
  hold: (client: PoolClient) => Promise<boolean>,
): Promise<WorkerSlot | null> {
  const client = await sure(() => region.pool.connect());
  try {
    await client.query("BEGIN");
    if (!(await hold(client))) return null;
    const worker = await waitingWorker(arena, region, call);
    // It stands before what it waits for is let go: whatever the server answers, nobody reads it.
    worker?.standStill();
    return worker;
  } catch {
    return null;
  } finally {
    await client.query("COMMIT").catch(() => undefined);
    client.release();
  }
}

async function waitingWorker(arena: Arena, region: RegionWorld, call: string): Promise<WorkerSlot | null> {
  for (
    const untilMs = performance.now() + MOST_HELD_MS;
    performance.now() < untilMs;
    await pause(LOOK_EVERY_MS)
  ) {
    const ports = (await waitingIn(region.pool, call)).map(({ clientPort }) => clientPort);
    const waiting = region.workers.filter((worker) => ports.some((port) => worker.proxy.carries(port)));
    if (waiting.length === 0) continue;
    const worker = takeWorker(arena, waiting);
    if (worker !== null) return worker;
  }
  return null;
}

async function stopClient(
  arena: Arena,
  call: string,
  hold: (client: PoolClient, region: RegionWorld) => Promise<boolean>,
): Promise<boolean> {
  const region = anyRegion(arena);
  const stopped = await arena.exclusive(async () => {
    const worker = await stopInCall(arena, region, call, (client) => hold(client, region));
    if (worker === null) return null;
    const going = expectOthersGoOn(arena, region, worker, call);
    const over = worker.stoppedFor(async () => {
      await Promise.allSettled([going, beyondLease(arena.chance)]);
    });
    await going;
    return { worker, over };
  });
  if (stopped === null) return false;
  await stopped.over;
  stopped.worker.busy = false;
  return true;
}

async function expectOthersGoOn(
  arena: Arena,
  region: RegionWorld,
  worker: WorkerSlot,
  call: string,
): Promise<void> {
  const sinceMs = await sure(() => nowMs(region.pool));
  for (
    const untilMs = performance.now() + GO_ON_MS;
    performance.now() < untilMs;
    await pause(LOOK_EVERY_MS)
  ) {
    if (await othersWork(region.pool, worker.workerId, sinceMs).catch(() => false)) return;
  }
  arena.findings.stalls.push(
    `${region.region}: nobody worked for ${GO_ON_MS} ms beside ${worker.name}, stopped in ${call}`,
  );
}

export const claimClientStopped: Inject = (arena) =>
  stopClient(arena, CLAIM_CALL, async (client) => {
    await takeClaimLock(client);
    return true;
  });

export const finishClientStopped: Inject = (arena) =>
  stopClient(arena, FINISH_CALL, async (client, region) => {
    const place = placeOf(region, "slow");
    return (await lockLeased(client, place.destinationId, 3)) > 0;
  });
