/**
 * Writes what the console draws: ages, lags and counts by class every few seconds and by tenant every minute, and
 * whether the sampling succeeded. A failed sampling writes no numbers: no data is not zero. Any number of processes
 * may call it; one of them writes each moment.
 */
import type { Region } from "#domain/region.ts";
import type { Queryable } from "./types.ts";

export type SampleScope = "class" | "tenant";

/** Milliseconds between two samplings of a scope. */
export const SAMPLE_EVERY_MS: Readonly<Record<SampleScope, number>> = { class: 5_000, tenant: 60_000 };
const MAX_ERROR_CHARS = 200;
/** From this many live rows on, the sums by tenant are kept for the console, which would else sum all rows up for each look. */
export const KEPT_FROM_ROWS = 20_000;
/** How long they stand: longer than a reader may take who has just chosen their moment. */
const KEPT_MS = 20_000;

// The primary key of sample_run decides which process writes a moment; the numbers come from the same statement.
const SAMPLE = `
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
  run AS (
    INSERT INTO sluice.sample_run (at, scope, region, ok)
    SELECT date_bin($2::float8 * interval '1 millisecond', (SELECT now FROM clock), 'epoch'), $1, rc.region, true FROM sluice.region_control rc
    ON CONFLICT (scope, at) DO NOTHING RETURNING at, region),
  age AS MATERIALIZED (
    SELECT q.* FROM run CROSS JOIN LATERAL sluice.queue_age((SELECT now FROM clock)) q),
  kept AS (
    INSERT INTO sluice.queue_now (at, tenant_id, service_class, held_why, region, gate_until, first_due_at, due_count, due_since, held_count,
                                  held_since, gated_count, ready, delayed, in_flight, retry_due_count, retry_due_since)
    SELECT date_trunc('milliseconds', (SELECT now FROM clock)), a.tenant_id, a.service_class, a.held_why, r.region,
           max(a.gate_until) FILTER (WHERE a.gated_count > 0), min(a.first_due_at), sum(a.due_count), min(a.due_since), sum(a.held_count),
           min(a.held_since), sum(a.gated_count), sum(a.ready), sum(a.delayed), sum(a.in_flight), sum(a.retry_due_count), min(a.retry_due_since)
      FROM age a CROSS JOIN run r
     WHERE $1 = 'class' AND (SELECT sum(b.ready + b.delayed + b.in_flight) FROM age b) >= ${KEPT_FROM_ROWS}
     GROUP BY 2, 3, 4, 5),
  past AS (
    DELETE FROM sluice.queue_now q
     WHERE q.at < (SELECT now FROM clock) - ${KEPT_MS} * interval '1 millisecond' AND EXISTS (SELECT 1 FROM run)),
  dead AS MATERIALIZED (
    SELECT CASE WHEN $1 = 'tenant' THEN d.tenant_id END AS tenant_id, d.service_class, count(*) AS n
      FROM sluice.dead_letter d WHERE d.will_not_replay_at IS NULL AND EXISTS (SELECT 1 FROM run) GROUP BY 1, 2),
  live AS MATERIALIZED (
    SELECT CASE WHEN $1 = 'tenant' THEN a.tenant_id END AS tenant_id, a.service_class,
           greatest(0, coalesce(extract(epoch FROM (SELECT now FROM clock) - min(a.first_due_at)) * 1000, 0))::bigint AS first_attempt_age_ms,
           sum(a.due_count) AS due_count,
           greatest(0, coalesce(extract(epoch FROM (SELECT now FROM clock) - min(a.due_since)) * 1000, 0))::bigint AS due_age_ms,
           sum(a.held_count) AS held_count,
           greatest(0, coalesce(extract(epoch FROM (SELECT now FROM clock) - min(a.held_since)) * 1000, 0))::bigint AS held_age_ms,
           sum(a.gated_count) AS gated_count, sum(a.ready) AS ready, sum(a.delayed) AS delayed, sum(a.in_flight) AS in_flight
      FROM age a GROUP BY 1, 2),
  class AS (SELECT unnest(enum_range(NULL::sluice.service_class)) AS service_class),
  known AS (
    SELECT NULL::uuid AS tenant_id, c.service_class FROM class c WHERE $1 = 'class'
    UNION SELECT l.tenant_id, l.service_class FROM live l
    UNION SELECT d.tenant_id, d.service_class FROM dead d)
  INSERT INTO sluice.queue_sample (at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms, held_count,
                                   held_age_ms, gated_count, ready, delayed, in_flight, dead)
  SELECT r.at, $1, k.tenant_id, k.service_class, r.region, coalesce(l.first_attempt_age_ms, 0), coalesce(l.due_count, 0),
         coalesce(l.due_age_ms, 0), coalesce(l.held_count, 0), coalesce(l.held_age_ms, 0), coalesce(l.gated_count, 0), coalesce(l.ready, 0),
         coalesce(l.delayed, 0), coalesce(l.in_flight, 0), coalesce(d.n, 0)
    FROM run r CROSS JOIN known k
    LEFT JOIN live l ON l.service_class = k.service_class AND l.tenant_id IS NOT DISTINCT FROM k.tenant_id
    LEFT JOIN dead d ON d.service_class = k.service_class AND d.tenant_id IS NOT DISTINCT FROM k.tenant_id
   WHERE ($1 = 'tenant') = (k.tenant_id IS NOT NULL)`;

