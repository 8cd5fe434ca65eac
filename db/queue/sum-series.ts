/**
 * Sums the minutes of tenants and destinations, and the samples of tenants, into the steps that a day's and a week's chart
 * are read from: an hour at once, when it is over, whole and anew, so that a repeat changes nothing. Any number of processes
 * may call it; one at a time sums, and never beside one that counts minutes, whose rows it could not see.
 */
import { END_BUCKETS, FIRST_AGE_BOUNDS_MS, SERVICE_BOUNDS_MS } from "#domain/series.ts";
import type { Queryable } from "./types.ts";

/** Widths of what is kept; each goes into an hour, which is summed at once. */
export const TENANT_SUM_MS = 900_000;
export const DESTINATION_SUM_MS = 3_600_000;
export const SAMPLE_SUM_MS = 1_800_000;

/** A little longer than the longest range of the charts: older minutes are removed, and not summed. */
export const KEEP_DAYS = 8;

const HOUR_MS = 3_600_000;
/** Attempts are recorded when they end, and counted up to a minute later: an hour that has just ended would be summed twice. */
const GRACE_MS = 300_000;
/** Most hours of one run, the oldest first: as much history as a run of the counting brings. */
const MAX_HOURS = 4;

const step = (ms: number) => `${ms} * interval '1 millisecond'`;
const bin = (width: string, moment: string) => `date_bin(${width}, ${moment}, 'epoch')`;

const COUNTERS = [
  "requests",
  "delivered",
  "rate_limited",
  "permanent",
  "server_error",
  "network",
  "blocked",
  "leases_expired",
  "died",
  "end_attempts",
] as const;
const MAXIMA = ["first_age_max_ms", "service_max_ms"] as const;
const SUMS = [...COUNTERS, ...MAXIMA, "first_ages", "services", "ends"];

const AGES = ["oldest_ms", "due_ms", "held_ms"] as const;
const DEPTHS = ["due_count", "held_count", "in_flight"] as const;
const SAMPLED = [...AGES, ...DEPTHS, "dead"];

function sumOf(column: string, length: number): string {
  const sums = Array.from({ length }, (_, index) => `sum(m.${column}[${index + 1}])`);
  return `ARRAY[${sums.join(", ")}]::integer[]`;
}

function update(columns: readonly string[]): string {
  return `DO UPDATE SET ${columns.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}
    WHERE (${columns.map((column) => `r.${column}`).join(", ")})
          IS DISTINCT FROM (${columns.map((column) => `EXCLUDED.${column}`).join(", ")})`;
}

/** Of each moment and tenant: the worst of its classes, and their depths together. */
const MOMENTS = `
  SELECT s.at, s.tenant_id, min(s.region) AS region, max(s.first_attempt_age_ms) AS oldest_ms, max(s.due_age_ms) AS due_ms,
         max(s.held_age_ms) AS held_ms, sum(s.due_count) AS due_count, sum(s.held_count) AS held_count, sum(s.in_flight) AS in_flight,
         sum(s.dead) AS dead
    FROM span JOIN sluice.queue_sample s ON s.scope = 'tenant' AND s.at >= span.low AND s.at < span.high
   GROUP BY 1, 2`;

/** $1 the days of `KEEP_DAYS`. */
const SUM = `
  WITH turn AS MATERIALIZED (
    SELECT r.rolled_at FROM sluice.series_run r
     WHERE r.what = 'attempts'
       AND EXISTS (SELECT 1 FROM sluice.series_summed d
                    WHERE d.what = 'series' AND d.summed_to + ${step(HOUR_MS + GRACE_MS)} <= least(r.rolled_at, statement_timestamp()))
       FOR UPDATE SKIP LOCKED),
  span AS MATERIALIZED (
    SELECT l.low, least(h.high, l.low + ${step(MAX_HOURS * HOUR_MS)}) AS high
      FROM turn JOIN sluice.series_summed d ON d.what = 'series'
     CROSS JOIN LATERAL (
       SELECT greatest(d.summed_to, ${bin("interval '1 hour'", "statement_timestamp() - $1::integer * interval '1 day'")}) AS low) l
     CROSS JOIN LATERAL (
       SELECT ${bin("interval '1 hour'", `least(turn.rolled_at, statement_timestamp()) - ${step(GRACE_MS)}`)} AS high) h
     -- Who counted between the begin of this statement and its turn has written minutes that this statement does not see.
     WHERE turn.rolled_at = (SELECT r.rolled_at FROM sluice.series_run r WHERE r.what = 'attempts') AND h.high > l.low),
  noted AS (
    UPDATE sluice.series_summed d SET summed_to = span.high FROM span WHERE d.what = 'series' RETURNING 1),
  last AS MATERIALIZED (
    SELECT ${bin(step(SAMPLE_SUM_MS), "r.at")} AS step, max(r.at) AS at
      FROM span JOIN sluice.sample_run r ON r.scope = 'tenant' AND r.ok AND r.at >= span.low AND r.at < span.high GROUP BY 1),
  sampled AS (
    INSERT INTO sluice.queue_sample_30m AS r (at, tenant_id, region, ${SAMPLED.join(", ")})
    SELECT l.step, m.tenant_id, min(m.region), ${[...AGES, ...DEPTHS].map((column) => `max(m.${column})`).join(", ")},
           coalesce(max(m.dead) FILTER (WHERE m.at = l.at), 0)
      FROM (${MOMENTS}) m
      JOIN sluice.sample_run o ON o.scope = 'tenant' AND o.ok AND o.at = m.at
      JOIN last l ON l.step = ${bin(step(SAMPLE_SUM_MS), "m.at")}
     GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (at, tenant_id) ${update(SAMPLED)}),
  summed AS (
    INSERT INTO sluice.series_sum AS r (at, tenant_id, destination_id, service_class, region, ${SUMS.join(", ")})
    SELECT ${bin(`CASE WHEN m.destination_id IS NULL THEN ${step(TENANT_SUM_MS)} ELSE ${step(DESTINATION_SUM_MS)} END`, "m.minute")},
           m.tenant_id, m.destination_id, m.service_class, min(m.region),
           ${COUNTERS.map((column) => `sum(m.${column})`).join(", ")}, ${MAXIMA.map((column) => `max(m.${column})`).join(", ")},
           ${sumOf("first_ages", FIRST_AGE_BOUNDS_MS.length + 1)},
           CASE WHEN m.destination_id IS NULL THEN '{}' ELSE ${sumOf("services", SERVICE_BOUNDS_MS.length + 1)} END,
           ${sumOf("ends", END_BUCKETS)}
      FROM span JOIN sluice.series_minute m ON m.tenant_id IS NOT NULL AND m.minute >= span.low AND m.minute < span.high
     GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (at, tenant_id, destination_id, service_class) ${update(SUMS)})
  SELECT (extract(epoch FROM span.high - span.low) / 3600)::integer AS hours FROM span`;

/**
 * Sums what is over and not summed yet, unless another process does.
 * @returns the hours that it summed: 0 when there is nothing to do, or when it is not its turn
 */
export async function sumSeries(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ hours: number }>({
    name: "sluice-sum-series",
    text: SUM,
    values: [KEEP_DAYS],
  });
  return rows[0]?.hours ?? 0;
}
