/**
 * Counts attempts by minute for charts and tiles: for the region, each tenant and each destination. Minutes are counted
 * anew, whole, from the attempts themselves, so a repeat changes nothing. Any number of processes may call it: one counts
 * at a time, and none counts what another has just counted. It must never wait for another process.
 */
import {
  END_BUCKETS,
  FIRST_AGE_BOUNDS_MS,
  GAP_BUCKETS,
  OUTCOMES_OF_GROUP,
  type OutcomeGroup,
  SERVICE_BOUNDS_MS,
} from "#domain/series.ts";
import { KEEP_DAYS, sumSeries } from "./sum-series.ts";
import type { Queryable } from "./types.ts";

/** Counted at most this often. */
export const ROLL_UP_EVERY_MS = 8_000;
/** How far before the last run a look for new rows goes back, so that late commits are in. */
const LOOK_BACK_MS = 60_000;
/** Most minutes of one run, the newest first: a database that starts with old attempts gets no older history. */
const MAX_MINUTES = 240;
/** Most rows that one run removes of a table. */
const MAX_REMOVED_ROWS = 5_000;

/** Index of the bucket of whole milliseconds: a bound belongs to the bucket that it ends. */
function bucketOf(expression: string, bounds: readonly number[]): string {
  return `width_bucket((${expression} - 1)::bigint, '{${bounds.join()}}'::bigint[])`;
}

/** One count a bucket, as an array. */
function histogram(bucket: string, buckets: number, first = 0): string {
  const counts = Array.from(
    { length: buckets },
    (_, index) => `count(*) FILTER (WHERE ${bucket} = ${index + first})`,
  );
  return `ARRAY[${counts.join(", ")}]::integer[]`;
}

function countOf(group: OutcomeGroup): string {
  const words = OUTCOMES_OF_GROUP[group].map((word) => `'${word}'`).join();
  return `count(*) FILTER (WHERE a.outcome IN (${words}))`;
}

/** The columns after the minute, in the order in which they are written. */
const COLUMNS = [
  "tenant_id",
  "destination_id",
  "service_class",
  "region",
  "requests",
  "delivered",
  "rate_limited",
  "permanent",
  "server_error",
  "network",
  "blocked",
  "leases_expired",
  "died",
  "first_ages",
  "first_age_max_ms",
  "services",
  "service_max_ms",
  "ends",
  "end_attempts",
  "gaps",
  "last_delivered_at",
] as const;
const KEY_COLUMNS = 4;
const COUNTED = COLUMNS.slice(KEY_COLUMNS);

// One row an attempt, with its bucket in each histogram; null where it is in none. The request before it is looked up by
// its delivery, and only for requests that had one; the lost lease of a first attempt tells when it was first due.
const BUCKETED = `
  SELECT a.tenant_id, a.destination_id, a.service_class, a.region, a.kind, a.outcome, a.decision, a.number, a.duration_ms,
         a.started_at + a.duration_ms * interval '1 millisecond' AS ended_at,
         f.age_ms, CASE WHEN f.age_ms IS NOT NULL THEN ${bucketOf("f.age_ms", FIRST_AGE_BOUNDS_MS)} END AS first_bucket,
         CASE WHEN a.kind = 'http' THEN ${bucketOf("a.duration_ms", SERVICE_BOUNDS_MS)} END AS service_bucket,
         CASE WHEN a.decision IN ('delivered', 'dead') AND a.number > 0 THEN least(a.number, ${END_BUCKETS}) END AS end_bucket,
         round(extract(epoch FROM t.minute - date_trunc('minute', p.before)) / 60) AS gap
    FROM sluice.attempt a
    LEFT JOIN LATERAL (
      SELECT max(e.started_at) FILTER (WHERE e.kind = 'http') AS before, min(e.due_at) AS due_at
        FROM sluice.attempt e
       WHERE a.number > 1 AND a.kind = 'http' AND e.delivery_id = a.delivery_id
         AND e.started_at >= t.minute - ${GAP_BUCKETS} * interval '1 minute' AND e.started_at < a.started_at) p ON true
   CROSS JOIN LATERAL (
      SELECT CASE WHEN a.kind = 'http' AND a.lane = 'first' THEN
        greatest(0, ceil(extract(epoch FROM a.started_at - least(a.due_at, p.due_at)) * 1000))::bigint END AS age_ms) f
   WHERE a.started_at >= t.minute AND a.started_at < t.minute + interval '1 minute'`;

