/**
 * How far a person may pass on what they have: a grant never reaches further than the giver's, in its tenants, in its
 * regions, in bodies, and in time. Pure.
 */
import {
  type AccessScope,
  allowanceOf,
  contains,
  type Grant,
  scopeOf,
  type TenantScope,
} from "./permissions.ts";
import type { Region } from "./region.ts";

/** A grant as it stands in the database: with its end. */
export interface EndingGrant extends Grant {
  /** Milliseconds since 1970; null: no end of its own. */
  readonly endsMs: number | null;
}

/** What somebody wants to give. */
export interface WantedGrant {
  readonly regions: readonly Region[];
  readonly tenantIds: TenantScope;
  readonly canReveal: boolean;
}

/** The tenants and regions of a grant as a scope. */
export function reachOf({ regions, tenantIds }: Pick<WantedGrant, "regions" | "tenantIds">): AccessScope {
  return Object.fromEntries(regions.map((region) => [region, tenantIds]));
}

/**
 * Why the giver may not give it, or null. Every region and tenant must be one in which the giver manages access; bodies may
 * be given only by who sees them there.
 */
export function refusedReach(giver: readonly Grant[], wanted: WantedGrant): string | null {
  const reach = reachOf(wanted);
  if (!contains(scopeOf(giver, "access"), reach)) return "The grant would reach further than your own.";
  if (wanted.canReveal && !contains(scopeOf(giver, "reveal_body"), reach)) {
    return "You may not see bodies there, so you cannot let somebody else see them.";
  }
  return null;
}

/**
 * The latest end that a given grant may have: that of the giver's grant by which they give it; of several that cover a
 * region the last one counts, of several regions the first to end. Null: no end.
 */
export function latestEndMs(giver: readonly EndingGrant[], wanted: WantedGrant): number | null {
  const ends = wanted.regions.map((region) => latestIn(giver, region, wanted));
  const finite = ends.filter((end) => end !== null);
  return finite.length === 0 ? null : Math.min(...finite);
}

function latestIn(giver: readonly EndingGrant[], region: Region, wanted: WantedGrant): number | null {
  const reach: AccessScope = { [region]: wanted.tenantIds };
  const giving = giver.filter((grant) => allowanceOf(grant, "access").allowed);
  const covering = giving.filter((grant) => contains(scopeOf([grant], "access"), reach));
  // Where only several together cover it, the first of them to end leaves a gap.
  if (covering.length === 0) return earliest(giving);
  return covering.some(({ endsMs }) => endsMs === null)
    ? null
    : Math.max(...covering.map(({ endsMs }) => endsMs ?? 0));
}

function earliest(grants: readonly EndingGrant[]): number | null {
  const ends = grants.map(({ endsMs }) => endsMs).filter((end) => end !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}
