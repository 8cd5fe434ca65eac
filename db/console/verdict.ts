/**
 * The answer to "is anything late?" for one region, from numbers alone. Pure. Depth plays no part: a million rows planned
 * for later are fine, a handful overdue is not.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import type { Thresholds } from "#domain/objectives.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import type { FirstAttempt } from "./ages.ts";

/**
 * on_time: inside every objective. slow: past a warning. late: past a target. stopped: nobody sends.
 * draining: claims were switched off by a person.
 */
export type VerdictLevel = "on_time" | "slow" | "late" | "stopped" | "draining";

export interface Verdict {
  level: VerdictLevel;
  /** What decided it. */
  because: "first_attempt" | "due_lag" | "no_worker" | "draining" | null;
  /** The first attempt that is worst against its target; age 0 when none waits. */
  firstAttempt: { serviceClass: ServiceClass; oldestMs: number; targetMs: number };
  tenantsAffected: number;
}

export interface VerdictFacts {
  firstAttempt: readonly FirstAttempt[];
  due: CountAndAge;
  tenantsLate: number;
  running: number;
  draining: boolean;
  /** Of the region, of the same moment. */
  thresholds: Thresholds;
}

/** Judges one region that answered. A region that did not answer has no verdict. */
export function judgeRegion(facts: VerdictFacts): Verdict {
  const { dueLag, objectives } = facts.thresholds;
  const worst = worstFirstAttempt(facts.firstAttempt, objectives);
  const shared = {
    firstAttempt: worst,
    tenantsAffected: facts.tenantsLate,
  };
  if (facts.draining) return { ...shared, level: "draining", because: "draining" };
  if (facts.running === 0) return { ...shared, level: "stopped", because: "no_worker" };
  const dueMs = facts.due.oldestMs;
  if (worst.oldestMs > worst.targetMs) return { ...shared, level: "late", because: "first_attempt" };
  if (dueMs > dueLag.pageMs) return { ...shared, level: "late", because: "due_lag" };
  if (worst.oldestMs > objectives[worst.serviceClass].firstAttemptWarnMs) {
    return { ...shared, level: "slow", because: "first_attempt" };
  }
  if (dueMs > dueLag.warnMs) return { ...shared, level: "slow", because: "due_lag" };
  return { ...shared, level: "on_time", because: null };
}

function worstFirstAttempt(
  rows: readonly FirstAttempt[],
  objectives: Thresholds["objectives"],
): Verdict["firstAttempt"] {
  const against = (serviceClass: ServiceClass, oldestMs: number): Verdict["firstAttempt"] => ({
    serviceClass,
    oldestMs,
    targetMs: objectives[serviceClass].firstAttemptTargetMs,
  });
  let worst = against("routine", 0);
  for (const { serviceClass, oldestMs } of rows) {
    const candidate = against(serviceClass, oldestMs);
    if (candidate.oldestMs / candidate.targetMs > worst.oldestMs / worst.targetMs) worst = candidate;
  }
  return worst;
}
