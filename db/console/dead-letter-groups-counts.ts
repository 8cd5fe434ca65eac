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

/** Entries of a cause by whose they are and in which hour before now they died; older than a day is one more hour. */
interface ShareRow {
  fingerprint: string;
  tenant_id: string;
  destination_id: string;
  hour: number;
  n: number;
  marked: number;
}

interface FactRow extends NameRow {
  fingerprint: string;
  first_seen: Date;
  error_code: string | null;
}

/** $1 fingerprints, $2 the scope, $3 the most entries of each, $4 now. One pass over the index of causes, and no sort. */
const SHARES = `
  SELECT c.fingerprint, r.tenant_id, r.destination_id, r.hour, count(*)::integer AS n, count(r.will_not_replay_at)::integer AS marked
    FROM unnest($1::text[]) AS c (fingerprint)
   CROSS JOIN LATERAL (
     SELECT l.tenant_id, l.destination_id, l.will_not_replay_at,
            least(${TREND_HOURS}, floor(date_part('epoch', $4::timestamptz - l.died_at) / 3600))::integer AS hour
       FROM sluice.dead_letter l
      WHERE l.fingerprint = c.fingerprint AND ($2::uuid[] IS NULL OR l.tenant_id = ANY ($2))
      ORDER BY l.died_at DESC, l.id LIMIT $3::integer) r
   GROUP BY 1, 2, 3, 4`;

/** $1 fingerprints; $2 to $5 id, death, tenant and destination of their newest entries; $6 the scope. */
const FACTS = `
  SELECT d.fingerprint, f.died_at AS first_seen, e.error_code,
         d.tenant_id, t.slug AS tenant_slug, t.name AS tenant_name,
         d.destination_id, x.name AS destination_name, x.url AS destination_url
    FROM unnest($1::text[], $2::uuid[], $3::timestamptz[], $4::uuid[], $5::uuid[]) AS d (fingerprint, id, died_at, tenant_id, destination_id)
    LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
    LEFT JOIN sluice.destination x ON x.id = d.destination_id
   CROSS JOIN LATERAL (
     SELECT l.died_at FROM sluice.dead_letter l
      WHERE l.fingerprint = d.fingerprint AND ($6::uuid[] IS NULL OR l.tenant_id = ANY ($6))
      ORDER BY l.died_at LIMIT 1) f
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
  const fingerprints = causes.map((cause) => cause.fingerprint);
  const shares = Map.groupBy(
    await sql<ShareRow>(SHARES, [fingerprints, scope, limit + 1, asOf]),
    ({ fingerprint }) => fingerprint,
  );
  const facts = await sql<FactRow>(FACTS, [
    fingerprints,
    causes.map(({ newest }) => newest.id),
    causes.map(({ newest }) => newest.position),
    causes.map(({ newest }) => newest.tenantId),
    causes.map(({ newest }) => newest.destinationId),
    scope,
  ]);
  return new Map(
    facts.map((row) => [row.fingerprint, toCounts(row, shares.get(row.fingerprint) ?? [], limit)]),
  );
}

function toCounts(row: FactRow, shares: readonly ShareRow[], limit: number): CauseCounts {
  const entries = shares.reduce((sum, { n }) => sum + n, 0);
  const marked = shares.reduce((sum, share) => sum + share.marked, 0);
  return {
    count: Math.min(entries, limit),
    more: entries > limit,
    willNotReplay: Math.min(marked, limit),
    tenants: new Set(shares.map(({ tenant_id }) => tenant_id)).size,
    destinations: new Set(shares.map(({ destination_id }) => destination_id)).size,
    firstSeenAt: row.first_seen.toISOString(),
    trend: toTrend(shares),
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
