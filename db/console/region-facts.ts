/**
 * The facts of a region that stand beside its queue: workers, claims, dead letters that wait, and how the last hour went.
 * Every count is bounded and every row of the past was summed before; nothing here looks at the archive or at an attempt.
 */
import { SERVICE_CLASSES, type ServiceClass } from "#domain/delivery.ts";
import type { Thresholds } from "#domain/objectives.ts";
import type { TenantScope } from "#domain/permissions.ts";
import { countWithin, FIRST_AGE_BOUNDS_MS, quantileOf } from "#domain/series.ts";
import { HEARTBEAT_LIMIT_MS } from "./objectives.ts";
import type { Reader } from "./read-region.ts";
import { addCounts } from "./series-points.ts";
import { type CountRow, readCounts, readSamples, type SampleRow } from "./series-rows.ts";

/** Counts are exact up to here; a larger one is answered as `COUNT_LIMIT + 1`. */
export const COUNT_LIMIT = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** Windows of the tiles, in minutes. */
const RATE_MINUTES = 5;
const LEASE_MINUTES = 15;
const SHARE_MINUTES = 15;

/** The first objective of one class: how many new deliveries were tried within its time. */
export interface TriedShare {
  serviceClass: ServiceClass;
  targetMs: number;
  /** First requests of the last 15 minutes. */
  tried: number;
  within: number;
  /** Never tried and past the target at this moment; they count as missed. Bounded like all counts. */
  waitingLate: number;
  /** Null when there was nothing to try. */
  share: number | null;
}

/** What the last minutes say. Null: nothing happened that it could be told from. */
export interface Recent {
  /** The class whose p95 is worst against its target. */
  firstAttemptP95: { serviceClass: ServiceClass; ms: number; targetMs: number } | null;
  /** 429 answers of all requests, 5 minutes. */
  rateLimitedShare: number | null;
  requests: number;
  /** Leases that ended without a result, 15 minutes. */
  expiredLeases: number;
  deliveredLastHour: number;
}

/** One value a minute of the last hour, oldest first; null is a gap. */
export interface Trends {
  oldestMs: (number | null)[];
  firstAttemptP95Ms: (number | null)[];
  dueMs: (number | null)[];
  due: (number | null)[];
  dead: (number | null)[];
  inFlight: (number | null)[];
  rateLimitedShare: (number | null)[];
  expiredLeases: (number | null)[];
}

export interface LastHour {
  recent: Recent;
  triedShares: TriedShare[];
  trends: Trends;
}

/** Reads the last hour of what the scope covers. */
export async function readLastHour(
  sql: Reader,
  asOf: Date,
  tenantIds: TenantScope,
  { objectives }: Thresholds,
): Promise<LastHour> {
  const level = { kind: "region", tenantIds } as const;
  const lastMs = Math.floor(asOf.getTime() / MINUTE_MS) * MINUTE_MS;
  const fromMs = lastMs - (HOUR_MINUTES - 1) * MINUTE_MS;
  const span = { from: new Date(fromMs), to: asOf, stepMs: MINUTE_MS };
  const samples = await readSamples(sql, level, span);
  const counts = await readCounts(sql, level, span);
  const waiting = await sql<{ service_class: ServiceClass; n: number }>(WAITING_LATE, [
    asOf,
    objectives.urgent.firstAttemptTargetMs,
    objectives.routine.firstAttemptTargetMs,
    tenantIds,
  ]);
  const lately = (minutes: number) => counts.filter((row) => row.t > lastMs - minutes * MINUTE_MS);
  return {
    recent: recentOf(lately(RATE_MINUTES), lately(LEASE_MINUTES), counts, objectives),
    triedShares: SERVICE_CLASSES.map((serviceClass) =>
      shareOf(
        serviceClass,
        lately(SHARE_MINUTES),
        waiting.find((row) => row.service_class === serviceClass)?.n ?? 0,
        objectives[serviceClass].firstAttemptTargetMs,
      ),
    ),
    trends: trendsOf(samples, counts, fromMs),
  };
}

