/**
 * Adaptive concurrency of a destination, under its cap: trouble lowers it, a clean round at the limit raises it. The
 * database applies the same rules to its stored state (`sluice.shut_gate`, `sluice.note_health`), so that several
 * processes cannot fight; this module says them, and a test compares the two. Nothing here may ever exceed the cap.
 *
 * The rules:
 *  1. No limit (null) while a destination gives no trouble: the cap alone limits it, and nothing is written for it.
 *  2. A gate (429, or 503 with Retry-After) sets the limit to 1: behind the gate work leaves one request at a time. The
 *     safe value becomes half of what was in flight.
 *  3. Timeouts halve the limit, unless the destination drained more than before: then more load still meant more done.
 *  4. One cause counts once: a request that began before the last decrease lowers nothing more.
 *  5. A clean round at the limit (as many successes as the limit, work waiting behind it, no trouble meanwhile) raises it:
 *     to the double below the safe value, by a sixteenth of the cap (at least 1) from there on.
 *  6. The safe value is the highest limit that a round has gone through without trouble.
 *  7. At the cap the limit ends: back to rule 1. A pinned limit is left alone.
 */

/** What the first step below the safe value multiplies by. */
const SLOW_START_FACTOR = 2;
/** Above the safe value a step is this part of the cap. */
const STEPS_TO_CAP = 16;
/** More successes per second than this many times those of the window before are a gain. */
const GAIN_FACTOR = 1.1;
/** A clean round takes at least this long, whatever the number of processes. */
export const ROUND_MS = 500;

export interface AdaptiveState {
  /** Null: the cap alone limits. */
  readonly limit: number | null;
  readonly safeLimit: number | null;
  readonly pinned: boolean;
  /** Database time of the last change in either direction; null before the first. */
  readonly changedAtMs: number | null;
  readonly loweredAtMs: number | null;
}

export const NO_ADAPTIVE_LIMIT: AdaptiveState = {
  limit: null,
  safeLimit: null,
  pinned: false,
  changedAtMs: null,
  loweredAtMs: null,
};

/** The concurrency in force: never above the cap, never below 1. */
export function limitInForce(state: Pick<AdaptiveState, "limit">, cap: number): number {
  return Math.max(1, Math.min(cap, state.limit ?? cap));
}

export interface GateFacts {
  readonly cap: number;
  /** Requests of the destination in flight in the region, the one that met the limit included. */
  readonly inFlight: number;
  /** Start of the request that met the limit. */
  readonly startedMs: number;
  /** Opening of the gate before this one; null when there was none. */
  readonly lastOpeningMs: number | null;
  readonly nowMs: number;
}

/** Rule 2. */
export function afterGate(state: AdaptiveState, facts: GateFacts): AdaptiveState {
  const { cap, inFlight, startedMs, lastOpeningMs, nowMs } = facts;
  const sibling = lastOpeningMs !== null && startedMs < lastOpeningMs;
  if (state.pinned || sibling || beganBeforeDecrease(state, startedMs)) return state;
  const safeLimit = half(Math.min(limitInForce(state, cap), inFlight));
  return { ...state, limit: 1, safeLimit, changedAtMs: nowMs, loweredAtMs: nowMs };
}

export interface TimeoutFacts {
  readonly cap: number;
  /** Start of the latest of the requests that timed out. */
  readonly startedMs: number;
  readonly drainGained: boolean;
  /** Requests that a declared rate keeps in flight at the measured service time; null when either is unknown. */
  readonly bound: number | null;
  readonly nowMs: number;
}

/** Rule 3. A limit that begins here begins below the bound of the declared rate. */
export function afterTimeouts(state: AdaptiveState, facts: TimeoutFacts): AdaptiveState {
  if (state.pinned || facts.drainGained || beganBeforeDecrease(state, facts.startedMs)) return state;
  const halved = half(limitInForce(state, facts.cap));
  const limit = state.limit === null && facts.bound !== null ? startBelow(facts.bound, halved) : halved;
  const safeLimit = Math.min(state.safeLimit ?? limit, limit);
  return { ...state, limit, safeLimit, changedAtMs: facts.nowMs, loweredAtMs: facts.nowMs };
}

/** A breaker that closes again lets work out slowly too: rule 2 without a new safe value. */
export function afterBreaker(state: AdaptiveState, cap: number, nowMs: number): AdaptiveState {
  if (state.pinned) return state;
  const safeLimit = state.safeLimit ?? half(limitInForce(state, cap));
  return { ...state, limit: 1, safeLimit, changedAtMs: nowMs, loweredAtMs: nowMs };
}

export interface RoundFacts {
  readonly cap: number;
  /** Since when there was work waiting behind the limit and no trouble. */
  readonly sinceMs: number;
  /** Successes since then. */
  readonly successes: number;
  readonly nowMs: number;
}

/** Rules 5 to 7. The caller has seen no trouble since `sinceMs`. */
export function afterCleanRound(state: AdaptiveState, facts: RoundFacts): AdaptiveState {
  const { cap, sinceMs, successes, nowMs } = facts;
  if (state.limit === null || state.pinned || successes < state.limit) return state;
  if (sinceMs < (state.changedAtMs ?? Number.NEGATIVE_INFINITY) || nowMs - sinceMs < ROUND_MS) return state;
  const safeLimit = Math.max(state.safeLimit ?? 1, state.limit);
  const next =
    state.safeLimit !== null && state.limit < state.safeLimit
      ? Math.min(state.limit * SLOW_START_FACTOR, state.safeLimit)
      : state.limit + Math.max(1, Math.floor(cap / STEPS_TO_CAP));
  return { ...state, limit: next >= cap ? null : next, safeLimit, changedAtMs: nowMs };
}

/** Rule 3's exception: successes per second of a window against those of the window before. */
export function drainGained(before: number, now: number): boolean {
  return before > 0 && now > before * GAIN_FACTOR;
}

/**
 * Requests that a declared rate keeps in flight: rate x service time. A starting point, not a proof.
 * @param serviceMs measured duration of the destination's successes
 */
export function rateBound(ratePerSecond: number | null, serviceMs: number | null): number | null {
  if (ratePerSecond === null || serviceMs === null) return null;
  return Math.max(1, Math.floor((ratePerSecond * serviceMs) / 1000));
}

function startBelow(bound: number, limit: number): number {
  return Math.max(1, Math.min(limit, bound - 1));
}

function half(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}

function beganBeforeDecrease(state: AdaptiveState, startedMs: number): boolean {
  return state.loweredAtMs !== null && startedMs < state.loweredAtMs;
}
