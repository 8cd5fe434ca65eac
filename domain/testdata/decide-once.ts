/** One call of `decide` with the constants of the fault list, for the tests of the retry policy. */
import type { NetworkOutcome, Outcome, ResponseOutcome } from "../outcome.ts";
import { resolvePolicy } from "../policy.ts";
import { type Decision, decide, type RetryState } from "../retry-policy.ts";

export const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
export const HOUR_MS = 3_600_000;
export const FRESH: RetryState = {
  attempts: 0,
  failures: 0,
  rejections: 0,
  throttles: 0,
  throttledMs: 0,
  cycle: 1,
};
/** Constants of the fault list: Retry-After clamped to [1 s, 3600 s], the rest as the defaults. */
export const CASE_POLICY = resolvePolicy("routine", { retryAfter: { minMs: 1000, maxMs: HOUR_MS } });
export const DEFAULTS = resolvePolicy("routine");
export const RESET: NetworkOutcome = { kind: "network", code: "ECONNRESET", phase: "headers" };

export function answer(status: number, retryAfterHeader: string | null = null): ResponseOutcome {
  return { kind: "response", status, retryAfterHeader, durationMs: 5 };
}

export function run(
  outcome: Outcome,
  state: Partial<RetryState> = {},
  policy = CASE_POLICY,
  random = 0.5,
): Decision {
  return decide({ ...FRESH, ...state }, outcome, policy, { nowMs: NOW_MS, random: () => random });
}

export function delayOf(decision: Decision): number {
  return decision.to === "delayed" ? decision.delayMs : Number.NaN;
}

/** Adds a decision's deltas to a state, as the finish statement does. */
export function apply(state: RetryState, decision: Decision): RetryState {
  const { attempts, failures, rejections, throttles, throttledMs } = decision.counters;
  return {
    attempts: state.attempts + attempts,
    failures: state.failures + failures,
    rejections: state.rejections + rejections,
    throttles: state.throttles + throttles,
    throttledMs: state.throttledMs + throttledMs,
    cycle: state.cycle,
  };
}

export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