/**
 * Never-tried work past its target that nobody holds, by the index of due rows; behind a gate it still counts. Summed by
 * destination before it is asked what holds it.
 */
const WAITING_LATE = `
  WITH l AS MATERIALIZED (
    SELECT d.service_class, d.tenant_id, d.destination_id, count(*) AS n
      FROM (${SERVICE_CLASSES.map(
        (serviceClass, index) => `
        (SELECT d.service_class, d.tenant_id, d.destination_id FROM sluice.delivery d
          WHERE d.lane = 'first' AND d.service_class = '${serviceClass}' AND d.state <> 'leased'
            AND d.due_at < $1::timestamptz - $${index + 2}::integer * interval '1 millisecond' AND ($4::uuid[] IS NULL OR d.tenant_id = ANY ($4))
          ORDER BY d.due_at LIMIT ${COUNT_LIMIT + 1})`,
      ).join(" UNION ALL ")}) d
     GROUP BY 1, 2, 3)
  SELECT l.service_class, sum(l.n)::integer AS n
    FROM l
    JOIN sluice.tenant t ON t.id = l.tenant_id
    JOIN sluice.destination x ON x.id = l.destination_id
   WHERE NOT (SELECT rc.draining FROM sluice.region_control rc)
     AND NOT (t.paused_at IS NOT NULL AND t.pause_until > $1) AND NOT (x.paused_at IS NOT NULL AND x.pause_until > $1)
     AND x.disabled_at IS NULL AND x.deleted_at IS NULL AND t.deleted_at IS NULL
   GROUP BY 1`;

function shareOf(
  serviceClass: ServiceClass,
  rows: readonly CountRow[],
  waitingLate: number,
  targetMs: number,
): TriedShare {
  const ages = addCounts(
    rows.filter((row) => row.service_class === serviceClass).map((row) => row.first_ages),
  );
  const tried = ages.reduce((sum, count) => sum + count, 0);
  const within = countWithin(ages, FIRST_AGE_BOUNDS_MS, targetMs);
  const all = tried + waitingLate;
  return { serviceClass, targetMs, tried, within, waitingLate, share: all === 0 ? null : within / all };
}

function recentOf(
  rates: readonly CountRow[],
  leases: readonly CountRow[],
  hour: readonly CountRow[],
  objectives: Thresholds["objectives"],
): Recent {
  const requests = sum(rates, "requests");
  return {
    firstAttemptP95: worstP95(rates, objectives),
    rateLimitedShare: requests === 0 ? null : sum(rates, "rate_limited") / requests,
    requests,
    expiredLeases: sum(leases, "leases_expired"),
    deliveredLastHour: sum(hour, "delivered"),
  };
}

function sum(
  rows: readonly CountRow[],
  column: "requests" | "rate_limited" | "leases_expired" | "delivered",
): number {
  return rows.reduce((total, row) => total + row[column], 0);
}

function worstP95(
  rows: readonly CountRow[],
  objectives: Thresholds["objectives"],
): Recent["firstAttemptP95"] {
  let worst: Recent["firstAttemptP95"] = null;
  for (const serviceClass of SERVICE_CLASSES) {
    const ms = p95Of(rows.filter((row) => row.service_class === serviceClass));
    const targetMs = objectives[serviceClass].firstAttemptTargetMs;
    if (ms === null) continue;
    if (worst === null || ms / targetMs > worst.ms / worst.targetMs) worst = { serviceClass, ms, targetMs };
  }
  return worst;
}

function p95Of(rows: readonly CountRow[]): number | null {
  const max = Math.max(0, ...rows.map((row) => row.first_age_max_ms));
  return quantileOf(addCounts(rows.map((row) => row.first_ages)), FIRST_AGE_BOUNDS_MS, 0.95, max);
}

