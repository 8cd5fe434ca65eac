/**
 * Which tenant takes so much more than its fair share of a region that others may feel it. Pure. It only names: nothing is
 * limited, held or paused by it, and it must never judge by so little work that one burst decides.
 */

/** Requests and 429 answers are those of this many minutes, the running one included. */
export const NOISE_MINUTES = 5;
/** With fewer requests of all tenants together no share of them is judged. */
const LEAST_REQUESTS = 60;
/** The same for 429 answers, and for the slots that one tenant takes. */
const LEAST_RATE_LIMITED = 20;
const LEAST_SLOTS = 4;
/** A smaller part of the requests is never outsized, however many tenants there are. */
const LEAST_SHARE = 0.25;
/** A smaller part of the slots or of the 429 answers is never outsized. */
const LEAST_HALF = 0.5;
/** Outsized is this many times the fair share ... */
const TIMES = 2;
/** Tenants that are named. */
export const MOST_NAMED = 2;

/** What one tenant did and does. */
export interface TenantLoad {
  readonly weight: number;
  /** HTTP requests of the last minutes. */
  readonly requests: number;
  /** Of them, answered 429. */
  readonly rateLimited: number;
  /** Requests at this moment. */
  readonly inFlight: number;
}

/** The same of the region, or of the part of it that the reader sees. */
export interface RegionLoad {
  /** Tenants with a request in the last minutes or at this moment, and their weights added up. */
  readonly tenants: number;
  readonly weight: number;
  readonly requests: number;
  readonly rateLimited: number;
  /** Slots of the workers that run; 0: none runs. */
  readonly slots: number;
}

export const NOISE_CAUSES = ["requests", "slots", "rate_limited"] as const;
/** What a tenant has an outsized part of. */
export type NoiseCause = (typeof NOISE_CAUSES)[number];

/** Parts from 0 to 1; null: there is nothing to have a part of. */
export interface LoadShares {
  readonly ofRequests: number | null;
  readonly ofSlots: number | null;
  readonly ofRateLimited: number | null;
  /** By its weight among the tenants that send. */
  readonly fair: number;
}

/** A tenant that is named. */
export interface Noisy<T> {
  readonly load: T;
  readonly shares: LoadShares;
  /** At least one. */
  readonly because: readonly NoiseCause[];
}

export const NOISE_VERDICTS = ["noisy", "nobody", "too_little"] as const;
/** `too_little`: there were too few requests to say so of anybody. */
export type NoiseVerdict = (typeof NOISE_VERDICTS)[number];

export interface Noise<T> {
  readonly verdict: NoiseVerdict;
  /** The one with the greatest part of the requests first; at most `MOST_NAMED`. */
  readonly tenants: readonly Noisy<T>[];
}

/** Names those with an outsized part. A tenant that sends alone takes nothing from anybody. */
export function judgeNoise<T extends TenantLoad>(region: RegionLoad, loads: readonly T[]): Noise<T> {
  const tenants = loads
    .map((load) => judgeTenant(region, load))
    .filter(({ because }) => because.length > 0)
    .sort(byShare)
    .slice(0, MOST_NAMED);
  if (tenants.length > 0) return { verdict: "noisy", tenants };
  return { verdict: region.requests < LEAST_REQUESTS ? "too_little" : "nobody", tenants };
}

/**
 * From which part on a tenant is noisy: twice its fair share or, where half of the work is nearly its own anyway, halfway from
 * its fair share to everything. So it is above the fair share of any tenant that does not send alone.
 */
export function outsizedFrom(fair: number): number {
  return Math.max(LEAST_SHARE, Math.min(TIMES * fair, (1 + fair) / 2));
}

function judgeTenant<T extends TenantLoad>(region: RegionLoad, load: T): Noisy<T> {
  const shares: LoadShares = {
    ofRequests: partOf(load.requests, region.requests),
    ofSlots: partOf(load.inFlight, region.slots),
    ofRateLimited: partOf(load.rateLimited, region.rateLimited),
    fair: partOf(load.weight, region.weight) ?? 1,
  };
  if (region.tenants < 2) return { load, shares, because: [] };
  const from = outsizedFrom(shares.fair);
  const half = Math.max(LEAST_HALF, from);
  const is: Readonly<Record<NoiseCause, boolean>> = {
    requests: region.requests >= LEAST_REQUESTS && (shares.ofRequests ?? 0) >= from,
    slots: load.inFlight >= LEAST_SLOTS && (shares.ofSlots ?? 0) >= half,
    rate_limited: load.rateLimited >= LEAST_RATE_LIMITED && (shares.ofRateLimited ?? 0) >= half,
  };
  return { load, shares, because: NOISE_CAUSES.filter((cause) => is[cause]) };
}

/** A tenant's counts may be a moment newer than the region's: never more than all. */
function partOf(part: number, whole: number): number | null {
  return whole <= 0 ? null : Math.min(1, part / whole);
}

/** The greatest part of the requests first; of two alike, that of the slots. */
function byShare({ shares: a }: Noisy<unknown>, { shares: b }: Noisy<unknown>): number {
  return (b.ofRequests ?? 0) - (a.ofRequests ?? 0) || (b.ofSlots ?? 0) - (a.ofSlots ?? 0);
}
