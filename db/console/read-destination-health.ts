/**
 * How the named destinations of one region do: success and latency from the attempts by minute, the last result, limits,
 * leases, dead letters. It must never be asked for a whole region: a page names its destinations. Of a URL only the host
 * and the mask leave this file.
 */
import { toPublicId } from "#domain/ids.ts";
import { maskUrl } from "#domain/masked-url.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import type { TenantName } from "./names.ts";
import type { Reader } from "./read-region.ts";
import { ageOf, FAILING, LIST_COUNT_LIMIT } from "./read-tenant-numbers.ts";

/** Most destinations of one read. */
export const MAX_HEALTHY_DESTINATIONS = 101;
export const SUCCESS_WINDOW_MS = 24 * 60 * 60_000;
export const LATENCY_WINDOW_MS = 60 * 60_000;

export type DestinationState = "active" | "paused" | "disabled" | "circuit_open" | "rate_limited" | "deleted";

/** The state of row x (destination) with s (its state). $1 is the time of the answer. */
export const DESTINATION_STATE = `
  CASE WHEN x.deleted_at IS NOT NULL THEN 'deleted' WHEN x.disabled_at IS NOT NULL THEN 'disabled'
       WHEN x.pause_until > $1 THEN 'paused' WHEN s.breaker = 'open' THEN 'circuit_open'
       WHEN s.hold_until > $1 THEN 'rate_limited' ELSE 'active' END`;

export interface LastResult {
  /** Word of domain/outcome.ts. */
  outcome: string;
  status: number | null;
  /** UTC; of the minute where only that is known. */
  at: string;
}

export interface DestinationHealth {
  /** `dst_...` */
  id: string;
  name: string;
  tenant: TenantName;
  /** Host and port. */
  host: string;
  /** Scheme, host and a mark for each part of the path. */
  maskedUrl: string;
  state: DestinationState;
  /** Since when it is so, UTC: of a gate since it was shut the last time, of one that only fails since its first failure. */
  stateSince: string | null;
  /** When the state ends by itself, UTC. */
  stateUntil: string | null;
  stateReason: string | null;
  /** The tenant's own pause holds it too. */
  tenantPausedUntil: string | null;
  /** Gives trouble, whatever its state: disabled, breaker open, or only failures lately. */
  failing: boolean;
  failuresSinceSuccess: number;
  /** Requests of the last 24 h that were answered or should have been. */
  success: { requests: number; delivered: number };
  /** 95 % of the requests of the last hour were in minutes whose own p95 was at most this; null: there were none. */
  latencyP95Ms: number | null;
  last: LastResult | null;
  /** The newest that a gate was set by. */
  retryAfter: { raw: string; seenAt: string | null } | null;
  inFlight: number;
  concurrency: {
    /** Its own; null inherits. */
    limit: number | null;
    /** Its own or the region's. */
    desired: number;
    /** What the product found that the receiver takes; null: the cap alone limits. */
    adaptive: number | null;
    pinned: boolean;
  };
  /** Null: no rate. */
  ratePerSecond: number | null;
  rateBurst: number;
  secretSetAt: string;
  /** Until when the previous secret signs too; null: it has ended. */
  previousSecretUntil: string | null;
  /** Exact up to `LIST_COUNT_LIMIT`. */
  deadLetters: CountAndAge;
}

/** Ends that say nothing of the destination: no request of ours was made, or its answer came too late to count. */
const NOT_ITS_OWN = "ARRAY['lease_expired', 'stale_result', 'payload_erased', 'config_error', 'shutdown']";

/** How long before its end a delivery was accepted at most to be looked for as the last one of its destination. */
const LONGEST_WAY = "interval '3 days'";
/** Newest accepted ones among which the last that ended is looked for: ids follow acceptance. */
const NEWEST_ENDED = 5;

/** The newest minute with attempts of destination `x`, and what came of them. */
const NEWEST_MINUTE = `
  SELECT r.outcome, r.minute FROM sluice.attempt_rollup r
   WHERE r.destination_id = x.id AND r.outcome <> ALL (${NOT_ITS_OWN}) ORDER BY r.minute DESC, r.attempts DESC LIMIT 1`;

/** Applications make the ids, by clocks that may be ahead. */
const AHEAD = "interval '1 hour'";

/**
 * Between which ids the last ends of all destinations of $2 are; $1 the time of the answer. Known before the statement below is
 * planned, they leave some days of the archive, where the planning of all of them takes longer than the reading.
 */
const ENDED_IDS = `
  SELECT sluice.uuid_floor(coalesce(min(m.minute), $1::timestamptz) - ${LONGEST_WAY}) AS low,
         sluice.uuid_floor($1::timestamptz + ${AHEAD}) AS high
    FROM unnest($2::uuid[]) x(id) CROSS JOIN LATERAL (${NEWEST_MINUTE}) m`;

