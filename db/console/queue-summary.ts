/**
 * Sums `sluice.queue_age` up for a region and for its tenants. One statement scans the live table once, or the sums that a
 * sampling has kept of it; everything else in it is looked up by an index for the few tenants that are shown. The rest is
 * arithmetic on its small answer.
 */
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import { toPublicId } from "#domain/ids.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import { FIRST_AGE_BOUNDS_MS, quantileOf } from "#domain/series.ts";
import type { FirstAttempt } from "./ages.ts";
import { queueRows } from "./queue-now.ts";
import { LOADS, LOADS_JSON, type LoadsJson } from "./tenant-loads.ts";

/** The answer of `queueText`. Instants are milliseconds since 1970. */
export interface QueueJson {
  classes: {
    serviceClass: ServiceClass;
    firstDueMs: number | null;
    tenantsLate: number;
    dueCount: number;
    dueSinceMs: number | null;
    gated: number;
    ready: number;
    delayed: number;
    inFlight: number;
    retryDueCount: number;
    retryDueSinceMs: number | null;
  }[];
  held: { why: string; count: number; sinceMs: number | null }[];
  tenants: TenantJson[];
  tenantCount: number;
  /** Tenants with a first attempt past its target, in whatever class. */
  tenantsLate: number;
  /** What all tenants take of the region, and those that take most. */
  loads: LoadsJson;
}

interface TenantJson {
  id: string;
  slug: string | null;
  name: string | null;
  pauseUntilMs: number | null;
  pauseReason: string | null;
  firstDueMs: number | null;
  /** The class of the oldest first attempt. */
  firstClass: ServiceClass | null;
  dueCount: number;
  dueSinceMs: number | null;
  gated: number;
  gateUntilMs: number | null;
  heldCount: number;
  heldSinceMs: number | null;
  heldWhy: string | null;
  ready: number;
  delayed: number;
  inFlight: number;
  dead: number;
  oldestDiedMs: number | null;
  lastDeliveredMs: number | null;
  /** Most requests at once: its own cap, or the region's default. */
  limit: number;
  /** Destinations whose breaker is open, and when the first of them is tried again. */
  breakers: number;
  breakerUntilMs: number | null;
  /** Destinations that work below their cap because they gave trouble. */
  limited: number;
  /** Of the last 5 minutes. */
  requests: number;
  rateLimited: number;
  /** Of the minutes that `loads` counts; null for a deleted tenant. */
  loadRequests: number | null;
  firstAges: number[] | null;
  firstAgeMaxMs: number;
}

/** Dead letters of one tenant are counted up to here; a larger count is answered as this plus one. */
export const TENANT_DEAD_LIMIT = 1_000;
/** Tenants with dead letters that are looked at. */
const MAX_DEAD_TENANTS = 10_000;
/** The rates of a tenant's line look back this long. */
const RECENT = "interval '5 minutes'";

export type TenantState = "active" | "paused" | "circuit_open" | "rate_limited" | "limited" | "held";

/** One line of the tenant x region matrix. */
export interface MatrixRow {
  /** `ten_...` */
  id: string;
  slug: string;
  name: string;
  state: TenantState;
  /** When the state ends by itself, UTC. */
  stateUntil: string | null;
  stateReason: string | null;
  firstAttemptMs: number;
  /** The class of the oldest one; null when none waits. */
  firstAttemptClass: ServiceClass | null;
  due: CountAndAge;
  gated: number;
  held: CountAndAge & { why: string | null };
  ready: number;
  delayed: number;
  inFlight: number;
  /** Most requests at once. */
  limit: number;
  /** Of the last 5 minutes; null when nothing was tried for the first time. */
  firstAttemptP95Ms: number | null;
  /** 429 answers of all requests of the last 5 minutes; null when there was no request. */
  rateLimitedShare: number | null;
  /** Its part of all requests of the last 5 minutes, of the tenants in scope; null when there was no request. */
  requestShare: number | null;
  /** `count` is `TENANT_DEAD_LIMIT + 1` for anything above it. */
  deadLetters: CountAndAge;
  lastDeliveredAt: string | null;
}

/** A row of `q` whose oldest first attempt is past the target of its class. */
const LATE = `q.first_due_at < $1::timestamptz
  - CASE WHEN q.service_class = 'urgent' THEN $3::integer ELSE $4::integer END * interval '1 millisecond'`;

