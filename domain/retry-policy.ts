/**
 * The retry decision: (counters, outcome, policy, now, random) -> what becomes of the delivery, as a value.
 * The caller performs it. Nothing here reads a clock, and nothing but this file may decide a delay; the
 * console's "next attempts" come from the same function.
 */
import type { DeadReason, DelayReason } from "./delivery.ts";
import { classify, type Outcome, type OutcomeClass, requestMade } from "./outcome.ts";
import { maxFailuresOf, type RetryPolicy } from "./policy.ts";
import { type RetryAfterKind, readRetryAfter } from "./retry-after.ts";

/** Longest part of a Retry-After header that is stored with an attempt. */
export const MAX_RAW_HEADER_CHARS = 200;
/** Most attempts that a preview looks ahead. */
export const MAX_PREVIEW_ATTEMPTS = 200;

/** The delivery's counters before the outcome, as its row has them. All but `attempts` begin anew with a cycle. */
export interface RetryState {
  /** Attempts in all, every cycle. */
  readonly attempts: number;
  readonly failures: number;
  readonly rejections: number;
  readonly throttles: number;
  /** Sum of the delays that 429s imposed in this cycle. */
  readonly throttledMs: number;
  readonly cycle: number;
  /** How often the destination's gate was shut without a success since; 0 when unknown. */
  readonly consecutiveGates?: number;
}

/** What to add to the row's counters. */
export interface CounterDeltas {
  readonly attempts: 0 | 1;
  readonly failures: 0 | 1;
  readonly rejections: 0 | 1;
  readonly throttles: 0 | 1;
  readonly throttledMs: number;
}

/** How the delay came about, stored with the attempt (RETRY-7). */
export interface RetryAfterEvidence {
  /** The header as it came, cut to MAX_RAW_HEADER_CHARS. */
  readonly raw: string | null;
  readonly readAs: RetryAfterKind;
  /** What the header asks for, before clamp and jitter; null when it asks for nothing usable. */
  readonly askedMs: number | null;
  /** Set when the delay, asked or fallback, had to be cut to the policy's bounds. */
  readonly clamped: "max" | "min" | null;
  /** True when the delay is the policy's own backoff. */
  readonly fallback: boolean;
  /** What was added after the clamp. Always 0 for a fallback, whose jitter is inside the backoff. */
  readonly jitterMs: number;
}

export interface GateDecision {
  /** How long the destination stays shut from now. */
  readonly delayMs: number;
  readonly why: "retry_after" | "rate_limited";
}

interface DecisionFacts {
  readonly outcomeClass: OutcomeClass;
  readonly counters: CounterDeltas;
  /** null for a success and for anything that was no response. */
  readonly retryAfter: RetryAfterEvidence | null;
  /** Shut the destination's gate, whatever becomes of this delivery; null leaves it as it is. */
  readonly gate: GateDecision | null;
}

export interface DeliveredDecision extends DecisionFacts {
  readonly to: "delivered";
}

export interface DelayedDecision extends DecisionFacts {
  readonly to: "delayed";
  /** Whole milliseconds from the moment the outcome is stored, by the database's clock. */
  readonly delayMs: number;
  readonly reason: DelayReason;
}

export interface DeadDecision extends DecisionFacts {
  readonly to: "dead";
  readonly reason: DeadReason;
  /** True for 410: the destination is to be disabled and the rest of its work held. */
  readonly disableDestination: boolean;
}

export type Decision = DeliveredDecision | DelayedDecision | DeadDecision;