/** $1 the time of the answer, $2 the destinations, $3 the most dead letters that are counted, $4 and $5 the windows in ms, $6 and $7 as above. */
const HEALTH = `
  WITH day AS MATERIALIZED (
    -- One pass: what is summed keeps the p95 of its minute apart only where the latency is asked for.
    SELECT r.destination_id, CASE WHEN r.minute > $1::timestamptz - $5::float8 * interval '1 millisecond' THEN r.duration_p95_ms END AS p95_ms,
           sum(r.attempts) AS requests, coalesce(sum(r.attempts) FILTER (WHERE r.decision = 'delivered'), 0) AS delivered
      FROM sluice.attempt_rollup r
     WHERE r.destination_id = ANY ($2::uuid[]) AND r.minute > $1::timestamptz - $4::float8 * interval '1 millisecond'
       AND r.outcome <> ALL (${NOT_ITS_OWN})
     GROUP BY 1, 2
  ), success AS MATERIALIZED (
    SELECT destination_id, sum(requests)::integer AS requests, sum(delivered)::integer AS delivered FROM day GROUP BY 1
  ), latency AS MATERIALIZED (
    SELECT w.destination_id, min(w.p95_ms) AS p95_ms
      FROM (SELECT d.destination_id, d.p95_ms, sum(d.requests) OVER (PARTITION BY d.destination_id ORDER BY d.p95_ms) AS upto,
                   sum(d.requests) OVER (PARTITION BY d.destination_id) AS total
              FROM day d WHERE d.p95_ms IS NOT NULL) w
     WHERE w.upto >= 0.95 * w.total GROUP BY 1
  ), leased AS MATERIALIZED (
    SELECT d.destination_id, count(*)::integer AS n FROM sluice.delivery d WHERE d.state = 'leased' AND d.lease_until > $1 GROUP BY 1
  )
  SELECT x.id, x.name, x.url, x.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name, ${DESTINATION_STATE} AS state, ${FAILING} AS failing,
         x.paused_at, x.pause_until, x.pause_reason, x.disabled_at, x.disabled_reason, CASE WHEN t.pause_until > $1 THEN t.pause_until END AS tenant_pause_until,
         s.hold_until, s.hold_set_at, s.hold_retry_after, s.hold_status, s.breaker_until, s.breaker_opened_at, s.breaker_why,
         s.failing_since,
         coalesce(s.failures_since_success, 0) AS failures, s.adaptive_limit, coalesce(s.adaptive_pinned, false) AS pinned,
         x.concurrency_limit, coalesce(x.concurrency_limit, rc.default_destination_concurrency) AS desired,
         x.rate_per_second::float8 AS rate_per_second, x.rate_burst, x.secret_set_at,
         CASE WHEN x.secret_previous_until > $1 THEN x.secret_previous_until END AS previous_until,
         coalesce(u.requests, 0) AS requests, coalesce(u.delivered, 0) AS delivered, l.p95_ms, coalesce(n.n, 0) AS in_flight,
         c.n AS dead, o.died_at AS oldest_died_at, last.outcome, last.status, last.at AS last_at
    FROM sluice.destination x
    JOIN sluice.tenant t ON t.id = x.tenant_id
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
    LEFT JOIN success u ON u.destination_id = x.id
    LEFT JOIN latency l ON l.destination_id = x.id
    LEFT JOIN leased n ON n.destination_id = x.id
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS n FROM (
       SELECT 1 FROM sluice.dead_letter e WHERE e.destination_id = x.id AND e.will_not_replay_at IS NULL LIMIT $3) m) c
    LEFT JOIN LATERAL (
     SELECT e.died_at FROM sluice.dead_letter e WHERE e.destination_id = x.id AND e.will_not_replay_at IS NULL
      ORDER BY e.died_at, e.id DESC LIMIT 1) o ON true
    LEFT JOIN LATERAL (${NEWEST_MINUTE}) m ON true
    LEFT JOIN LATERAL (
     -- What ended last, what shut the gate last, and the newest minute with attempts: of one that only waits for its
     -- next try the minute is all that is known, and a code where a waiting row tells of the same outcome.
     SELECT w.outcome, w.status, w.at FROM (
       (SELECT a.last_outcome AS outcome, a.last_status AS status, a.finished_at AS at FROM (
          SELECT a.last_outcome, a.last_status, a.finished_at FROM sluice.delivery_archive a
           WHERE a.destination_id = x.id AND a.last_outcome IS NOT NULL
             AND a.id >= $6::uuid AND a.id < $7::uuid
           ORDER BY a.id DESC LIMIT ${NEWEST_ENDED}) a
         ORDER BY a.finished_at DESC LIMIT 1)
       UNION ALL
       (SELECT e.last_outcome, e.last_status, e.died_at FROM sluice.dead_letter e
         WHERE e.destination_id = x.id AND e.last_outcome IS NOT NULL ORDER BY e.died_at DESC, e.id LIMIT 1)
       UNION ALL
       (SELECT 'rate_limited', s.hold_status, s.hold_set_at WHERE s.hold_set_at IS NOT NULL)
       UNION ALL
       (SELECT m.outcome, CASE WHEN b.last_outcome = m.outcome THEN b.last_status END, m.minute
          FROM (SELECT 1 WHERE m.minute IS NOT NULL) r
          LEFT JOIN LATERAL (
            SELECT d.last_outcome, d.last_status FROM unnest(enum_range(NULL::sluice.service_class)) k(class)
             CROSS JOIN LATERAL (SELECT d.last_outcome, d.last_status, d.due_at FROM sluice.delivery d
                WHERE d.state <> 'leased' AND d.lane = 'retry' AND d.service_class = k.class AND d.tenant_id = x.tenant_id
                  AND d.destination_id = x.id ORDER BY d.due_at DESC LIMIT 1) d
             ORDER BY d.due_at DESC LIMIT 1) b ON true)) w
     ORDER BY w.at DESC LIMIT 1) last ON true
   WHERE x.id = ANY ($2::uuid[])
   LIMIT ${MAX_HEALTHY_DESTINATIONS}`;

