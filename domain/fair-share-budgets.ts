/**
 * What one plan may still spend: slots, lanes' parts of them, caps, tokens, bytes and entries. Every number here
 * only ever falls during a plan, so what is refused once stays refused. The caps are the planner's view and may
 * be stale; the claim enforces them exactly.
 */
import type { Lane, ServiceClass } from "./delivery.ts";
import type { DestinationFacts, PlanInput, TenantFacts } from "./fair-share-types.ts";

/** Retries and replays stop at these parts of all slots, also when the rest is idle; always at least one slot. */
export const RETRY_SLOT_SHARE = 0.4;
export const REPLAY_SLOT_SHARE = 0.1;
/** Part of all slots that urgent work leaves to routine work while any waits. */
export const ROUTINE_KEEP_SHARE = 0.2;

/**
 * Slots of a process that come on top of all others, as a part of them, for first attempts of light tenants: work whose
 * requests take long can hold every other slot, and a tenant with a single delivery must not wait until one of them ends.
 */
const LIGHT_RESERVE_SHARE = 1 / 16;
/** A tenant is light while it holds fewer slots of the process than this part of the reserve; always at least one. */
const LIGHT_TENANT_SHARE = 1 / 4;

/** Slots on top of `slots` for light tenants. A process with very few slots has none. */
export function lightReserveOf(slots: number): number {
  return Math.floor(slots * LIGHT_RESERVE_SHARE);
}

/** Weights outside these bounds are cut: a weight near 0 would cost empty rounds, a huge one would be a starver. */
const MIN_WEIGHT = 0.1;
const MAX_WEIGHT = 100;

export interface TenantBudget {
  readonly weight: number;
  /** Rows that the tenant's cap still allows. */
  remaining: number;
  /** Slots of this process that it holds, planned ones included. */
  held: number;
  /** Slots of this process that are its part by weight. */
  share: number;
  /** True when one of its lanes could be claimed as the plan began. */
  hasDemand: boolean;
}

export interface DestinationBudget {
  remaining: number;
  readonly bodyBytes: number;
  /** Set while the gate is shut. */
  readonly gateUntilMs: number | null;
}

/** The part of a planned lane that spending touches. */
export interface LaneBudget {
  readonly destination: DestinationBudget;
  /** Rows that can still be planned before the known rows are used up. */
  waiting: number;
  /** Rows planned. */
  k: number;
}

export interface Budgets {
  readonly totalSlots: number;
  readonly maxEntries: number;
  /** Slots beyond the total that only first attempts of light tenants may use. */
  readonly lightReserve: number;
  /** A tenant that holds fewer slots than this is light. */
  readonly lightSlots: number;
  freeSlots: number;
  /** Rows in a run of a lane that is known to be deep. */
  runRows: number;
  freeByLane: Record<Lane, number>;
  usedByLane: Record<Lane, number>;
  usedByClass: Record<ServiceClass, number>;
  bytesLeft: number;
  bytes: number;
  rows: number;
  entries: number;
  stoppedBy: "slots" | "bytes" | "entries" | null;
}

/** A whole number of at least 0; NaN, which would pass every comparison, is 0. Infinity stays. */
export function whole(value: number): number {
  return value > 0 ? Math.floor(value) : 0;
}

function positive(value: number): number {
  // Math.max alone would hand a NaN on.
  return Number.isNaN(value) ? 0 : Math.max(value, 0);
}

export function makeBudgets(input: PlanInput, maxEntries: number): Budgets {
  const { total, lightReserve: reserve = 0, inFlightByLane, inFlightByClass } = input.slots;
  const totalSlots = whole(total);
  const usedByLane = { ...inFlightByLane };
  const lightReserve = whole(reserve);
  const freeSlots = whole(
    totalSlots + lightReserve - usedByLane.first - usedByLane.retry - usedByLane.replay,
  );
  const laneCap = (share: number) => Math.max(1, Math.floor(totalSlots * share));
  return {
    totalSlots,
    maxEntries: whole(maxEntries),
    lightReserve,
    lightSlots: Math.max(1, Math.floor(lightReserve * LIGHT_TENANT_SHARE)),
    freeSlots,
    runRows: 1,
    freeByLane: {
      first: freeSlots,
      retry: whole(laneCap(RETRY_SLOT_SHARE) - usedByLane.retry),
      replay: whole(laneCap(REPLAY_SLOT_SHARE) - usedByLane.replay),
    },
    usedByLane,
    usedByClass: { ...inFlightByClass },
    bytesLeft: positive(input.byteBudgetBytes),
    bytes: 0,
    rows: 0,
    entries: 0,
    stoppedBy: null,
  };
}

