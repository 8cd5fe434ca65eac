/**
 * What tenants of one region wait for, for the named tenants only: ages, held work, dead letters,
 * destinations in trouble, limits. Ages come from `sluice.queue_age`, the one definition that samples and alerts use too.
 * It must never be asked for a whole region: a page names its tenants.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import { queueRows } from "./queue-now.ts";
import type { Reader } from "./read-region.ts";

/** Most tenants of one read. */
export const MAX_NUMBERED_TENANTS = 201;
/** Dead letters of one tenant are counted up to here; more are answered as `LIST_COUNT_LIMIT + 1`. */
export const LIST_COUNT_LIMIT = 1_000;
/** A destination without a success for this many failures in a row counts as failing, before its breaker opens. */
export const FAILING_AFTER = 5;

/** A destination that people or the product have given up on, or that only fails. For rows x (destination) and s (its state). */
export const FAILING = `(x.disabled_at IS NOT NULL OR coalesce(s.breaker = 'open', false) OR coalesce(s.failures_since_success, 0) >= ${FAILING_AFTER})`;

/** Why fewer requests than the limit may be in flight. */
export type LimitWhy = "paused" | "draining" | "other_owner" | "resume_ramp";

export interface TenantNumbers {
  /** Oldest first attempt, 0 when none waits. */
  firstAttemptMs: number;
  /** The class of the oldest one; null when none waits. */
  firstAttemptClass: ServiceClass | null;
  due: CountAndAge;
  gated: number;
  held: CountAndAge & { why: string | null };
  ready: number;
  delayed: number;
  inFlight: number;
  /** Classes with live work, urgent first. */
  classes: ServiceClass[];
  /** Exact up to `LIST_COUNT_LIMIT`. */
  deadLetters: CountAndAge;
  destinations: number;
  destinationsFailing: number;
  concurrency: {
    /** Its own; null inherits. */
    limit: number | null;
    /** Its own or the region's. */
    desired: number;
    /** What may be in flight at this moment. */
    effective: number;
    why: LimitWhy | null;
  };
}

/** $1 the time of the answer, $2 the tenants, $3 the most dead letters that are counted. */
const numbersText = (kept: boolean): string => `
  WITH live AS MATERIALIZED (
    SELECT q.tenant_id, min(q.first_due_at) AS first_due_at,
           (array_agg(q.service_class ORDER BY q.first_due_at NULLS LAST))[1] AS first_class,
           sum(q.due_count)::integer AS due_count, min(q.due_since) AS due_since, sum(q.gated_count)::integer AS gated,
           sum(q.held_count)::integer AS held_count, min(q.held_since) AS held_since,
           min(q.held_why) FILTER (WHERE q.held_count > 0) AS held_why, sum(q.ready)::integer AS ready,
           sum(q.delayed)::integer AS delayed, sum(q.in_flight)::integer AS in_flight,
           array_agg(DISTINCT q.service_class::text) AS classes
      FROM ${queueRows(kept, "$1", "$2")} GROUP BY 1
  ), places AS MATERIALIZED (
    SELECT x.tenant_id, count(*)::integer AS n, count(*) FILTER (WHERE ${FAILING})::integer AS failing
      FROM sluice.destination x LEFT JOIN sluice.destination_state s ON s.destination_id = x.id
     WHERE x.tenant_id = ANY ($2::uuid[]) AND x.deleted_at IS NULL GROUP BY 1
  )
  SELECT t.id, l.first_due_at, CASE WHEN l.first_due_at IS NOT NULL THEN l.first_class END AS first_class,
         coalesce(l.due_count, 0) AS due_count, l.due_since, coalesce(l.gated, 0) AS gated, coalesce(l.held_count, 0) AS held_count,
         l.held_since, l.held_why, coalesce(l.ready, 0) AS ready, coalesce(l.delayed, 0) AS delayed,
         coalesce(l.in_flight, 0) AS in_flight, l.classes,
         d.n AS dead, o.died_at AS oldest_died_at, coalesce(p.n, 0) AS destinations, coalesce(p.failing, 0) AS failing,
         t.concurrency_limit, coalesce(t.concurrency_limit, rc.default_tenant_concurrency) AS desired,
         CASE WHEN rc.draining THEN 'draining'
              WHEN t.pause_until > $1 THEN 'paused'
              WHEN t.claim_owner <> 'sluice' OR rc.claim_owner <> 'sluice' THEN 'other_owner'
              WHEN r.part IS NOT NULL THEN 'resume_ramp' END AS limit_why,
         r.part::float8 AS part
    FROM sluice.tenant t
   CROSS JOIN sluice.region_control rc
   CROSS JOIN LATERAL (
     SELECT sluice.resume_part(sluice.resumed_at(t.pause_until, t.resumed_at, $1), t.resume_share, $1) AS part) r
    LEFT JOIN live l ON l.tenant_id = t.id
    LEFT JOIN places p ON p.tenant_id = t.id
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS n FROM (
       SELECT 1 FROM sluice.dead_letter e WHERE e.tenant_id = t.id AND e.will_not_replay_at IS NULL LIMIT $3) c) d
    LEFT JOIN LATERAL (
     SELECT e.died_at FROM sluice.dead_letter e WHERE e.tenant_id = t.id AND e.will_not_replay_at IS NULL
      ORDER BY e.died_at, e.id DESC LIMIT 1) o ON true
   WHERE t.id = ANY ($2::uuid[])
   LIMIT ${MAX_NUMBERED_TENANTS}`;

