/** A small world for the planner's tests: everything idle and unlimited unless a test says otherwise. */
import type { Lane, ServiceClass } from "../delivery.ts";
import {
  type ClaimPlan,
  type DestinationFacts,
  type DrrState,
  emptyDrrState,
  type LaneHead,
  type PlanInput,
  planClaims,
  type TenantFacts,
} from "../fair-share.ts";

export const NOW_MS = 1_000_000;
const IDLE = {
  inFlightByLane: { first: 0, retry: 0, replay: 0 },
  inFlightByClass: { urgent: 0, routine: 0 },
};

interface World {
  heads: LaneHead[];
  tenants?: Record<string, Partial<TenantFacts>>;
  destinations?: Record<string, Partial<DestinationFacts>>;
  total?: number;
  lightReserve?: number;
  busy?: Partial<PlanInput["slots"]>;
  bytes?: number;
  maxEntries?: number;
  quantum?: number;
  drr?: DrrState;
}

export function plan(world: World): ClaimPlan {
  const tenants: Record<string, Partial<TenantFacts>> = world.tenants ?? {};
  const destinations: Record<string, Partial<DestinationFacts>> = world.destinations ?? {};
  return planClaims({
    nowMs: NOW_MS,
    heads: world.heads,
    tenant: (id) => ({ weight: 1, concurrencyLimit: null, inFlight: 0, ...tenants[id] }),
    destination: (id) => ({
      concurrencyLimit: null,
      inFlight: 0,
      rateTokens: null,
      gateUntilMs: null,
      probeOnly: false,
      avgBodyBytes: 1000,
      ...destinations[id],
    }),
    slots: { total: world.total ?? 100, lightReserve: world.lightReserve ?? 0, ...IDLE, ...world.busy },
    byteBudgetBytes: world.bytes ?? 32 * 1024 * 1024,
    maxEntries: world.maxEntries,
    quantum: world.quantum,
    drr: world.drr ?? emptyDrrState(),
  });
}

/** `head("A", "x")`: tenant A, destination A.x, routine, first attempt, due, depth unknown. */
export function head(tenantId: string, name: string, more: Partial<LaneHead> = {}): LaneHead {
  const destinationId = `${tenantId}.${name}`;
  return { lane: "first", serviceClass: "routine", tenantId, destinationId, dueMs: NOW_MS - 1, ...more };
}

export function rowsOf(result: ClaimPlan, match: Partial<ClaimPlan["entries"][number]>): number {
  const wanted = Object.entries(match);
  return result.entries
    .filter((entry) => wanted.every(([key, value]) => entry[key as keyof typeof entry] === value))
    .reduce((sum, entry) => sum + entry.k, 0);
}

export function busy(
  byLane: Partial<Record<Lane, number>>,
  byClass: Partial<Record<ServiceClass, number>> = {},
) {
  return {
    inFlightByLane: { ...IDLE.inFlightByLane, ...byLane },
    inFlightByClass: { ...IDLE.inFlightByClass, ...byClass },
  };
}
