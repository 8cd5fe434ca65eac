/**
 * The declared attempt budget of a replayed delivery laid over the ordinary retry decision. Pure. Every attempt with an
 * outcome counts, a 429 too: a batch must never turn into a retry loop of its own. What the outcome says about the
 * destination (its gate, its counters) stays as it was decided.
 */
import type { Decision, RetryState } from "./retry-policy.ts";

/** @param budget attempts of this cycle, or null for a delivery that is no replay */
export function withinBudget(
  decision: Decision,
  state: Pick<RetryState, "failures" | "rejections" | "throttles">,
  budget: number | null,
): Decision {
  if (budget === null || decision.to !== "delayed") return decision;
  const { counters } = decision;
  const now = counters.failures + counters.rejections + counters.throttles;
  const tried = state.failures + state.rejections + state.throttles + now;
  // An attempt that we cut off ourselves counts nowhere, so it ends nothing either.
  if (now === 0 || tried < budget) return decision;
  const { delayMs: _delayMs, reason: _reason, ...facts } = decision;
  return {
    ...facts,
    to: "dead",
    reason: "attempts_exhausted",
    disableDestination: false,
    counters: { ...counters, throttledMs: 0 },
  };
}
