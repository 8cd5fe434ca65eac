/**
 * What the control views have in common: work that waits, is held or in flight at a tenant or destination, its measured
 * service time, its 429 share and its last raises. Every statement is bounded: counts stop at a limit, samples are few.
 */
import { MAX_RAISE_FACTOR, needsAcknowledgement, nextRaiseAtMs } from "#domain/limit-steps.ts";
import { DEFAULT_POLICY } from "#domain/policy.ts";
import type { HeldReason } from "#domain/queue-age.ts";
import {
  foldHistory,
  historyValues,
  LIMIT_HISTORY,
  type LimitHistoryRow,
  type LimitSubject,
  readThrottle,
  THROTTLE_MINUTES,
} from "./commands/limit-rules.ts";
import type {
  BoundedCount,
  HeldCount,
  LimitPolicy,
  ServiceTime,
  StepView,
  ThrottleShare,
} from "./control-views.ts";
import type { Reader } from "./read-region.ts";

/** Counts are exact up to this. */
export const COUNT_LIMIT = 10_000;
/** Destinations of a tenant whose queues are looked at. */
const MAX_DESTINATIONS = 1_000;
/** Newest delivered deliveries that the service time is measured from. */
const SERVICE_SAMPLES = 200;
const SERVICE_WINDOW_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The longest that a request in flight still takes. */
export const REQUEST_DEADLINE_MS = Math.max(
  DEFAULT_POLICY.urgent.requestDeadlineMs,
  DEFAULT_POLICY.routine.requestDeadlineMs,
);

/** Whose work: a tenant's, or that of one of its destinations. UUIDs. */
export interface Whose {
  readonly tenantId: string;
  readonly destinationId: string | null;
}

const LANES = `(VALUES ('first'::sluice.lane, 'urgent'::sluice.service_class), ('first', 'routine'), ('retry', 'urgent'),
  ('retry', 'routine'), ('replay', 'urgent'), ('replay', 'routine')) AS k(lane, service_class)`;

/** $1 the time of the answer, $2 the tenant, $3 a destination or null, $4 the most destinations, $5 the most rows of a lane. */
const WAITING = `
  WITH x AS MATERIALIZED (
    SELECT x.id,
           CASE WHEN rc.draining THEN 'region_draining' WHEN t.pause_until > $1 THEN 'tenant_paused'
                WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled' WHEN x.pause_until > $1 THEN 'destination_paused' END AS held_why,
           greatest(s.hold_until, CASE WHEN s.breaker = 'open' THEN s.breaker_until END) AS gate
      FROM sluice.destination x JOIN sluice.tenant t ON t.id = x.tenant_id CROSS JOIN sluice.region_control rc
      LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
     WHERE x.tenant_id = $2 AND ($3::uuid IS NULL OR x.id = $3) AND x.deleted_at IS NULL ORDER BY x.id LIMIT $4)
  SELECT x.held_why, coalesce(x.gate > $1, false) AS gated, sum(w.n)::float8 AS n,
         (extract(epoch FROM $1 - min(w.oldest)) * 1000)::float8 AS oldest_ms,
         (extract(epoch FROM $1 - min(greatest(w.oldest, x.gate))) * 1000)::float8 AS claimable_ms
    FROM x CROSS JOIN LATERAL (
      SELECT count(*) AS n, min(d.due_at) AS oldest
        FROM ${LANES} CROSS JOIN LATERAL (
          SELECT d.due_at FROM sluice.delivery d
           WHERE d.lane = k.lane AND d.service_class = k.service_class AND d.tenant_id = $2 AND d.destination_id = x.id
             AND d.due_at <= $1 AND d.state <> 'leased' ORDER BY d.due_at LIMIT $5) d) w
   WHERE w.n > 0 GROUP BY 1, 2`;

interface WaitingRow {
  held_why: HeldReason | null;
  gated: boolean;
  n: number;
  oldest_ms: number;
  claimable_ms: number;
}

export interface Waiting {
  readonly held: HeldCount;
  readonly gated: BoundedCount;
  readonly due: BoundedCount;
  /** All three. */
  readonly total: BoundedCount;
}

/** Due work of a tenant or destination, told apart by what keeps it. */
export async function readWaiting(
  sql: Reader,
  asOf: Date,
  { tenantId, destinationId }: Whose,
): Promise<Waiting> {
  const rows = await sql<WaitingRow>(WAITING, [
    asOf,
    tenantId,
    destinationId,
    MAX_DESTINATIONS,
    COUNT_LIMIT + 1,
  ]);
  const held = rows.filter((row) => row.held_why !== null);
  const gated = rows.filter((row) => row.held_why === null && row.gated);
  const due = rows.filter((row) => row.held_why === null && !row.gated);
  return {
    held: { ...counted(held.map((row) => [row.n, row.oldest_ms])), why: held[0]?.held_why ?? null },
    gated: counted(gated.map((row) => [row.n, row.oldest_ms])),
    due: counted(due.map((row) => [row.n, row.claimable_ms])),
    total: counted(rows.map((row) => [row.n, row.oldest_ms])),
  };
}

/** Sums counts and keeps the oldest age. */
export function counted(parts: readonly (readonly [number, number])[]): BoundedCount {
  const sum = parts.reduce((total, [n]) => total + n, 0);
  const oldestMs = Math.max(0, ...parts.map(([, ageMs]) => Math.round(ageMs)));
  return { count: Math.min(sum, COUNT_LIMIT), more: sum > COUNT_LIMIT, oldestMs };
}

