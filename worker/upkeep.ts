/**
 * The repeated work of a process beside sending: heartbeat, reconciler, probe, policies, sampling, retention. Each is
 * safe in any number of processes at once. None of it may decide what becomes of an attempt.
 */
import { readPolicies } from "#db/queue/configuration.ts";
import { cancelDeleted, MAX_RECONCILE_ROWS, returnExpiredLeases } from "#db/queue/reconcile.ts";
import { applyRetention } from "#db/queue/retention.ts";
import {
  noteFailedSample,
  rollUpAttempts,
  SAMPLE_EVERY_MS,
  type SampleScope,
  sampleQueueAge,
} from "#db/queue/sample-queue-age.ts";
import { restoreWakeJob } from "#db/queue/wake-job.ts";
import { heartbeat } from "#db/queue/worker-process.ts";
import type { WorkerParts } from "./parts.ts";
import { Repeat } from "./repeat.ts";

const HEARTBEAT_MS = 1_000;
const RECONCILE_MS = 1_000;
const POLICIES_MS = 1_000;
const ROLL_UP_MS = 10_000;
const RETENTION_MS = 600_000;
const RETENTION_FIRST_MS = 5_000;
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

export function startUpkeep(parts: WorkerParts, probeMs: number): Upkeep {
  const { pool, log, clock, switches } = parts;
  let state: "running" | "stopping" = "running";
  const repeat = (name: string, everyMs: number, work: () => Promise<void>) =>
    new Repeat(name, everyMs, work, log, () => clock.monotonicMs());

  const beat = repeat("heartbeat", HEARTBEAT_MS, async () => {
    const nowMs = await heartbeat(pool, { id: parts.workerId, inFlight: parts.inFlight.size, state });
    if (nowMs !== null) clock.sync(nowMs);
  });
  const policies = repeat("policies", POLICIES_MS, async () =>
    parts.destinations.usePolicies(await readPolicies(pool)),
  );
  const others = [policies];
  beat.start(0);
  policies.start();

  const add = (on: boolean, item: Repeat, firstAfterMs?: number) => {
    if (!on) return;
    others.push(item);
    item.start(firstAfterMs);
  };
  add(
    switches.probe,
    repeat("probe", probeMs, async () => parts.wake.raise(true)),
  );
  add(
    switches.reconciler,
    repeat("reconciler", RECONCILE_MS, () => reconcile(parts)),
  );
  for (const scope of ["class", "tenant"] as const) {
    // Twice as often as the samples, so that none is missed; the database keeps one for each moment.
    add(
      switches.sampler,
      repeat(`sample-${scope}`, SAMPLE_EVERY_MS[scope] / 2, () => sample(parts, scope)),
      0,
    );
  }
  add(
    switches.sampler,
    repeat("roll-up", ROLL_UP_MS, () => rollUpAttempts(pool)),
  );
  add(
    switches.retention,
    repeat("retention", RETENTION_MS, () => retain(parts)),
    RETENTION_FIRST_MS,
  );

  return {
    lastHeartbeatMs: () => (beat.lastOkAt === null ? null : clock.monotonicMs() - beat.lastOkAt),
    async quiet() {
      state = "stopping";
      await Promise.all(others.map((item) => item.stop()));
    },
    stop: () => beat.stop(),
  };
}

async function reconcile(parts: WorkerParts): Promise<void> {
  const { pool, log, region } = parts;
  for (let pass = 0; pass < MAX_RECONCILE_PASSES; pass++) {
    const expired = await returnExpiredLeases(pool);
    const total = expired.returned + expired.dead;
    if (total > 0) {
      log.warn({ event: "leases_expired", ...expired }, "expired leases were taken back");
      parts.wake.raise(true);
    }
    if (total < MAX_RECONCILE_ROWS) break;
  }
  const cancelled = await cancelDeleted(pool);
  if (cancelled > 0)
    log.info({ event: "cancelled", cancelled }, "deliveries of deleted destinations were cancelled");
  if (await restoreWakeJob(pool, region, DUE_WITHOUT_JOB_MS)) {
    log.debug({ event: "wake_job_restored" }, "something is due and there was no wake-up job");
  }
}

async function sample(parts: WorkerParts, scope: SampleScope): Promise<void> {
  try {
    await sampleQueueAge(parts.pool, scope);
  } catch (error) {
    await noteFailedSample(parts.pool, parts.region, scope, String(error)).catch(() => undefined);
    throw error;
  }
}

async function retain(parts: WorkerParts): Promise<void> {
  const result = await applyRetention(parts.pool);
  if (result.created.length + result.dropped.length + result.removedRows > 0) {
    parts.log.info({ event: "retention", ...result }, "retention ran");
  }
  if (result.defaultInUse.length > 0) {
    parts.log.error(
      { event: "default_partition_in_use", partitions: result.defaultInUse },
      "rows fell outside all daily partitions",
    );
  }
}
