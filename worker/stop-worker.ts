/**
 * The order in which a worker ends: no new claims, then requests in flight come to their end or are cut off (and what was
 * leased and not sent is given back), then outcomes are recorded, then everything closes. It must never
 * close the store while an outcome could still be stored.
 */
import type { Engine } from "./engine.ts";
import { within } from "./timers.ts";
import type { Upkeep } from "./upkeep.ts";

/** After the cut-off, how long outcomes may take to be recorded before the rest is left to the leases. */
const FLUSH_MS = 5_000;

export interface Running {
  readonly engine: Engine;
  readonly upkeep: Upkeep;
  /** What wakes the dispatcher from outside: graphile-worker's runner, the hint connection. */
  readonly wakers: readonly (() => Promise<void>)[];
  /** The dispatcher's loop. */
  readonly turning: Promise<void>;
  /** How long requests in flight may take to end by themselves. */
  readonly drainMs: number;
  /** Whatever else is open, closed last. */
  close(): Promise<void>;
}

/** Never rejects for what the database does not answer: the leases bring back what is left. */
export async function stopInOrder(running: Running): Promise<void> {
  const { engine, upkeep } = running;
  const { parts, dispatch, batcher } = engine;
  const { log, store } = parts;
  log.info({ event: "stopping", inFlight: parts.inFlight.size }, "worker stops");
  parts.dueTimer.clear();
  dispatch.stop();
  await Promise.all([upkeep.quiet(), ...running.wakers.map((stop) => stop()), running.turning]);
  await Promise.all([drain(engine, running.drainMs), dispatch.giveBackAtLast()]);
  batcher.giveUp();
  // Others find what is due without waiting for their probe.
  await store.writeWakeJob(parts.region, parts.clock.nowMs()).catch(() => undefined);
  await upkeep.stop();
  await store.removeWorker(parts.workerId).catch(() => undefined);
  await parts.http.close().catch(() => undefined);
  await running.close();
  log.info({ event: "stopped" }, "worker stopped");
  log.flush();
}

/** Waits for requests in flight, then cuts them off, then for their outcomes to be recorded. */
async function drain({ parts }: Engine, drainMs: number): Promise<void> {
  if (await idleWithin(parts, drainMs)) return;
  parts.log.warn({ event: "cut_off", inFlight: parts.inFlight.size }, "requests in flight are cut off");
  parts.cutOff.now();
  await idleWithin(parts, FLUSH_MS);
}

async function idleWithin({ inFlight, timers }: Engine["parts"], ms: number): Promise<boolean> {
  return (
    (await within(
      timers,
      ms,
      inFlight.whenIdle().then(() => true),
    )) ?? false
  );
}