const FIRST_AGE_SUMS = Array.from(
  { length: FIRST_AGE_BOUNDS_MS.length + 1 },
  (_, index) => `sum(m.first_ages[${index + 1}])`,
).join(", ");

/** The oldest dead letter of each tenant of $5. */
const OLDEST_DEAD = `
    -- One step a tenant, however many dead letters it has.
    WITH RECURSIVE walk AS (
      (SELECT tenant_id, died_at FROM sluice.dead_letter
        WHERE will_not_replay_at IS NULL AND ($5::uuid[] IS NULL OR tenant_id = ANY ($5)) ORDER BY tenant_id, died_at LIMIT 1)
      UNION ALL
      SELECT n.* FROM walk CROSS JOIN LATERAL (
        SELECT d.tenant_id, d.died_at FROM sluice.dead_letter d
         WHERE d.will_not_replay_at IS NULL AND d.tenant_id > walk.tenant_id AND ($5::uuid[] IS NULL OR d.tenant_id = ANY ($5))
         ORDER BY d.tenant_id, d.died_at LIMIT 1) n)
    SELECT tenant_id, died_at AS oldest FROM walk LIMIT ${MAX_DEAD_TENANTS}`;

/** What was tried lately of each ranked tenant. */
const RECENT_COUNTS = `
    SELECT r.tenant_id, sum(m.requests) AS requests, sum(m.rate_limited) AS rate_limited, max(m.first_age_max_ms) AS first_age_max_ms,
           ARRAY[${FIRST_AGE_SUMS}] AS first_ages
      FROM ranked r
      JOIN sluice.series_minute m
        ON m.tenant_id = r.tenant_id AND m.destination_id IS NULL AND m.minute >= date_trunc('minute', $1::timestamptz - ${RECENT})
     GROUP BY 1`;

/**
 * $1 the time of the answer, $2 the most tenants, $3 and $4 the first-attempt targets of urgent and routine in ms,
 * $5 the tenants of the scope (null: all); nobody else is in any number.
 * Tenants are ranked by their worst lag; one with dead letters only still has a line.
 * @param kept from the kept sums of $1
 */
