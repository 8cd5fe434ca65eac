/**
 * What the planner is told and what it answers. See fair-share.ts for the rules.
 */
import type { Lane, ServiceClass } from "./delivery.ts";

/** One lane of one (tenant, destination, class) that has waiting rows, with the due time of its oldest. */
export interface LaneHead {
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly dueMs: number;
  /** Rows known to be due, when the caller knows; without it a lane is taken to be as deep as its caps. */
  readonly waitingHint?: number | undefined;
}

export interface TenantFacts {
  /** Share relative to other tenants; 1 unless configured. */
  readonly weight: number;
  /** Cap on unexpired leases of the tenant; null for none. */
  readonly concurrencyLimit: number | null;
  /** Unexpired leases in the region. */
  readonly inFlight: number;
  /** Of them, those of this process, when known: its share of this process's slots is counted with them. */
  readonly processInFlight?: number | undefined;
}

export interface DestinationFacts {
  readonly concurrencyLimit: number | null;
  readonly inFlight: number;
  /** Rate tokens now; null for no rate limit. */
  readonly rateTokens: number | null;
  /** The gate is shut until then; null when it is open. */
  readonly gateUntilMs: number | null;
  /** The gate opened and its probe has no outcome yet: at most one request in flight. */
  readonly probeOnly: boolean;
  readonly avgBodyBytes: number;
}

export interface SlotFacts {
  /** Slots of this process, busy ones included. */
  readonly total: number;
  /** Slots on top of them that only first attempts of tenants which hold next to nothing may use; 0 when absent. */
  readonly lightReserve?: number;
  readonly inFlightByLane: Readonly<Record<Lane, number>>;
  readonly inFlightByClass: Readonly<Record<ServiceClass, number>>;
}

export interface PlanInput {
  readonly nowMs: number;
  readonly heads: readonly LaneHead[];
  readonly tenant: (tenantId: string) => TenantFacts;
  readonly destination: (destinationId: string) => DestinationFacts;
  readonly slots: SlotFacts;
  /** Bytes of bodies that may still be taken into memory. */
  readonly byteBudgetBytes: number;
  /** Most entries of one claim; MAX_CLAIM_ENTRIES unless given. */
  readonly maxEntries?: number | undefined;
  /** Rows a tenant of weight 1 may take per turn; DEFAULT_QUANTUM unless given. */
  readonly quantum?: number | undefined;
  /** As the last plan returned it; `emptyDrrState()` at first. */
  readonly drr: DrrState;
}

export interface PlanEntry {
  readonly lane: Lane;
  readonly serviceClass: ServiceClass;
  readonly tenantId: string;
  readonly destinationId: string;
  /** Rows to claim at most. */
  readonly k: number;
}

export interface ClaimPlan {
  /** In order of precedence: when the claim clips to a cap, the earlier entry wins. */
  readonly entries: readonly PlanEntry[];
  /** To be given to the next plan. */
  readonly state: DrrState;
  /** Sum of k. */
  readonly rows: number;
  /** What the rows are expected to weigh. */
  readonly bytes: number;
  /** What kept the plan from being larger; null when everything claimable is in it. */
  readonly stoppedBy: "slots" | "bytes" | "entries" | null;
  /** The next moment at which a head falls due or a gate of a due head opens; null when there is none. */
  readonly nextChangeMs: number | null;
}

/** Whose turn is next, in one ring. */
export interface TenantTurn {
  readonly tenantId: string;
  /** Rows that the tenant may still take in its current turn; fractions come from weights below 1. */
  readonly deficit: number;
  /** Its destinations, the next one first. */
  readonly destinations: readonly string[];
}

/** The rings, in the order of RING_ORDER, each with the next tenant first. Plain data: it can be kept or logged. */
export interface DrrState {
  readonly rings: readonly (readonly TenantTurn[])[];
}
