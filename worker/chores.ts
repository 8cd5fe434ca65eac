/**
 * Repeated work that dispatching does not depend on: ends of pauses, sampling of the queue's age, the roll-up of
 * attempts, retention, a look at what keeps dead rows from going. Each chore is safe in any number of processes at once, and none may touch a row that is still live.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { endPauses } from "#db/queue/auto-resume.ts";
import { applyRetention } from "#db/queue/retention.ts";
import { rollUpSeries } from "#db/queue/roll-up-series.ts";
import {
  noteFailedSample,
  rollUpAttempts,
  SAMPLE_EVERY_MS,
  type SampleScope,
  sampleQueueAge,
  summarizeAttempts,
} from "#db/queue/sample-queue-age.ts";
import { sendControlHint } from "#db/queue/wake-job.ts";
import { describeHolder, readHorizonHolders } from "#db/queue/xmin-horizon.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import type { Alarms, ClaimTimes } from "./alarms.ts";
import type { WorkerSwitches } from "./config.ts";
import type { Logger } from "./log.ts";
import { replayChoresOf } from "./replay-runner.ts";

const END_PAUSES_MS = 1_000;
const ROLL_UP_MS = 10_000;
/** What was recorded since the last time is read whole by each roll-up. */
const SUMMARIZE_MS = 60_000;
const RETENTION_MS = 600_000;
const RETENTION_FIRST_MS = 5_000;
const TABLE_HEALTH_MS = 60_000;
const TABLE_HEALTH_FIRST_MS = 10_000;
/** A claim is a millisecond or a few; one in twenty that takes this long is an alarm. */
export const SLOW_CLAIM_MS = 500;

export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** When it runs for the first time; without it, after `everyMs`. */
  readonly firstAfterMs?: number;
  work(): Promise<void>;
}

/** The chores that the switches leave on. */
export function choresOf(
  pool: Pool,
  region: Region,
  workerId: string,
  switches: WorkerSwitches,
  {
    log,
    alarms,
    claimTimes,
  }: { readonly log: Logger; readonly alarms: Alarms; readonly claimTimes: ClaimTimes },
): Chore[] {
  const chores: Chore[] = [];
  if (switches.reconciler) {
    chores.push({
      name: "end-pauses",
      everyMs: END_PAUSES_MS,
      work: () => endPausesNow(pool, workerId, log),
    });
  }
  if (switches.reconciler) chores.push(...replayChoresOf(pool, workerId, log));
  if (switches.sampler) {
    for (const scope of ["class", "tenant"] as const) {
      // Twice as often as the samples, so that none is missed; the database keeps one for each moment.
      chores.push({
        name: `sample-${scope}`,
        everyMs: SAMPLE_EVERY_MS[scope] / 2,
        firstAfterMs: 0,
        work: () => sample(pool, region, scope),
      });
    }
    chores.push({ name: "roll-up", everyMs: ROLL_UP_MS, work: () => rollUpAttempts(pool) });
    chores.push({ name: "roll-up-series", everyMs: ROLL_UP_MS, work: () => countSeries(pool) });
    chores.push({ name: "summarize-attempts", everyMs: SUMMARIZE_MS, work: () => summarize(pool) });
  }
  if (switches.retention) {
    chores.push({
      name: "retention",
      everyMs: RETENTION_MS,
      firstAfterMs: RETENTION_FIRST_MS,
      work: () => retain(pool, log, alarms),
    });
    chores.push({
      name: "table-health",
      everyMs: TABLE_HEALTH_MS,
      firstAfterMs: TABLE_HEALTH_FIRST_MS,
      work: () => watchTable(pool, log, alarms, claimTimes),
    });
  }
  return chores;
}

async function endPausesNow(pool: Pool, workerId: string, log: Logger): Promise<void> {
  const ended = await endPauses(pool, workerId, () => uuidV7(Date.now(), randomBytes));
  if (ended.length === 0) return;
  log.info({ event: "pauses_ended", ended }, "pauses have reached their end");
  await sendControlHint(pool);
}

async function sample(pool: Pool, region: Region, scope: SampleScope): Promise<void> {
  try {
    await sampleQueueAge(pool, scope);
  } catch (error) {
    await noteFailedSample(pool, region, scope, String(error)).catch(() => undefined);
    throw error;
  }
}

async function countSeries(pool: Pool): Promise<void> {
  await rollUpSeries(pool);
}

async function summarize(pool: Pool): Promise<void> {
  await summarizeAttempts(pool);
}

/** Field fault 116: an old snapshot, and what it does to claims, each said once a minute for as long as it stands. */
export async function watchTable(
  pool: Pool,
  log: Logger,
  alarms: Alarms,
  claimTimes: ClaimTimes,
  maxAgeMs?: number,
): Promise<void> {
  const p95Ms = claimTimes.p95Ms();
  claimTimes.forget();
  const isSlow = p95Ms !== null && p95Ms > SLOW_CLAIM_MS;
  alarms.set("slow_claims", isSlow ? `one claim in twenty takes ${Math.round(p95Ms)} ms and more` : null);
  if (isSlow) log.error({ event: "slow_claims", p95Ms: Math.round(p95Ms) }, "claims take long");
  const holders = (await readHorizonHolders(pool, maxAgeMs)).map(describeHolder);
  alarms.set("xmin_horizon", holders.length > 0 ? holders.join("; ") : null);
  if (holders.length > 0) {
    log.error({ event: "xmin_horizon_old", holders }, "an old snapshot keeps dead rows from being removed");
  }
}

async function retain(pool: Pool, log: Logger, standing: Alarms): Promise<void> {
  const { alarms, ...result } = await applyRetention(pool);
  standing.set("partitions", alarms.length > 0 ? alarms.join("; ") : null);
  if (result.created.length + result.tidied.length + result.dropped.length + result.removedRows > 0) {
    log.info({ event: "retention", ...result }, "retention ran");
  }
  if (result.defaultMissing.length > 0) {
    log.error(
      { event: "default_partition_missing", partitions: result.defaultMissing },
      "a DEFAULT partition was missing and is made again; rows outside all days were refused meanwhile",
    );
  }
  if (alarms.length > 0) {
    log.error(
      { event: "partitions_wrong", alarms, tooFull: result.tooFull },
      "the daily partitions need a person",
    );
  }
}