/** Takes the sample of the present moment unless another process has. Returns how many rows it wrote. */
export async function sampleQueueAge(pool: Queryable, scope: SampleScope): Promise<number> {
  const result = await pool.query({
    name: `sluice-sample-${scope}`,
    text: SAMPLE,
    values: [scope, SAMPLE_EVERY_MS[scope]],
  });
  return result.rowCount ?? 0;
}

/** Notes that a sampling failed, so that a gap has a reason. */
export async function noteFailedSample(
  pool: Queryable,
  region: Region,
  scope: SampleScope,
  error: string,
): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.sample_run (at, scope, region, ok, error) VALUES (clock_timestamp(), $1, $2, false, $3)
     ON CONFLICT (scope, at) DO NOTHING`,
    [scope, region, error.slice(0, MAX_ERROR_CHARS)],
  );
}

/** How far before the newest minute that stands a look for new rows goes back, so that late commits are in. */
const LOOK_BACK_MINUTES = 2;

// Each minute that a new row belongs to is counted anew, whole, however long ago the attempt began: a database that did
// not answer, a worker that died and a region that stood still record late.
const ROLL_UP = `
  WITH touched AS MATERIALIZED (
    SELECT DISTINCT date_trunc('minute', a.started_at) AS minute FROM sluice.attempt a
     WHERE a.recorded_at >= coalesce((SELECT max(r.minute) FROM sluice.attempt_rollup r), '-infinity') - $1::integer * interval '1 minute')
  INSERT INTO sluice.attempt_rollup AS r (minute, tenant_id, destination_id, service_class, outcome, decision, region, attempts, first_attempts,
                                          duration_sum_ms, duration_max_ms, duration_p95_ms)
  SELECT t.minute, c.* FROM touched t CROSS JOIN LATERAL (
    SELECT a.tenant_id, a.destination_id, a.service_class, a.outcome, a.decision, a.region, count(*), count(*) FILTER (WHERE a.number = 1 AND a.kind = 'http'),
           sum(a.duration_ms), max(a.duration_ms), percentile_disc(0.95) WITHIN GROUP (ORDER BY a.duration_ms)
      FROM sluice.attempt a
     WHERE a.started_at >= t.minute AND a.started_at < t.minute + interval '1 minute'
     GROUP BY 1, 2, 3, 4, 5, 6) c
   ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (minute, tenant_id, destination_id, service_class, outcome, decision) DO UPDATE
    SET attempts = EXCLUDED.attempts, first_attempts = EXCLUDED.first_attempts, duration_sum_ms = EXCLUDED.duration_sum_ms,
        duration_max_ms = EXCLUDED.duration_max_ms, duration_p95_ms = EXCLUDED.duration_p95_ms
    WHERE r.attempts <> EXCLUDED.attempts`;

/** Counts attempts by minute from the rows themselves: running it twice changes nothing. */
export async function rollUpAttempts(pool: Queryable): Promise<void> {
  await pool.query({ name: "sluice-roll-up", text: ROLL_UP, values: [LOOK_BACK_MINUTES] });
}

/**
 * Gives the newest attempts their place in the indexes by time, which vacuum would do much later: without it a look for new ones reads
 * everything since. Any number of processes may call it. Returns how many ranges of pages that were.
 */
export async function summarizeAttempts(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ ranges: number }>("SELECT sluice.summarize_attempts() AS ranges");
  return rows[0]?.ranges ?? 0;
}