const ROLL_UP = `
  WITH turn AS MATERIALIZED (
    SELECT r.rolled_at FROM sluice.series_run r
     WHERE r.what = 'attempts' AND r.rolled_at <= statement_timestamp() - $1::integer * interval '1 millisecond' FOR UPDATE SKIP LOCKED),
  noted AS (UPDATE sluice.series_run r SET rolled_at = statement_timestamp() FROM turn WHERE r.what = 'attempts' RETURNING 1),
  touched AS MATERIALIZED (
    SELECT DISTINCT date_trunc('minute', a.started_at) AS minute FROM sluice.attempt a
     WHERE a.recorded_at >= (SELECT turn.rolled_at FROM turn) - $2::integer * interval '1 millisecond'
     ORDER BY 1 DESC LIMIT ${MAX_MINUTES})
  INSERT INTO sluice.series_minute AS r (minute, ${COLUMNS.join(", ")})
  SELECT t.minute, c.* FROM touched t CROSS JOIN LATERAL (
    SELECT a.tenant_id, a.destination_id, a.service_class, min(a.region), count(*) FILTER (WHERE a.kind = 'http'),
           ${countOf("delivered")}, ${countOf("rateLimited")}, ${countOf("permanent")}, ${countOf("serverError")},
           ${countOf("network")}, ${countOf("blocked")}, count(*) FILTER (WHERE a.kind = 'lease_expired'),
           count(*) FILTER (WHERE a.decision = 'dead'),
           ${histogram("a.first_bucket", FIRST_AGE_BOUNDS_MS.length + 1)}, coalesce(max(a.age_ms), 0),
           ${histogram("a.service_bucket", SERVICE_BOUNDS_MS.length + 1)},
           coalesce(max(a.duration_ms) FILTER (WHERE a.kind = 'http'), 0),
           ${histogram("a.end_bucket", END_BUCKETS, 1)}, coalesce(sum(a.number) FILTER (WHERE a.end_bucket IS NOT NULL), 0),
           ${histogram("a.gap", GAP_BUCKETS)},
           max(a.ended_at) FILTER (WHERE a.decision = 'delivered')
      FROM (${BUCKETED}) a
     GROUP BY GROUPING SETS ((a.service_class), (a.tenant_id, a.service_class), (a.tenant_id, a.destination_id, a.service_class))) c
   ORDER BY 1, 2, 3, 4
  ON CONFLICT (minute, tenant_id, destination_id, service_class) DO UPDATE
    SET ${COUNTED.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}
    WHERE (${COUNTED.map((column) => `r.${column}`).join(", ")})
          IS DISTINCT FROM (${COUNTED.map((column) => `EXCLUDED.${column}`).join(", ")})`;

const PRUNE = [
  ["series_minute", "minute"],
  ["series_quarter", "at"],
  ["series_sum", "at"],
  ["queue_sample_30m", "at"],
  ["queue_sample_5m", "at"],
] as const;

/**
 * Counts what is new, unless another process does or has just done so; then sums the hours that are over, and removes what is
 * past its time. Returns how many rows the counting wrote.
 */
export async function rollUpSeries(pool: Queryable, everyMs = ROLL_UP_EVERY_MS): Promise<number> {
  const result = await pool.query({
    name: "sluice-roll-up-series",
    text: ROLL_UP,
    values: [everyMs, LOOK_BACK_MS],
  });
  await sumSeries(pool);
  for (const [table, column] of PRUNE) {
    await pool.query({
      name: `sluice-prune-${table}`,
      text: `DELETE FROM sluice.${table} s WHERE s.ctid = ANY (ARRAY(
               SELECT o.ctid FROM sluice.${table} o
                WHERE o.${column} < clock_timestamp() - $1::integer * interval '1 day' LIMIT ${MAX_REMOVED_ROWS}))`,
      values: [KEEP_DAYS],
    });
  }
  return result.rowCount ?? 0;
}