interface NumbersRow {
  id: string;
  first_due_at: Date | null;
  first_class: ServiceClass | null;
  due_count: number;
  due_since: Date | null;
  gated: number;
  held_count: number;
  held_since: Date | null;
  held_why: string | null;
  ready: number;
  delayed: number;
  in_flight: number;
  classes: string[] | null;
  dead: number;
  oldest_died_at: Date | null;
  destinations: number;
  failing: number;
  concurrency_limit: number | null;
  desired: number;
  limit_why: LimitWhy | null;
  part: number | null;
}

/**
 * The numbers of the named tenants (UUIDs, at most `MAX_NUMBERED_TENANTS`) by UUID.
 * @param kept from the kept sums of `asOf` (queue-now.ts), for many tenants at a time
 */
export async function readTenantNumbers(
  sql: Reader,
  asOf: Date,
  tenantIds: readonly string[],
  { deadLimit = LIST_COUNT_LIMIT, kept = false } = {},
): Promise<Map<string, TenantNumbers>> {
  if (tenantIds.length === 0) return new Map();
  const wanted = tenantIds.slice(0, MAX_NUMBERED_TENANTS);
  const rows = await sql<NumbersRow>(numbersText(kept), [asOf, wanted, deadLimit + 1]);
  return new Map(rows.map((row) => [row.id, toNumbers(row, asOf)]));
}

function toNumbers(row: NumbersRow, asOf: Date): TenantNumbers {
  return {
    firstAttemptMs: ageOf(row.first_due_at, asOf),
    firstAttemptClass: row.first_class,
    due: { count: row.due_count, oldestMs: ageOf(row.due_since, asOf) },
    gated: row.gated,
    held: { count: row.held_count, oldestMs: ageOf(row.held_since, asOf), why: row.held_why },
    ready: row.ready,
    delayed: row.delayed,
    inFlight: row.in_flight,
    classes: (["urgent", "routine"] as const).filter((one) => row.classes?.includes(one)),
    deadLetters: { count: row.dead, oldestMs: ageOf(row.oldest_died_at, asOf) },
    destinations: row.destinations,
    destinationsFailing: row.failing,
    concurrency: {
      limit: row.concurrency_limit,
      desired: row.desired,
      effective: effectiveLimit(row),
      why: row.limit_why,
    },
  };
}

/** The same arithmetic as the claim's: a ramp leaves at least one. */
function effectiveLimit({ desired, limit_why, part }: NumbersRow): number {
  if (limit_why === null) return desired;
  return limit_why === "resume_ramp" ? Math.max(1, Math.floor(desired * (part ?? 1))) : 0;
}

/** No moment means that nothing waits: an age of 0. */
export function ageOf(moment: Date | null, asOf: Date): number {
  return moment === null ? 0 : Math.max(0, asOf.getTime() - moment.getTime());
}
