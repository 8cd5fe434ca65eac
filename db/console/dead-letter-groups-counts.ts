/**
 * The numbers of the causes on one page: entries, tenants, destinations, first seen, and the deaths of the last 24 hours.
 * Read from the entries under the caller's scope, each cause up to a limit; there is no counter that could be wrong.
 */
import type { TenantScope } from "#domain/permissions.ts";
import type { Cause } from "./dead-letter-groups-walk.ts";
import { type DestinationName, destinationName, type NameRow, type TenantName, tenantName } from "./names.ts";
import type { Reader } from "./read-region.ts";

/** A cause is counted up to this, when it stands alone. */
export const COUNT_LIMIT = 10_000;
/** Entries that all causes of one page are counted from, together. */
const PAGE_COUNT_LIMIT = 100_000;
/** Bars of a trend, an hour each. */
export const TREND_HOURS = 24;

/** How far each cause of a page with so many is counted: 10,000, or an equal part of what a page may read. */
export function countLimitOf(causes: number): number {
  return Math.min(COUNT_LIMIT, Math.floor(PAGE_COUNT_LIMIT / Math.max(1, causes)));
}

export interface CauseCounts {
  /** Entries, up to the limit. */
  readonly count: number;
  readonly more: boolean;
  /** Of them, those of which a person has said that they will not be sent again. */
  readonly willNotReplay: number;
  readonly tenants: number;
  readonly destinations: number;
  readonly firstSeenAt: string;
  /** Deaths by hour, the oldest hour first; the last one ends now. */
  readonly trend: readonly number[];
  /** Of the newest entry's last attempt: `ECONNREFUSED`; null when there was an answer or the attempt is past its retention. */
  readonly errorCode: string | null;
  readonly tenant: TenantName;
  readonly destination: DestinationName;
}

interface CountRow extends NameRow {
  fingerprint: string;
  n: number;
  marked: number;
  tenants: number;
  destinations: number;
  first_seen: Date;
  trend: { hour: number; n: number }[] | null;
  error_code: string | null;
}

/** $1 fingerprints; $2 to $5 id, death, tenant and destination of their newest entries; $6 the scope; $7 limit; $8 now. */
const COUNTS = `
  SELECT d.fingerprint, k.n, k.marked, k.tenants, k.destinations, f.died_at AS first_seen, h.trend, e.error_code,
         d.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name,
         d.destination_id, x.name AS destination_name, x.url AS destination_url
    FROM unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::uuid[]) AS d (fingerprint, id, died_at, tenant_id, destination_id)
    LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
    LEFT JOIN sluice.destination x ON x.id = d.destination_id
   CROSS JOIN LATERAL (
     SELECT count(*)::integer AS n, count(r.will_not_replay_at)::integer AS marked,
            count(DISTINCT r.tenant_id)::integer AS tenants, count(DISTINCT r.destination_id)::integer AS destinations
       FROM (SELECT l.tenant_id, l.destination_id, l.will_not_replay_at FROM sluice.dead_letter l
              WHERE l.fingerprint = d.fingerprint AND ($6::uuid[] IS NULL OR l.tenant_id = ANY ($6))
              ORDER BY l.died_at DESC, l.id LIMIT $7::integer) r) k
   CROSS JOIN LATERAL (
     SELECT l.died_at FROM sluice.dead_letter l
      WHERE l.fingerprint = d.fingerprint AND ($6::uuid[] IS NULL OR l.tenant_id = ANY ($6))
      ORDER BY l.died_at LIMIT 1) f
   CROSS JOIN LATERAL (
     SELECT json_agg(json_build_object('hour', b.hour, 'n', b.n)) AS trend
       FROM (SELECT floor(extract(epoch FROM $8::timestamptz - r.died_at) / 3600)::integer AS hour, count(*)::integer AS n
               FROM (SELECT l.died_at FROM sluice.dead_letter l
                      WHERE l.fingerprint = d.fingerprint AND l.died_at > $8::timestamptz - interval '${TREND_HOURS} hours'
                        AND ($6::uuid[] IS NULL OR l.tenant_id = ANY ($6))
                      ORDER BY l.died_at DESC LIMIT $7::integer) r
              GROUP BY 1) b) h
    -- The attempt that it died by: attempts are partitioned by their start, so the moment bounds where to look.
    LEFT JOIN LATERAL (
      SELECT a.error_code FROM sluice.attempt a
       WHERE a.delivery_id = d.id AND a.decision = 'dead'
         AND a.started_at > d.died_at - interval '1 hour' AND a.started_at < d.died_at + interval '1 minute'
       ORDER BY a.started_at DESC LIMIT 1) e ON true`;

/** By fingerprint. A cause whose last visible entry has gone meanwhile is left out. */
export async function countCauses(
  sql: Reader,
  causes: readonly Cause[],
  scope: TenantScope,
  asOf: Date,
  limit: number,
): Promise<Map<string, CauseCounts>> {
  if (causes.length === 0) return new Map();
  const rows = await sql<CountRow>(COUNTS, [
    causes.map((cause) => cause.fingerprint),
    causes.map(({ newest }) => newest.id),
    causes.map(({ newest }) => newest.position),
    causes.map(({ newest }) => newest.tenantId),
    causes.map(({ newest }) => newest.destinationId),
    scope,
    limit + 1,
    asOf,
  ]);
  return new Map(rows.map((row) => [row.fingerprint, toCounts(row, limit)]));
}

function toCounts(row: CountRow, limit: number): CauseCounts {
  return {
    count: Math.min(row.n, limit),
    more: row.n > limit,
    willNotReplay: Math.min(row.marked, limit),
    tenants: row.tenants,
    destinations: row.destinations,
    firstSeenAt: row.first_seen.toISOString(),
    trend: toTrend(row.trend ?? []),
    errorCode: row.error_code,
    tenant: tenantName(row),
    destination: destinationName(row),
  };
}

/** Hours before now -> bars, oldest first. An entry that died after the answer's own time counts for its last hour. */
export function toTrend(hours: readonly { hour: number; n: number }[]): number[] {
  const bars = Array.from({ length: TREND_HOURS }, () => 0);
  for (const { hour, n } of hours) {
    const at = TREND_HOURS - 1 - Math.max(0, hour);
    if (at >= 0) bars[at] = (bars[at] ?? 0) + n;
  }
  return bars;
}
