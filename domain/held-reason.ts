/**
 * "Why has this not been sent?" for one delivery: every blocker that stands in its way now, and the earliest
 * moment at which each can be gone. Held is not a state: the same row can be held for several reasons, so all
 * are named. Only reads facts; it decides nothing.
 */
import type { DeliveryState, Lane } from "./delivery.ts";
import { nextTokenAtMs, type RateLimit } from "./rate.ts";

/** From what people decided, over what the receiver asked for, to what merely takes time. */
export const BLOCKERS = [
  "region_draining",
  "other_owner",
  "tenant_paused",
  "destination_disabled",
  "destination_paused",
  "replay_not_running",
  "no_worker",
  "gate",
  "probe",
  "breaker",
  "tenant_cap",
  "destination_cap",
  "adaptive_limit",
  "rate",
  "resume_ramp",
  "not_due",
  "lease_expired",
  "in_flight",
] as const;
export type BlockerName = (typeof BLOCKERS)[number];

export interface Blocker {
  readonly blocker: BlockerName;
  /** Earliest moment at which it can be gone; null when it ends by a decision or an event without a known time. */
  readonly untilMs: number | null;
}

export interface RampFacts {
  /** Deliveries due before it are limited to a part of cap and rate. */
  readonly lineMs: number;
  /** How many of those may be in flight now, and how many are. */
  readonly room: number;
  readonly inFlight: number;
  /** Their tokens, at their part of the rate; null without a rate. */
  readonly rate: { readonly limit: RateLimit; readonly tatMs: number } | null;
}

export interface HoldFacts {
  /** The database's time. */
  readonly nowMs: number;
  readonly state: DeliveryState;
  readonly lane: Lane;
  readonly dueMs: number;
  /** Set when leased. */
  readonly leaseUntilMs: number | null;
  readonly regionDraining: boolean;
  /** False when another program owns the claims of this tenant. */
  readonly ownedBySluice: boolean;
  /** Worker processes of the region with a fresh heartbeat; null when unknown. */
  readonly workersAlive: number | null;
  readonly tenant: {
    readonly paused: boolean;
    readonly pausedUntilMs: number | null;
    readonly concurrencyLimit: number | null;
    readonly inFlight: number;
  };
  readonly destination: {
    readonly disabled: boolean;
    readonly paused: boolean;
    readonly pausedUntilMs: number | null;
    readonly concurrencyLimit: number | null;
    readonly inFlight: number;
    readonly gateUntilMs: number | null;
    /** The gate opened and its probe has no outcome yet. */
    readonly probeOnly: boolean;
    /** The breaker is open, until then for everything and from then on for all but one request; null when it is closed. */
    readonly breakerUntilMs: number | null;
    /** null when only the cap limits. */
    readonly adaptiveLimit: number | null;
    /** null when it has no rate limit. */
    readonly rate: { readonly limit: RateLimit; readonly tatMs: number } | null;
    /** The ramp behind a resume of it or of its tenant; null when there is none. */
    readonly ramp: RampFacts | null;
  };
  /** For lane replay: whether its batch runs. null otherwise. */
  readonly replayRunning: boolean | null;
}

/**
 * Every blocker of one delivery, the strongest first. Empty for a delivery that has ended, and for one that can
 * be claimed at this moment.
 */
export function whyHeld(facts: HoldFacts): Blocker[] {
  if (facts.state === "leased") {
    const alive = facts.leaseUntilMs !== null && facts.leaseUntilMs > facts.nowMs;
    return alive
      ? [{ blocker: "in_flight", untilMs: facts.leaseUntilMs }]
      : [{ blocker: "lease_expired", untilMs: facts.nowMs }];
  }
  if (facts.state !== "ready" && facts.state !== "delayed") {
    return [];
  }
  return [...byDecision(facts), ...byReceiver(facts), ...byLimits(facts), ...byTime(facts)];
}

/**
 * The earliest moment at which the delivery can be sent: now when nothing blocks it, null when a blocker has no
 * known end. A delivery may still go later than this, never earlier.
 */