export function tenantBudget(facts: TenantFacts): TenantBudget {
  const weight = facts.weight > 0 ? Math.min(Math.max(facts.weight, MIN_WEIGHT), MAX_WEIGHT) : MIN_WEIGHT;
  const remaining =
    facts.concurrencyLimit === null ? Number.POSITIVE_INFINITY : facts.concurrencyLimit - facts.inFlight;
  return {
    weight,
    remaining: whole(remaining),
    held: facts.processInFlight ?? facts.inFlight,
    share: 0,
    hasDemand: false,
  };
}

export function destinationBudget(facts: DestinationFacts, nowMs: number): DestinationBudget {
  const gateUntilMs = facts.gateUntilMs !== null && facts.gateUntilMs > nowMs ? facts.gateUntilMs : null;
  const byCap =
    facts.concurrencyLimit === null ? Number.POSITIVE_INFINITY : facts.concurrencyLimit - facts.inFlight;
  const byRate = facts.rateTokens ?? Number.POSITIVE_INFINITY;
  const byProbe = facts.probeOnly ? 1 - facts.inFlight : Number.POSITIVE_INFINITY;
  const remaining = gateUntilMs === null ? whole(Math.min(byCap, byRate, byProbe)) : 0;
  return { remaining, bodyBytes: positive(facts.avgBodyBytes), gateUntilMs };
}

/** Gives each tenant that has something to claim its part of this process's slots, by weight. */
export function setShares(tenants: Iterable<TenantBudget>, totalSlots: number): void {
  const waiting = [...tenants].filter((tenant) => tenant.hasDemand);
  const weights = waiting.reduce((sum, tenant) => sum + tenant.weight, 0);
  for (const tenant of waiting) {
    tenant.share = (totalSlots * tenant.weight) / weights;
  }
}

/** Whether the free slots are those that are kept for others than this tenant's work of this lane. */
export function isReserved(tenant: TenantBudget, lane: Lane, budgets: Budgets): boolean {
  if (budgets.freeSlots > budgets.lightReserve) return false;
  return lane !== "first" || tenant.held >= budgets.lightSlots;
}

/** Whether a lane of the plan may take one row more, apart from slots and bytes, which stop everything. */
export function laneVerdict(work: LaneBudget, budgets: Budgets): "ok" | "used_up" | "entries" {
  if (work.waiting < 1 || work.destination.remaining < 1) {
    return "used_up";
  }
  return work.k === 0 && budgets.entries >= budgets.maxEntries ? "entries" : "ok";
}

/** Whether one more body fits. The first always does while anything is left, or a large one could never go. */
export function bodyFits(work: LaneBudget, budgets: Budgets): boolean {
  return work.destination.bodyBytes <= budgets.bytesLeft || (budgets.rows === 0 && budgets.bytesLeft > 0);
}

/** Books one row of a lane. */
export function takeRow(
  work: LaneBudget,
  tenant: TenantBudget,
  ring: { readonly lane: Lane; readonly serviceClass: ServiceClass },
  budgets: Budgets,
): void {
  if (work.k === 0) {
    budgets.entries += 1;
  }
  work.k += 1;
  work.waiting -= 1;
  work.destination.remaining -= 1;
  tenant.remaining -= 1;
  tenant.held += 1;
  budgets.freeSlots -= 1;
  budgets.freeByLane[ring.lane] -= 1;
  budgets.usedByLane[ring.lane] += 1;
  budgets.usedByClass[ring.serviceClass] += 1;
  budgets.bytesLeft -= work.destination.bodyBytes;
  budgets.bytes += work.destination.bodyBytes;
  budgets.rows += 1;
}