function trendsOf(samples: readonly SampleRow[], counts: readonly CountRow[], fromMs: number): Trends {
  const sampleAt = new Map(samples.map((row) => [row.t, row]));
  const countsAt = Map.groupBy(counts, (row) => row.t);
  const minutes = Array.from({ length: HOUR_MINUTES }, (_, index) => fromMs + index * MINUTE_MS);
  const sampled = (column: "oldest_ms" | "due_ms" | "due_count" | "dead" | "in_flight") =>
    minutes.map((t) => sampleAt.get(t)?.[column] ?? null);
  const counted = (value: (rows: readonly CountRow[]) => number | null) =>
    minutes.map((t) => {
      const rows = countsAt.get(t);
      return rows === undefined && !sampleAt.has(t) ? null : value(rows ?? []);
    });
  return {
    oldestMs: sampled("oldest_ms"),
    firstAttemptP95Ms: counted(p95Of),
    dueMs: sampled("due_ms"),
    due: sampled("due_count"),
    dead: sampled("dead"),
    inFlight: sampled("in_flight"),
    rateLimitedShare: counted((rows) => {
      const requests = sum(rows, "requests");
      return requests === 0 ? null : sum(rows, "rate_limited") / requests;
    }),
    expiredLeases: counted((rows) => sum(rows, "leases_expired")),
  };
}

export interface FactsRow {
  draining: boolean;
  drain_reason: string | null;
  drained_at: Date | null;
  dead: number;
  dead_added: number;
  oldest_died_at: Date | null;
  paused_tenants: number;
  running: number;
  slots: number;
  last_heartbeat_at: Date | null;
  last_sample_at: Date | null;
  counted_at: Date | null;
}

const ALIVE = "state = 'running' AND heartbeat_at > $1::timestamptz - $3::integer * interval '1 millisecond'";
/** What of a table belongs to the scope. */
const MINE = "($4::uuid[] IS NULL OR tenant_id = ANY ($4))";

/** $1 the time of the answer, $2 the count limit, $3 the heartbeat limit in ms, $4 the tenants of the scope. */
const FACTS = `
  SELECT rc.draining, rc.drain_reason, rc.drained_at,
         (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.dead_letter WHERE will_not_replay_at IS NULL AND ${MINE} LIMIT $2) n) AS dead,
         (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.dead_letter
            WHERE will_not_replay_at IS NULL AND died_at > $1::timestamptz - interval '24 hours' AND ${MINE} LIMIT $2) n) AS dead_added,
         (SELECT min(died_at) FROM sluice.dead_letter WHERE will_not_replay_at IS NULL AND ${MINE}) AS oldest_died_at,
         (SELECT count(*)::integer FROM sluice.tenant
            WHERE paused_at IS NOT NULL AND pause_until > $1 AND ($4::uuid[] IS NULL OR id = ANY ($4))) AS paused_tenants,
         w.running, w.slots, w.last_heartbeat_at,
         (SELECT max(at) FROM sluice.sample_run WHERE scope = 'class' AND ok) AS last_sample_at,
         (SELECT nullif(rolled_at, 'epoch') FROM sluice.series_run WHERE what = 'attempts') AS counted_at
    FROM sluice.region_control rc
   CROSS JOIN (SELECT count(*) FILTER (WHERE ${ALIVE})::integer AS running,
                      coalesce(sum(slots) FILTER (WHERE ${ALIVE}), 0)::integer AS slots,
                      max(heartbeat_at) AS last_heartbeat_at
                 FROM sluice.worker_process) w`;

/** The facts of this moment. Workers and claims are the region's; the rest is the scope's. */
export async function readFacts(sql: Reader, asOf: Date, tenantIds: TenantScope): Promise<FactsRow> {
  const [facts] = await sql<FactsRow>(FACTS, [asOf, COUNT_LIMIT + 1, HEARTBEAT_LIMIT_MS, tenantIds]);
  if (facts === undefined) throw new Error("the facts statement returned no row");
  return facts;
}