export function earliestPossibleMs(blockers: readonly Blocker[], nowMs: number): number | null {
  let earliestMs = nowMs;
  for (const { untilMs } of blockers) {
    if (untilMs === null) {
      return null;
    }
    earliestMs = Math.max(earliestMs, untilMs);
  }
  return earliestMs;
}

function byDecision({ nowMs, tenant, destination, ...facts }: HoldFacts): Blocker[] {
  const found: Blocker[] = [];
  if (facts.regionDraining) {
    found.push({ blocker: "region_draining", untilMs: null });
  }
  if (!facts.ownedBySluice) {
    found.push({ blocker: "other_owner", untilMs: null });
  }
  if (tenant.paused) {
    found.push({ blocker: "tenant_paused", untilMs: notBefore(nowMs, tenant.pausedUntilMs) });
  }
  if (destination.disabled) {
    found.push({ blocker: "destination_disabled", untilMs: null });
  }
  if (destination.paused) {
    found.push({ blocker: "destination_paused", untilMs: notBefore(nowMs, destination.pausedUntilMs) });
  }
  if (facts.lane === "replay" && facts.replayRunning === false) {
    found.push({ blocker: "replay_not_running", untilMs: null });
  }
  if (facts.workersAlive === 0) {
    found.push({ blocker: "no_worker", untilMs: null });
  }
  return found;
}

function byReceiver({ nowMs, destination }: HoldFacts): Blocker[] {
  const found: Blocker[] = [];
  if (destination.gateUntilMs !== null && destination.gateUntilMs > nowMs) {
    found.push({ blocker: "gate", untilMs: destination.gateUntilMs });
  } else if (destination.probeOnly && destination.inFlight > 0) {
    // Behind the gate one request goes alone; until it has an outcome the others wait for it.
    found.push({ blocker: "probe", untilMs: null });
  }
  if (destination.breakerUntilMs !== null && destination.breakerUntilMs > nowMs) {
    found.push({ blocker: "breaker", untilMs: destination.breakerUntilMs });
  } else if (destination.breakerUntilMs !== null && destination.inFlight > 0) {
    found.push({ blocker: "breaker", untilMs: null });
  }
  return found;
}

function byLimits({ nowMs, dueMs, tenant, destination }: HoldFacts): Blocker[] {
  const found: Blocker[] = [];
  if (tenant.concurrencyLimit !== null && tenant.inFlight >= tenant.concurrencyLimit) {
    found.push({ blocker: "tenant_cap", untilMs: null });
  }
  if (destination.concurrencyLimit !== null && destination.inFlight >= destination.concurrencyLimit) {
    found.push({ blocker: "destination_cap", untilMs: null });
  } else if (destination.adaptiveLimit !== null && destination.inFlight >= destination.adaptiveLimit) {
    found.push({ blocker: "adaptive_limit", untilMs: null });
  }
  const tokenAtMs = laterToken(destination.rate, nowMs);
  if (tokenAtMs !== null) {
    found.push({ blocker: "rate", untilMs: tokenAtMs });
  }
  const { ramp } = destination;
  if (ramp !== null && dueMs < ramp.lineMs) {
    const rampTokenAtMs = laterToken(ramp.rate, nowMs);
    if (ramp.inFlight >= ramp.room || rampTokenAtMs !== null) {
      found.push({ blocker: "resume_ramp", untilMs: rampTokenAtMs });
    }
  }
  return found;
}

/** When the next token is there; null when one is there now, or without a rate. */
function laterToken(rate: HoldFacts["destination"]["rate"], nowMs: number): number | null {
  if (rate === null) return null;
  const atMs = nextTokenAtMs(rate.tatMs, rate.limit, nowMs);
  return atMs > nowMs ? Math.ceil(atMs) : null;
}

function byTime({ nowMs, dueMs }: HoldFacts): Blocker[] {
  return dueMs > nowMs ? [{ blocker: "not_due", untilMs: dueMs }] : [];
}

function notBefore(nowMs: number, untilMs: number | null): number | null {
  // A pause whose end has come still holds until a worker ends it.
  return untilMs === null ? null : Math.max(nowMs, untilMs);
}
