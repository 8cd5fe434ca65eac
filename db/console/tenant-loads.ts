/**
 * What each tenant of a region takes of it: requests and 429 answers of the last minutes from the minute counters, what is in
 * flight from the sums of the live table. It is a part of the overview's one statement and scans nothing: one look at an index
 * for each tenant, and a named limit of tenants.
 */
import { toPublicId } from "#domain/ids.ts";
import {
  judgeNoise,
  type LoadShares,
  NOISE_MINUTES,
  type NoiseCause,
  type NoiseVerdict,
} from "#domain/noisy-tenant.ts";

/** Tenants that are looked at, those with the most live work first. */
const MAX_LOADS = 2_000;
/** More of them cannot have an outsized part: at most four have a quarter of each of the three. */
const MAX_CANDIDATES = 12;
/** The same minutes that the region's 429 share is made of. */
const WINDOW = `m.minute > date_trunc('minute', $1::timestamptz) - interval '${NOISE_MINUTES} minutes' AND m.minute < $1`;
const SENDS = "(l.requests > 0 OR l.in_flight > 0)";

/**
 * `loads`, one row a tenant, and `load_sums`, one row for all. $1 the time of the answer, $5 the tenants of the scope; it follows
 * `per`, the live sums of each tenant. With more tenants than are looked at the sums are still the region's, so that no
 * tenant's part of the requests is told too great.
 */
export const LOADS = `loads AS MATERIALIZED (
    SELECT t.id, t.slug, t.name, t.weight, t.in_flight, coalesce(c.requests, 0) AS requests, coalesce(c.rate_limited, 0) AS rate_limited
      FROM (SELECT t.id, t.slug, t.name, t.weight, coalesce(p.in_flight, 0) AS in_flight
              FROM sluice.tenant t LEFT JOIN per p ON p.tenant_id = t.id
             WHERE t.deleted_at IS NULL AND ($5::uuid[] IS NULL OR t.id = ANY ($5))
             ORDER BY p.in_flight + p.ready + p.delayed DESC NULLS LAST, t.id LIMIT ${MAX_LOADS}) t
     CROSS JOIN LATERAL (
       SELECT sum(m.requests) AS requests, sum(m.rate_limited) AS rate_limited FROM sluice.series_minute m
        WHERE m.tenant_id = t.id AND m.destination_id IS NULL AND ${WINDOW}) c
  ), load_sums AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE ${SENDS}) AS tenants, coalesce(sum(l.weight) FILTER (WHERE ${SENDS}), 0) AS weight,
           greatest(coalesce(sum(l.requests), 0), ${ofRegion("requests")}) AS requests,
           greatest(coalesce(sum(l.rate_limited), 0), ${ofRegion("rate_limited")}) AS rate_limited,
           coalesce(sum(l.in_flight), 0) AS in_flight
      FROM loads l
  )`;

/** Only for who sees the whole region; null for everybody else. */
function ofRegion(column: "requests" | "rate_limited"): string {
  return `(SELECT sum(m.${column}) FROM sluice.series_minute m WHERE $5::uuid[] IS NULL AND m.tenant_id IS NULL AND ${WINDOW})`;
}

/** One JSON value of both: `LoadsJson`. */
export const LOADS_JSON = `(SELECT json_build_object(
      'tenants', s.tenants, 'weight', s.weight, 'requests', s.requests, 'rateLimited', s.rate_limited,
      'loads', coalesce((SELECT json_agg(json_build_object('id', n.id, 'slug', n.slug, 'name', n.name, 'weight', n.weight,
                                'requests', n.requests, 'rateLimited', n.rate_limited, 'inFlight', n.in_flight)) FROM (
        SELECT l.* FROM loads l
         WHERE ${SENDS}
         ORDER BY greatest(l.requests / nullif(s.requests, 0)::double precision, l.rate_limited / nullif(s.rate_limited, 0)::double precision,
                           l.in_flight / nullif(s.in_flight, 0)::double precision) DESC NULLS LAST, l.id
         LIMIT ${MAX_CANDIDATES}) n), '[]')) FROM load_sums s)`;

/** The answer of `LOADS_JSON`. */
export interface LoadsJson {
  tenants: number;
  weight: number;
  requests: number;
  rateLimited: number;
  /** Those that may have an outsized part. */
  loads: {
    /** UUID. */
    id: string;
    slug: string;
    name: string;
    weight: number;
    requests: number;
    rateLimited: number;
    inFlight: number;
  }[];
}

/** A tenant that takes much more than its fair share. */
export interface NoisyTenant {
  /** `ten_...` */
  id: string;
  slug: string;
  name: string;
  because: NoiseCause[];
  /** Of the last minutes. */
  requests: number;
  /** 429 answers of its own requests; null when there was no request. */
  rateLimitedShare: number | null;
  inFlight: number;
  /** Parts of what all tenants of the scope did, from 0 to 1; slots are the region's. */
  shares: LoadShares;
}

/** Who is noisy, among the tenants of the scope. */
export interface RegionNoise {
  verdict: NoiseVerdict;
  /** How far back requests and 429 answers were counted. */
  minutes: number;
  tenants: NoisyTenant[];
}

/** @param slots of the workers that run */
export function noiseOf(sums: LoadsJson, slots: number): RegionNoise {
  const { verdict, tenants } = judgeNoise({ ...sums, slots }, sums.loads);
  return {
    verdict,
    minutes: NOISE_MINUTES,
    tenants: tenants.map(({ load, shares, because }) => ({
      id: toPublicId("ten", load.id),
      slug: load.slug,
      name: load.name,
      because: [...because],
      requests: load.requests,
      rateLimitedShare: load.requests === 0 ? null : load.rateLimited / load.requests,
      inFlight: load.inFlight,
      shares,
    })),
  };
}