export interface DecideContext {
  /** The database's time, against which a date in Retry-After is read. */
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Reasons that need no counting: the class alone ends the delivery. */
const DEAD_AT_ONCE: Partial<Record<OutcomeClass, DeadReason>> = {
  redirect: "redirect",
  gone: "gone",
  blocked: "blocked_address",
  bad_destination: "bad_destination",
  erased: "payload_erased",
  config_error: "config_error",
};

/**
 * Decides what becomes of a delivery after one attempt. Every finite counter is safe: delays never overflow,
 * are never NaN and never below the policy's minimum.
 * @param policy a policy that `resolvePolicy` returned
 */
export function decide(
  state: RetryState,
  outcome: Outcome,
  policy: RetryPolicy,
  context: DecideContext,
): Decision {
  const outcomeClass = classify(outcome, policy);
  const wait = waitFor(outcomeClass, state, outcome, policy, context);
  const facts = {
    outcomeClass,
    counters: countersFor(outcomeClass, outcome, wait.delayMs),
    retryAfter: wait.evidence,
    gate: gateFor(outcomeClass, state, outcome, wait, policy, context),
  };
  if (outcomeClass === "delivered") {
    return { to: "delivered", ...facts };
  }
  const deadReason = deadReasonOf(outcomeClass, state, facts.counters, policy);
  if (deadReason !== null) {
    // A delivery that ends imposes no delay on itself, only on its destination.
    const counters = { ...facts.counters, throttledMs: 0 };
    return {
      to: "dead",
      reason: deadReason,
      disableDestination: outcomeClass === "gone",
      ...facts,
      counters,
    };
  }
  return { to: "delayed", delayMs: wait.delayMs, reason: delayReasonOf(outcomeClass, outcome), ...facts };
}

/**
 * Backoff before jitter: base x factor^(n-1), at most the cap. Any n is safe; n below 1 and NaN count as 1.
 */
export function backoffMs(n: number, backoff: RetryPolicy["backoff"]): number {
  const exponent = n > 1 ? Math.floor(n) - 1 : 0;
  // Infinity for a large exponent is fine: the cap takes it. No shifts, which wrap at 32.
  return Math.min(backoff.baseMs * backoff.factor ** exponent, backoff.capMs);
}

/**
 * Delay of a destination's gate without a usable Retry-After.
 * @param consecutiveGates gates of the destination before this one without a success between
 */
export function gateDelayMs(consecutiveGates: number, policy: RetryPolicy, random: () => number): number {
  return jittered(backoffMs(consecutiveGates + 1, policy.gate), policy.gate.jitter, policy, random).delayMs;
}

/** How each attempt of a preview ends: without an answer, or with a 429 that has no Retry-After. */
export type PreviewKind = "failed" | "throttled";

export interface PreviewStep {
  /** Number of the attempt that is supposed to fail. */
  readonly attempt: number;
  /** Failures of the cycle once it has failed. */
  readonly failures: number;
  readonly to: "delayed" | "dead";
  /** Wait after that attempt: lowest, middle and highest value of the jitter; null when dead. */
  readonly minDelayMs: number | null;
  readonly delayMs: number | null;
  readonly maxDelayMs: number | null;
  /** Longest time for which it also shuts the destination's gate; null when it does not. */
  readonly maxGateMs: number | null;
  readonly reason: DeadReason | null;
}

const PREVIEW_OUTCOMES: Readonly<Record<PreviewKind, Outcome>> = {
  failed: { kind: "network", code: "PREVIEW", phase: "connect" },
  throttled: { kind: "response", status: 429, retryAfterHeader: null, durationMs: 0 },
};

/**
 * What happens if each of the next `n` attempts ends like `kind`. Uses `decide` itself, so a screen can never show
 * another schedule than the worker's. Ends early with the attempt that kills.
 */
export function previewNextAttempts(
  state: RetryState,
  policy: RetryPolicy,
  n: number,
  kind: PreviewKind = "failed",
): PreviewStep[] {
  const steps: PreviewStep[] = [];
  let current = state;
  const count = Math.min(n, MAX_PREVIEW_ATTEMPTS);
  for (let step = 0; step < count; step += 1) {
    const [low, middle, high] = [0, 0.5, 1].map((value) =>
      decide(current, PREVIEW_OUTCOMES[kind], policy, { nowMs: 0, random: () => value }),
    );
    if (low === undefined || middle === undefined || high === undefined) return steps;
    current = afterDecision(current, middle);
    const facts = {
      attempt: current.attempts,
      failures: current.failures,
      maxGateMs: high.gate?.delayMs ?? null,
    };
    if (low.to !== "delayed" || middle.to !== "delayed" || high.to !== "delayed") {
      const reason = low.to === "dead" ? low.reason : null;
      steps.push({ ...facts, to: "dead", minDelayMs: null, delayMs: null, maxDelayMs: null, reason });
      return steps;
    }
    const delays = { minDelayMs: low.delayMs, delayMs: middle.delayMs, maxDelayMs: high.delayMs };
    steps.push({ ...facts, to: "delayed", ...delays, reason: null });
  }
  return steps;
}

/** The counters as the row has them once the decision is stored. */
function afterDecision(state: RetryState, { counters, gate }: Decision): RetryState {
  return {
    ...state,
    attempts: state.attempts + counters.attempts,
    failures: state.failures + counters.failures,
    rejections: state.rejections + counters.rejections,
    throttles: state.throttles + counters.throttles,
    throttledMs: state.throttledMs + counters.throttledMs,
    consecutiveGates: (state.consecutiveGates ?? 0) + (gate === null ? 0 : 1),
  };
}

interface Wait {
  readonly delayMs: number;
  readonly evidence: RetryAfterEvidence | null;
}

function waitFor(
  outcomeClass: OutcomeClass,
  state: RetryState,
  outcome: Outcome,
  policy: RetryPolicy,
  { nowMs, random }: DecideContext,
): Wait {
  if (outcomeClass === "delivered" || !requestMade(outcome)) {
    return { delayMs: 0, evidence: null };
  }
  const raw = outcome.kind === "response" ? outcome.retryAfterHeader : null;
  const reading = readRetryAfter(raw, nowMs);
  const boundedRaw = raw === null ? null : raw.slice(0, MAX_RAW_HEADER_CHARS);
  const facts = { raw: boundedRaw, readAs: reading.kind, askedMs: reading.delayMs };
  if (reading.delayMs !== null) {
    const { value, clamped } = clampDelay(reading.delayMs, policy);
    const jitterMs = addedJitterMs(value, policy, random);
    return { delayMs: value + jitterMs, evidence: { ...facts, clamped, fallback: false, jitterMs } };
  }
  const own = jittered(ownDelayMs(outcomeClass, state, policy), policy.backoff.jitter, policy, random);
  const evidence = { ...facts, clamped: own.clamped, fallback: true, jitterMs: 0 };
  return { delayMs: own.delayMs, evidence: outcome.kind === "response" ? evidence : null };
}

/**
 * The policy's own delay before jitter and clamp. Failures and throttles are counted apart, so that a night of
 * 429s does not make the first 500 wait for 15 minutes.
 */
function ownDelayMs(outcomeClass: OutcomeClass, state: RetryState, policy: RetryPolicy): number {
  if (outcomeClass === "throttled") {
    return backoffMs(state.throttles + 1, policy.backoff);
  }
  if (outcomeClass === "interrupted") {
    return backoffMs(1, policy.backoff);
  }
  return policy.scheduleMs?.[state.failures] ?? backoffMs(state.failures + 1, policy.backoff);
}

/**
 * Uniform between the lower and upper end of x U(1 - jitter, 1 + jitter), never outside the policy's bounds. When
 * the minimum cuts the range off, what is left of it is used: equal failures still spread.
 */
function jittered(
  nominalMs: number,
  jitter: number,
  policy: RetryPolicy,
  random: () => number,
): { delayMs: number; clamped: "max" | "min" | null } {
  const { value, clamped } = clampDelay(nominalMs, policy);
  const lowMs = Math.max(value * (1 - jitter), policy.retryAfter.minMs);
  const highMs = Math.max(Math.min(value * (1 + jitter), policy.retryAfter.maxMs), lowMs);
  return { delayMs: Math.round(lowMs + unit(random) * (highMs - lowMs)), clamped };
}

/** Jitter on a Retry-After: only ever added, between 0 and a share of the delay with a floor and a cap. */
function addedJitterMs(delayMs: number, policy: RetryPolicy, random: () => number): number {
  const { jitterShare, jitterFloorMs, jitterCapMs } = policy.retryAfter;
  const boundMs = Math.min(Math.max(delayMs * jitterShare, jitterFloorMs), jitterCapMs);
  return Math.round(unit(random) * boundMs);
}

function clampDelay(delayMs: number, policy: RetryPolicy): { value: number; clamped: "max" | "min" | null } {
  const { minMs, maxMs } = policy.retryAfter;
  if (delayMs > maxMs) {
    return { value: maxMs, clamped: "max" };
  }
  return delayMs < minMs ? { value: minMs, clamped: "min" } : { value: delayMs, clamped: null };
}

/** A random number in [0, 1], whatever the source returns: a NaN must never reach a due time. */
function unit(random: () => number): number {
  const value = random();
  return value >= 0 && value <= 1 ? value : 0.5;
}

function countersFor(outcomeClass: OutcomeClass, outcome: Outcome, delayMs: number): CounterDeltas {
  const attempts = requestMade(outcome) ? 1 : 0;
  const none = { attempts, failures: 0, rejections: 0, throttles: 0, throttledMs: 0 } as const;
  switch (outcomeClass) {
    case "delivered":
    case "interrupted":
      return none;
    case "throttled":
      return { ...none, throttles: 1, throttledMs: delayMs };
    case "permanent":
      return { ...none, failures: 1, rejections: 1 };
    default:
      return { ...none, failures: attempts };
  }
}

function deadReasonOf(
  outcomeClass: OutcomeClass,
  state: RetryState,
  counters: CounterDeltas,
  policy: RetryPolicy,
): DeadReason | null {
  const atOnce = DEAD_AT_ONCE[outcomeClass];
  if (atOnce !== undefined) {
    return atOnce;
  }
  if (outcomeClass === "interrupted") {
    return null;
  }
  if (outcomeClass === "permanent" && state.rejections + counters.rejections >= policy.rejectionAttempts) {
    return "rejected";
  }
  if (counters.failures > 0 && state.failures + counters.failures >= maxFailuresOf(policy)) {
    return "attempts_exhausted";
  }
  // Only delays that were already waited out count: the one that this 429 asks for is served before it counts.
  return state.throttledMs > policy.maxThrottleMs ? "expired" : null;
}

function delayReasonOf(outcomeClass: OutcomeClass, outcome: Outcome): DelayReason {
  switch (outcomeClass) {
    case "throttled":
      return "rate_limited";
    case "permanent":
      return "rejected";
    case "interrupted":
      return "shutdown";
    case "ambiguous":
      return outcome.kind === "timeout" ? "timeout" : "network";
    default:
      return outcome.kind === "response" && outcome.status < 500 && outcome.status >= 400
        ? "transient_status"
        : "server_error";
  }
}

/**
 * A 429 always gates its destination; a 503 only with a Retry-After that can be used. The gate lasts as long as
 * the delivery's own wait when the receiver named it, so that the two can never disagree about the first probe.
 */
function gateFor(
  outcomeClass: OutcomeClass,
  state: RetryState,
  outcome: Outcome,
  wait: Wait,
  policy: RetryPolicy,
  { random }: DecideContext,
): GateDecision | null {
  const asked = wait.evidence !== null && !wait.evidence.fallback;
  const unavailable = outcome.kind === "response" && outcome.status === 503;
  if (asked && (outcomeClass === "throttled" || unavailable)) {
    return { delayMs: wait.delayMs, why: "retry_after" };
  }
  if (outcomeClass === "throttled") {
    return { delayMs: gateDelayMs(state.consecutiveGates ?? 0, policy, random), why: "rate_limited" };
  }
  return null;
}