interface HealthRow {
  id: string;
  name: string;
  url: string;
  tenant_id: string;
  tenant_slug: string;
  tenant_name: string;
  state: DestinationState;
  failing: boolean;
  paused_at: Date | null;
  pause_until: Date | null;
  pause_reason: string | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  tenant_pause_until: Date | null;
  hold_until: Date | null;
  hold_set_at: Date | null;
  hold_retry_after: string | null;
  hold_status: number | null;
  breaker_until: Date | null;
  breaker_opened_at: Date | null;
  breaker_why: string | null;
  failing_since: Date | null;
  failures: number;
  adaptive_limit: number | null;
  pinned: boolean;
  concurrency_limit: number | null;
  desired: number;
  rate_per_second: number | null;
  rate_burst: number;
  secret_set_at: Date;
  previous_until: Date | null;
  requests: number;
  delivered: number;
  p95_ms: number | null;
  in_flight: number;
  dead: number;
  oldest_died_at: Date | null;
  outcome: string | null;
  status: number | null;
  last_at: Date | null;
}

/** The health of the named destinations (UUIDs, at most `MAX_HEALTHY_DESTINATIONS`) by UUID. */
export async function readDestinationHealth(
  sql: Reader,
  asOf: Date,
  destinationIds: readonly string[],
  deadLimit = LIST_COUNT_LIMIT,
): Promise<Map<string, DestinationHealth>> {
  if (destinationIds.length === 0) return new Map();
  const wanted = destinationIds.slice(0, MAX_HEALTHY_DESTINATIONS);
  const [ended] = await sql<{ low: string; high: string }>(ENDED_IDS, [asOf, wanted]);
  const windows = [SUCCESS_WINDOW_MS, LATENCY_WINDOW_MS];
  const values = [asOf, wanted, deadLimit + 1, ...windows, ended?.low, ended?.high];
  const rows = await sql<HealthRow>(HEALTH, values);
  return new Map(rows.map((row) => [row.id, toHealth(row, asOf)]));
}

function toHealth(row: HealthRow, asOf: Date): DestinationHealth {
  const { host, masked } = maskUrl(row.url);
  return {
    id: toPublicId("dst", row.id),
    name: row.name,
    tenant: { id: toPublicId("ten", row.tenant_id), slug: row.tenant_slug, name: row.tenant_name },
    host,
    maskedUrl: masked,
    state: row.state,
    ...endOf(row),
    tenantPausedUntil: row.tenant_pause_until?.toISOString() ?? null,
    failing: row.failing,
    failuresSinceSuccess: row.failures,
    success: { requests: row.requests, delivered: row.delivered },
    latencyP95Ms: row.p95_ms,
    last:
      row.outcome === null || row.last_at === null
        ? null
        : { outcome: row.outcome, status: row.status, at: row.last_at.toISOString() },
    retryAfter:
      row.hold_retry_after === null
        ? null
        : { raw: row.hold_retry_after, seenAt: row.hold_set_at?.toISOString() ?? null },
    inFlight: row.in_flight,
    concurrency: {
      limit: row.concurrency_limit,
      desired: row.desired,
      adaptive: row.adaptive_limit,
      pinned: row.pinned,
    },
    ratePerSecond: row.rate_per_second,
    rateBurst: row.rate_burst,
    secretSetAt: row.secret_set_at.toISOString(),
    previousSecretUntil: row.previous_until?.toISOString() ?? null,
    deadLetters: { count: row.dead, oldestMs: ageOf(row.oldest_died_at, asOf) },
  };
}

function endOf(row: HealthRow): Pick<DestinationHealth, "stateSince" | "stateUntil" | "stateReason"> {
  const named = (since: Date | null, until: Date | null, reason: string | null) => ({
    stateSince: since?.toISOString() ?? null,
    stateUntil: until?.toISOString() ?? null,
    stateReason: reason,
  });
  switch (row.state) {
    case "disabled":
      return named(row.disabled_at, null, row.disabled_reason);
    case "paused":
      return named(row.paused_at, row.pause_until, row.pause_reason);
    case "circuit_open":
      return named(row.breaker_opened_at, row.breaker_until, row.breaker_why);
    case "rate_limited":
      return named(row.hold_set_at, row.hold_until, `answered ${row.hold_status ?? "with a limit"}`);
    default:
      return named(row.failing ? row.failing_since : null, null, null);
  }
}