export const queueText = (kept: boolean): string => `
  WITH q AS MATERIALIZED (
    SELECT * FROM ${queueRows(kept, "$1", "$5")}
  ), dead AS MATERIALIZED (
${OLDEST_DEAD}
  ), per AS MATERIALIZED (
    SELECT coalesce(q.tenant_id, dead.tenant_id) AS tenant_id,
           min(q.first_due_at) AS first_due_at,
           (array_agg(q.service_class ORDER BY q.first_due_at NULLS LAST))[1] AS first_class,
           coalesce(sum(q.due_count), 0) AS due_count, min(q.due_since) AS due_since,
           coalesce(sum(q.gated_count), 0) AS gated, max(q.gate_until) FILTER (WHERE q.gated_count > 0) AS gate_until,
           coalesce(sum(q.held_count), 0) AS held_count, min(q.held_since) AS held_since,
           min(q.held_why) FILTER (WHERE q.held_count > 0) AS held_why,
           coalesce(sum(q.ready), 0) AS ready, coalesce(sum(q.delayed), 0) AS delayed,
           coalesce(sum(q.in_flight), 0) AS in_flight,
           min(dead.oldest) AS oldest_died
      FROM q FULL JOIN dead ON dead.tenant_id = q.tenant_id
     GROUP BY 1
  ), ranked AS (
    SELECT p.*, t.slug, t.name, t.pause_until, t.pause_reason,
           coalesce(t.concurrency_limit, (SELECT rc.default_tenant_concurrency FROM sluice.region_control rc)) AS concurrency,
           row_number() OVER (ORDER BY least(p.first_due_at, p.due_since) NULLS LAST, p.held_since NULLS LAST,
                                       p.gated DESC, p.oldest_died NULLS LAST, t.slug) AS place
      FROM per p
      LEFT JOIN sluice.tenant t ON t.id = p.tenant_id
     ORDER BY place
     LIMIT $2
  ), recent AS (
${RECENT_COUNTS}
  ), ${LOADS}
  SELECT json_build_object(
    'classes', coalesce((SELECT json_agg(c) FROM (
      SELECT q.service_class AS "serviceClass", ${ms("min(q.first_due_at)")} AS "firstDueMs",
             count(DISTINCT q.tenant_id) FILTER (WHERE ${LATE}) AS "tenantsLate",
             sum(q.due_count) AS "dueCount", ${ms("min(q.due_since)")} AS "dueSinceMs", sum(q.gated_count) AS "gated",
             sum(q.ready) AS "ready", sum(q.delayed) AS "delayed", sum(q.in_flight) AS "inFlight",
             sum(q.retry_due_count) AS "retryDueCount", ${ms("min(q.retry_due_since)")} AS "retryDueSinceMs"
        FROM q GROUP BY q.service_class ORDER BY q.service_class) c), '[]'),
    'held', coalesce((SELECT json_agg(h) FROM (
      SELECT q.held_why AS "why", sum(q.held_count) AS "count", ${ms("min(q.held_since)")} AS "sinceMs"
        FROM q WHERE q.held_count > 0 GROUP BY q.held_why ORDER BY min(q.held_since)) h), '[]'),
    'tenants', coalesce((SELECT json_agg(json_build_object(
      'id', r.tenant_id, 'slug', r.slug, 'name', r.name,
      'pauseUntilMs', ${ms("CASE WHEN r.pause_until > $1 THEN r.pause_until END")}, 'pauseReason', r.pause_reason,
      'firstDueMs', ${ms("r.first_due_at")}, 'firstClass', CASE WHEN r.first_due_at IS NOT NULL THEN r.first_class END,
      'dueCount', r.due_count, 'dueSinceMs', ${ms("r.due_since")}, 'gated', r.gated, 'gateUntilMs', ${ms("r.gate_until")},
      'heldCount', r.held_count, 'heldSinceMs', ${ms("r.held_since")}, 'heldWhy', r.held_why,
      'ready', r.ready, 'delayed', r.delayed, 'inFlight', r.in_flight,
      'dead', coalesce(dead.n, 0), 'oldestDiedMs', ${ms("r.oldest_died")}, 'lastDeliveredMs', ${ms("delivered.at")},
      'limit', r.concurrency, 'breakers', health.breakers, 'breakerUntilMs', ${ms("health.breaker_until")}, 'limited', health.limited,
      'requests', coalesce(recent.requests, 0), 'rateLimited', coalesce(recent.rate_limited, 0), 'firstAges', recent.first_ages,
      'loadRequests', lately.requests, 'firstAgeMaxMs', coalesce(recent.first_age_max_ms, 0)) ORDER BY r.place)
      FROM ranked r
      LEFT JOIN recent ON recent.tenant_id = r.tenant_id
      LEFT JOIN loads lately ON lately.id = r.tenant_id
      LEFT JOIN LATERAL (
        SELECT count(*) AS n FROM (SELECT 1 FROM sluice.dead_letter d WHERE d.tenant_id = r.tenant_id AND d.will_not_replay_at IS NULL
                                    LIMIT ${TENANT_DEAD_LIMIT + 1}) d) dead ON r.oldest_died IS NOT NULL
      LEFT JOIN LATERAL (
        SELECT m.last_delivered_at AS at FROM sluice.series_minute m
         WHERE m.tenant_id = r.tenant_id AND m.destination_id IS NULL AND m.delivered > 0 ORDER BY m.minute DESC LIMIT 1) delivered ON true
      LEFT JOIN LATERAL (
        SELECT count(*) FILTER (WHERE s.breaker = 'open') AS breakers, min(s.breaker_until) FILTER (WHERE s.breaker = 'open') AS breaker_until,
               count(*) FILTER (WHERE s.adaptive_limit IS NOT NULL AND NOT s.adaptive_pinned) AS limited
          FROM sluice.destination x JOIN sluice.destination_state s ON s.destination_id = x.id
         WHERE x.tenant_id = r.tenant_id AND x.deleted_at IS NULL) health ON true), '[]'),
    'tenantsLate', (SELECT count(DISTINCT q.tenant_id) FROM q WHERE ${LATE}),
    'tenantCount', (SELECT count(*) FROM per),
    'loads', ${LOADS_JSON}) AS queue`;

function ms(expression: string): string {
  return `(extract(epoch FROM ${expression}) * 1000)::double precision`;
}

