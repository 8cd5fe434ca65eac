/**
 * What "late" means: the numbers that verdicts, tables and charts of a region compare with, what is built in, and which
 * numbers can stand beside each other. Pure, and small enough for a page. Nothing here may make an unusable stored number
 * count: what cannot be used is built in, and shown as such.
 */
import type { ServiceClass } from "./delivery.ts";
import { FIRST_AGE_BOUNDS_MS } from "./series.ts";

/** One flat list, as it is stored, sent and audited. Ages in milliseconds, shares of 1. */
export interface ObjectiveNumbers {
  /** A new delivery should be tried within this; past it, it is late. */
  urgentTargetMs: number;
  urgentWarnMs: number;
  urgentPageMs: number;
  routineTargetMs: number;
  routineWarnMs: number;
  routinePageMs: number;
  /** Due work that nobody claims, whatever its class. */
  dueWarnMs: number;
  duePageMs: number;
  /** Part of new deliveries that should be tried within their class's target. */
  triedTargetShare: number;
  /** Delayed attempts should leave within this of their due time. */
  delayedTargetMs: number;
  /** 429 answers of all requests: noted, and a reason to act. */
  rateLimitedWarnShare: number;
  rateLimitedActShare: number;
  /** A dead letter that waits longer for a person is pointed out. */
  deadLetterWarnMs: number;
}
export type ObjectiveName = keyof ObjectiveNumbers;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const DEFAULT_OBJECTIVES: Readonly<ObjectiveNumbers> = {
  urgentTargetMs: 15_000,
  urgentWarnMs: 8_000,
  urgentPageMs: 60_000,
  routineTargetMs: 120_000,
  routineWarnMs: 60_000,
  routinePageMs: 300_000,
  dueWarnMs: 15_000,
  duePageMs: 60_000,
  triedTargetShare: 0.95,
  delayedTargetMs: 15_000,
  rateLimitedWarnShare: 0.05,
  rateLimitedActShare: 0.1,
  deadLetterWarnMs: DAY_MS,
};

/** First attempts are counted in buckets: only at their bounds can it be told exactly how many were in time. */
export const TARGETS_MS: readonly number[] = FIRST_AGE_BOUNDS_MS.filter((ms) => ms >= 1_000);

interface Bounds {
  readonly min: number;
  readonly max: number;
}
const AGE: Bounds = { min: 1_000, max: 7 * DAY_MS };
const SHARE: Bounds = { min: 0.001, max: 1 };

/** Ages are whole milliseconds. */
export const OBJECTIVE_BOUNDS: Readonly<Record<ObjectiveName, Bounds>> = {
  urgentTargetMs: AGE,
  urgentWarnMs: AGE,
  urgentPageMs: AGE,
  routineTargetMs: AGE,
  routineWarnMs: AGE,
  routinePageMs: AGE,
  dueWarnMs: AGE,
  duePageMs: AGE,
  triedTargetShare: SHARE,
  delayedTargetMs: AGE,
  rateLimitedWarnShare: SHARE,
  rateLimitedActShare: SHARE,
  deadLetterWarnMs: { min: 60_000, max: 90 * DAY_MS },
};
export const OBJECTIVE_NAMES = Object.keys(OBJECTIVE_BOUNDS) as readonly ObjectiveName[];

/** Pairs of which the first may not be above the second. */
const ORDER: readonly (readonly [ObjectiveName, ObjectiveName, string])[] = [
  ["urgentWarnMs", "urgentTargetMs", "the warning for urgent first attempts is above their target"],
  ["urgentTargetMs", "urgentPageMs", "the target for urgent first attempts is above what pages"],
  ["routineWarnMs", "routineTargetMs", "the warning for routine first attempts is above their target"],
  ["routineTargetMs", "routinePageMs", "the target for routine first attempts is above what pages"],
  ["dueWarnMs", "duePageMs", "the warning for due work is above what pages"],
  ["rateLimitedWarnShare", "rateLimitedActShare", "the warning for 429 answers is above what asks to act"],
];

/** Whether one number can be used by itself. */
export function isObjective(name: ObjectiveName, value: unknown): value is number {
  const { min, max } = OBJECTIVE_BOUNDS[name];
  if (typeof value !== "number" || !(value >= min && value <= max)) return false;
  if (!name.endsWith("Ms")) return true;
  return Number.isInteger(value) && (!isTarget(name) || TARGETS_MS.includes(value));
}

/** A first-attempt target: one of `TARGETS_MS`. */
export function isTarget(name: ObjectiveName): boolean {
  return name === "urgentTargetMs" || name === "routineTargetMs";
}

/** What is wrong between the numbers, or null. */
export function refuseObjectives(numbers: ObjectiveNumbers): string | null {
  return ORDER.find(([low, high]) => numbers[low] > numbers[high])?.[2] ?? null;
}

/** What is in force by a stored row. Never throws: a page must not end because of a row. */
export function readObjectiveNumbers(stored: unknown): ObjectiveNumbers {
  const given = (typeof stored === "object" && stored !== null ? stored : {}) as Record<string, unknown>;
  const usable = OBJECTIVE_NAMES.filter((name) => isObjective(name, given[name]));
  const numbers = { ...DEFAULT_OBJECTIVES, ...Object.fromEntries(usable.map((name) => [name, given[name]])) };
  return refuseObjectives(numbers) === null ? numbers : { ...DEFAULT_OBJECTIVES };
}

/** Names of what judges less strictly than before. */
export function loosenedObjectives(before: ObjectiveNumbers, after: ObjectiveNumbers): ObjectiveName[] {
  return OBJECTIVE_NAMES.filter((name) =>
    name === "triedTargetShare" ? after[name] < before[name] : after[name] > before[name],
  );
}

export interface Objective {
  /** A new delivery should be tried within this. */
  firstAttemptTargetMs: number;
  firstAttemptWarnMs: number;
  firstAttemptPageMs: number;
}

/** The same numbers, as answers carry them beside what is compared with them. */
export interface Thresholds {
  objectives: Readonly<Record<ServiceClass, Objective>>;
  dueLag: { warnMs: number; pageMs: number };
  triedShareTarget: number;
  delayedLagTargetMs: number;
  rateLimitedShare: { warn: number; act: number };
  deadLetterWarnMs: number;
}

export function thresholdsOf(numbers: ObjectiveNumbers): Thresholds {
  return {
    objectives: {
      urgent: {
        firstAttemptTargetMs: numbers.urgentTargetMs,
        firstAttemptWarnMs: numbers.urgentWarnMs,
        firstAttemptPageMs: numbers.urgentPageMs,
      },
      routine: {
        firstAttemptTargetMs: numbers.routineTargetMs,
        firstAttemptWarnMs: numbers.routineWarnMs,
        firstAttemptPageMs: numbers.routinePageMs,
      },
    },
    dueLag: { warnMs: numbers.dueWarnMs, pageMs: numbers.duePageMs },
    triedShareTarget: numbers.triedTargetShare,
    delayedLagTargetMs: numbers.delayedTargetMs,
    rateLimitedShare: { warn: numbers.rateLimitedWarnShare, act: numbers.rateLimitedActShare },
    deadLetterWarnMs: numbers.deadLetterWarnMs,
  };
}
