/**
 * The one graphile-worker job of a region: `dispatch`, key `dispatch:<region>`. It only wakes a planner at its run_at.
 * It must never carry a delivery, and it must never be written inside a business transaction.
 */
import type { Region } from "#domain/region.ts";
import { CONTROLS_TOPIC, WAKE_CHANNEL } from "#domain/wake.ts";
import type { Queryable } from "./types.ts";

/** Task identifier of the wake-up. */
export const DISPATCH_TASK = "dispatch";
const MAX_ATTEMPTS = 25;
/** The job only wakes and returns: whoever has had it for this long will not give it back. */
const DEAD_LOCK_MS = 5_000;

/** The key under which the region's only wake-up stands. */
export function dispatchKey(region: Region): string {
  return `dispatch:${region}`;
}

/** What the outbox sends after a commit: every worker of this database looks at once. */
export async function sendHint(pool: Queryable): Promise<void> {
  await pool.query(`NOTIFY ${WAKE_CHANNEL}`);
}

/** What a control sends after its commit: workers also forget the limits and blockers that they remember. */
export async function sendControlHint(pool: Queryable): Promise<void> {
  await pool.query(`NOTIFY ${WAKE_CHANNEL}, '${CONTROLS_TOPIC}'`);
}

/** Puts the region's wake-up at a moment of database time, in place of the one that stands. */
export async function writeWakeJob(pool: Queryable, region: Region, runAtMs: number): Promise<void> {
  await pool.query({
    name: "sluice-wake-job",
    text: `SELECT graphile_worker.add_job($1, json_build_object('region', $2::text), run_at => to_timestamp($3::float8 / 1000),
             max_attempts => $4, job_key => $5, job_key_mode => 'replace')`,
    values: [DISPATCH_TASK, region, runAtMs, MAX_ATTEMPTS, dispatchKey(region)],
  });
}

/** Whether a wake-up has been waiting for a runner for longer than this: nobody fetches jobs then. */
export async function isWakeJobOverdue(pool: Queryable, overdueMs: number): Promise<boolean> {
  const result = await pool.query({
    name: "sluice-wake-overdue",
    text: `SELECT 1 FROM graphile_worker.jobs j WHERE j.task_identifier = $1 AND j.locked_at IS NULL
             AND j.attempts < j.max_attempts AND j.run_at < statement_timestamp() - $2::float8 * interval '1 millisecond' LIMIT 1`,
    values: [DISPATCH_TASK, overdueMs],
  });
  return result.rowCount !== 0;
}

/**
 * Re-adds the wake-up at now when it is missing, has failed for good, or is locked by a worker that must have died with
 * it (graphile-worker itself would wait four hours), although something has been due for a while.
 * Returns whether it did.
 */
export async function restoreWakeJob(pool: Queryable, region: Region, dueForMs: number): Promise<boolean> {
  const result = await pool.query<{ missing: boolean }>({
    name: "sluice-wake-missing",
    text: `SELECT NOT EXISTS (SELECT 1 FROM graphile_worker.jobs j WHERE j.key = $1 AND j.attempts < j.max_attempts
                               AND (j.locked_at IS NULL OR j.locked_at > statement_timestamp() - $3::float8 * interval '1 millisecond'))
             AND EXISTS (SELECT 1 FROM (VALUES ('first'::sluice.lane, 'urgent'::sluice.service_class), ('first', 'routine'), ('retry', 'urgent'),
                         ('retry', 'routine'), ('replay', 'urgent'), ('replay', 'routine')) AS k(lane, service_class)
               CROSS JOIN LATERAL (SELECT 1 FROM sluice.delivery d WHERE d.state <> 'leased' AND d.lane = k.lane
                 AND d.service_class = k.service_class AND d.due_at < statement_timestamp() - $2::float8 * interval '1 millisecond' LIMIT 1) w) AS missing`,
    values: [dispatchKey(region), dueForMs, DEAD_LOCK_MS],
  });
  if (result.rows[0]?.missing !== true) return false;
  await writeWakeJob(pool, region, 0);
  return true;
}