/** The region's part of the answer that comes from the live table. */
export interface QueueSummary {
  firstAttempt: FirstAttempt[];
  due: CountAndAge;
  gated: number;
  ready: number;
  delayed: number;
  inFlight: number;
  held: ({ why: string } & CountAndAge)[];
  tenantsLate: number;
  /** The second objective: due work that was attempted before, behind its due time. A part of `due`. */
  delayedLag: CountAndAge;
}

/** Sums over the classes; ages are never summed, the oldest counts. */
export function summarise(queue: QueueJson, asOf: Date): QueueSummary {
  const nowMs = asOf.getTime();
  const total = (key: "dueCount" | "gated" | "ready" | "delayed" | "inFlight" | "retryDueCount") =>
    queue.classes.reduce((sum, row) => sum + row[key], 0);
  return {
    firstAttempt: SERVICE_CLASSES.map((serviceClass) => {
      const row = queue.classes.find((one) => one.serviceClass === serviceClass);
      return {
        serviceClass,
        oldestMs: ageOf(row?.firstDueMs ?? null, nowMs),
        tenantsLate: row?.tenantsLate ?? 0,
      };
    }),
    due: {
      count: total("dueCount"),
      oldestMs: Math.max(0, ...queue.classes.map((row) => ageOf(row.dueSinceMs, nowMs))),
    },
    gated: total("gated"),
    ready: total("ready"),
    delayed: total("delayed"),
    inFlight: total("inFlight"),
    held: queue.held.map((row) => ({ why: row.why, count: row.count, oldestMs: ageOf(row.sinceMs, nowMs) })),
    tenantsLate: queue.tenantsLate,
    delayedLag: {
      count: total("retryDueCount"),
      oldestMs: Math.max(0, ...queue.classes.map((row) => ageOf(row.retryDueSinceMs, nowMs))),
    },
  };
}

/** The matrix lines in their rank. */
export function toMatrix(queue: QueueJson, asOf: Date): MatrixRow[] {
  return queue.tenants.map((row) => toMatrixRow(row, asOf.getTime(), queue.loads.requests));
}

function toMatrixRow(row: TenantJson, nowMs: number, requests: number): MatrixRow {
  const id = toPublicId("ten", row.id);
  return {
    id,
    slug: row.slug ?? id,
    name: row.name ?? "Deleted tenant",
    ...stateOf(row),
    firstAttemptMs: ageOf(row.firstDueMs, nowMs),
    firstAttemptClass: row.firstClass,
    due: { count: row.dueCount, oldestMs: ageOf(row.dueSinceMs, nowMs) },
    gated: row.gated,
    held: { count: row.heldCount, oldestMs: ageOf(row.heldSinceMs, nowMs), why: row.heldWhy },
    ready: row.ready,
    delayed: row.delayed,
    inFlight: row.inFlight,
    limit: row.limit,
    firstAttemptP95Ms:
      row.firstAges === null ? null : quantileOf(row.firstAges, FIRST_AGE_BOUNDS_MS, 0.95, row.firstAgeMaxMs),
    rateLimitedShare: row.requests === 0 ? null : row.rateLimited / row.requests,
    requestShare: row.loadRequests === null || requests === 0 ? null : row.loadRequests / requests,
    deadLetters: { count: row.dead, oldestMs: ageOf(row.oldestDiedMs, nowMs) },
    lastDeliveredAt: isoOf(row.lastDeliveredMs),
  };
}

function stateOf(row: TenantJson): Pick<MatrixRow, "state" | "stateUntil" | "stateReason"> {
  if (row.pauseUntilMs !== null) {
    return { state: "paused", stateUntil: isoOf(row.pauseUntilMs), stateReason: row.pauseReason };
  }
  if (row.heldCount > 0) return { state: "held", stateUntil: null, stateReason: row.heldWhy };
  if (row.breakers > 0)
    return { state: "circuit_open", stateUntil: isoOf(row.breakerUntilMs), stateReason: null };
  if (row.gated > 0) return { state: "rate_limited", stateUntil: isoOf(row.gateUntilMs), stateReason: null };
  if (row.limited > 0) return { state: "limited", stateUntil: null, stateReason: null };
  return { state: "active", stateUntil: null, stateReason: null };
}

/** No moment means that nothing waits: an age of 0. */
function ageOf(momentMs: number | null, nowMs: number): number {
  return momentMs === null ? 0 : Math.max(0, Math.round(nowMs - momentMs));
}

function isoOf(momentMs: number | null): string | null {
  return momentMs === null ? null : new Date(momentMs).toISOString();
}
