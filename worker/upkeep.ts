/**
 * The repeated work of a process beside sending: heartbeat, reconciler, probe, policies, and the chores it is given.
 * Each is safe in any number of processes at once. None of it may decide what becomes of an attempt.
 */
import { MAX_RECONCILE_ROWS } from "#db/queue/reconcile.ts";
import type { Chore } from "./chores.ts";
import type { WorkerParts } from "./parts.ts";
import { Repeat } from "./repeat.ts";
import { reportHealth } from "./report-health.ts";

const HEARTBEAT_MS = 1_000;
const RECONCILE_MS = 1_000;
const POLICIES_MS = 1_000;
/** A changed limit counts within a second, also where no hint tells of it. */
const LIMITS_MS = 400;
/** A process that has known no work for this long asks for no changed limits: it reads them anew with the next work. */
const RESTING_AFTER_MS = 10_000;
/** Deliveries of deleted destinations are looked for with every so manieth run of the reconciler: nobody waits for their end. */
const CANCEL_EVERY_RUNS = 3;
/** What was seen of destinations is told this often. */
const HEALTH_MS = 250;
/** The wake-up job is put back when something has been due for this long and there is none. */
const DUE_WITHOUT_JOB_MS = 1_000;
/** Passes of the reconciler in one run, so that a region that lost many leases has them back within seconds. */
const MAX_RECONCILE_PASSES = 20;

export interface Upkeep {
  /** Milliseconds since the heartbeat last went through; null before the first. */
  lastHeartbeatMs(): number | null;
  /** Marks the process as stopping and ends everything but the heartbeat. */
  quiet(): Promise<void>;
  stop(): Promise<void>;
}

export function startUpkeep(parts: WorkerParts, probeMs: number, chores: readonly Chore[]): Upkeep {
  const { store, log, clock, switches } = parts;
  let state: "running" | "stopping" = "running";
  const repeat = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Repeat(name, everyMs, work, log, () => clock.monotonicMs(), parts.timers);

  const beat = repeat("heartbeat", HEARTBEAT_MS, async () => {
    const askedAt = clock.monotonicMs();
    const nowMs = await store.heartbeat({ id: parts.workerId, inFlight: parts.inFlight.size, state });
    if (nowMs !== null) clock.sync(nowMs, askedAt);
  });
  const policies = repeat("policies", POLICIES_MS, async () =>
    parts.destinations.usePolicies(await store.readPolicies()),
  );
  const limits = repeat("limits", LIMITS_MS, limitsFollower(parts));
  const health = repeat("health", HEALTH_MS, () => reportHealth(parts));
  const others = [policies, limits, health];
  beat.start(0);
  for (const item of others) item.start();

  const add = (on: boolean, item: Repeat, firstAfterMs?: number) => {
    if (!on) return;
    others.push(item);
    item.start(firstAfterMs);
  };
  add(
    switches.probe,
    repeat("probe", probeMs, async () => parts.wake.raise(true, "probe")),
  );
  add(switches.reconciler, repeat("reconciler", RECONCILE_MS, reconciler(parts)));
  for (const chore of chores) add(true, repeat(chore.name, chore.everyMs, chore.work), chore.firstAfterMs);

  return {
    lastHeartbeatMs: () => (beat.lastOkAt === null ? null : clock.monotonicMs() - beat.lastOkAt),
    async quiet() {
      state = "stopping";
      await Promise.all(others.map((item) => item.stop()));
    },
    stop: () => beat.stop(),
  };
}

/** Lanes whose destination has other limits now are asked about again. */
function limitsFollower(parts: WorkerParts): () => Promise<void> {
  const { limits, book, wake, store, clock, inFlight } = parts;
  let busyAt = clock.monotonicMs();
  return async () => {
    if (book.size > 0 || inFlight.size > 0) busyAt = clock.monotonicMs();
    if (clock.monotonicMs() - busyAt > RESTING_AFTER_MS) {
      limits.forget();
      return;
    }
    const changed = await limits.follow(store, clock.nowMs());
    if (changed.length === 0) return;
    book.askAgain(changed);
    wake.raise(false);
  };
}

function reconciler(parts: WorkerParts): () => Promise<void> {
  let runs = 0;
  return () => reconcile(parts, runs++ % CANCEL_EVERY_RUNS === 0);
}

async function reconcile(parts: WorkerParts, cancels: boolean): Promise<void> {
  const { store, log, region } = parts;
  for (let pass = 0; pass < MAX_RECONCILE_PASSES; pass++) {
    const expired = await store.returnExpiredLeases();
    const total = expired.returned + expired.dead;
    if (total > 0) {
      log.warn({ event: "leases_expired", ...expired }, "expired leases were taken back");
      parts.wake.raise(true);
    }
    if (total < MAX_RECONCILE_ROWS) break;
  }
  const cancelled = cancels ? await store.cancelDeleted() : 0;
  if (cancelled > 0)
    log.info({ event: "cancelled", cancelled }, "deliveries of deleted destinations were cancelled");
  if (await store.restoreWakeJob(region, DUE_WITHOUT_JOB_MS)) {
    log.debug({ event: "wake_job_restored" }, "something is due and there was no wake-up job");
  }
}