/** Leases are bounded by the slots of the region, so the whole partial index is a small read. */
export async function readInFlight(sql: Reader, { tenantId, destinationId }: Whose): Promise<number> {
  const [row] = await sql<{ n: number }>(
    `SELECT count(*)::integer AS n FROM sluice.delivery d
      WHERE d.state = 'leased' AND d.tenant_id = $1 AND ($2::uuid IS NULL OR d.destination_id = $2)`,
    [tenantId, destinationId],
  );
  return row?.n ?? 0;
}

/** The newest archived rows by their index, then their attempts by primary key, in two days of partitions at most. */
function serviceStatement(column: "tenant_id" | "destination_id"): string {
  return `
  SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY s.duration_ms) AS p50, percentile_disc(0.95) WITHIN GROUP (ORDER BY s.duration_ms) AS p95,
         count(*)::integer AS n
    FROM (SELECT r.id FROM sluice.delivery_archive r
           WHERE r.${column} = $1 AND r.state = 'delivered' AND r.id >= sluice.uuid_floor($2::timestamptz - 2 * $3::float8 * interval '1 millisecond')
           ORDER BY r.id DESC LIMIT $4) r
   CROSS JOIN LATERAL (
     SELECT a.duration_ms FROM sluice.attempt a
      WHERE a.delivery_id = r.id AND a.started_at > $2::timestamptz - $3::float8 * interval '1 millisecond' AND a.started_at <= $2
        AND a.kind = 'http' AND a.decision = 'delivered' LIMIT 1) s`;
}

const SERVICE_OF_TENANT = serviceStatement("tenant_id");
const SERVICE_OF_DESTINATION = serviceStatement("destination_id");

/** Of requests that were answered with a 2xx in the last hour; null when there was none. */
export async function readServiceTime(
  sql: Reader,
  asOf: Date,
  { tenantId, destinationId }: Whose,
): Promise<ServiceTime | null> {
  const [row] = await sql<{ p50: number | null; p95: number | null; n: number }>(
    destinationId === null ? SERVICE_OF_TENANT : SERVICE_OF_DESTINATION,
    [destinationId ?? tenantId, asOf, SERVICE_WINDOW_MS, SERVICE_SAMPLES],
  );
  if (row === undefined || row.p50 === null || row.p95 === null) return null;
  return { p50Ms: row.p50, p95Ms: row.p95, samples: row.n, windowMs: SERVICE_WINDOW_MS };
}

/** Of the answers of the last minutes, as far as they are rolled up. */
export async function readThrottleShare(sql: Reader, whose: Whose): Promise<ThrottleShare> {
  const { throttled, requests } = await readThrottle(sql, whose.tenantId, whose.destinationId);
  const share = requests === 0 ? null : throttled / requests;
  return { share, throttled, requests, windowMs: THROTTLE_MINUTES * MINUTE_MS };
}

/** What the step rule says of a raise at this moment. */
export async function readSteps(
  sql: Reader,
  asOf: Date,
  { kind, id, read }: Pick<LimitSubject, "kind" | "id" | "read">,
  { share }: ThrottleShare,
): Promise<StepView> {
  const rows = await sql<LimitHistoryRow>(LIMIT_HISTORY, historyValues(kind, id));
  const atMs = nextRaiseAtMs(foldHistory(rows, read).lastRaiseMs, asOf.getTime());
  return {
    nextRaiseAt: atMs === null ? null : new Date(atMs).toISOString(),
    maxFactor: MAX_RAISE_FACTOR,
    needsAcknowledge429: needsAcknowledgement(share),
  };
}

/** Columns of `sluice.region_control` under the alias rc. */
export const POLICY_COLUMNS = `rc.policy_max_tenant_concurrency AS max_tenant, rc.policy_max_destination_concurrency AS max_destination,
  rc.policy_max_rate_per_second::float8 AS max_rate`;

export interface PolicyRow {
  max_tenant: number;
  max_destination: number;
  max_rate: number;
}

export function policyOf(row: PolicyRow): LimitPolicy {
  return {
    maxTenantConcurrency: row.max_tenant,
    maxDestinationConcurrency: row.max_destination,
    maxRatePerSecond: row.max_rate,
  };
}

export interface PauseColumns {
  paused_at: Date | null;
  pause_until: Date | null;
  pause_reason: string | null;
  paused_by: string | null;
  resumed_at: Date | null;
  resume_share: number | null;
}

/** Pause columns of a tenant or destination under the alias. $1 is the time of the answer. */
export function pauseColumns(alias: string): string {
  return `${alias}.paused_at, ${alias}.pause_until, ${alias}.pause_reason, ${alias}.paused_by,
    CASE WHEN sluice.resume_part(sluice.resumed_at(${alias}.pause_until, ${alias}.resumed_at, $1), ${alias}.resume_share, $1) IS NOT NULL
         THEN sluice.resumed_at(${alias}.pause_until, ${alias}.resumed_at, $1) END AS resumed_at, ${alias}.resume_share::float8 AS resume_share`;
}

/** A pause whose end has come holds nothing, even before a worker has written so. */
export function pauseOf(row: PauseColumns, asOf: Date) {
  const paused = row.pause_until !== null && row.pause_until > asOf;
  return {
    until: paused ? (row.pause_until?.toISOString() ?? null) : null,
    since: paused ? (row.paused_at?.toISOString() ?? null) : null,
    reason: paused ? row.pause_reason : null,
    by: paused ? row.paused_by : null,
    resumedAt: row.resumed_at?.toISOString() ?? null,
    resumeShare: row.resumed_at === null ? null : row.resume_share,
  };
}
