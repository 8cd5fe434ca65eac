/**
 * The stop conditions of a replay batch: readings in, breaches with their numbers out. Pure. A reading that is missing or
 * too old is a breach (the batch stops when nobody knows), except of the batch's own attempts: none yet is no breach.
 */
import { formatAge, formatLength, NO_DATA } from "./queue-age.ts";
import type { ReplayPolicy, ReplayThresholds } from "./replay-plan.ts";

export const STOP_CONDITIONS = [
  "first_attempt_p95",
  "due_lag",
  "rate_limited_share",
  "failed_share",
  "time_limit",
  "metrics_stale",
  "runner_silent",
] as const;
export type StopCondition = (typeof STOP_CONDITIONS)[number];

/** What stops one destination's lane and lets the others go on. */
export const LANE_STOPS = [
  "equal_failures",
  "circuit_open",
  "destination_changed",
  "destination_disabled",
  "destination_deleted",
  "canary_failed",
] as const;
export type LaneStop = (typeof LANE_STOPS)[number];

/** What holds a lane for as long as it lasts: nothing is released, what was not sent is recalled. */
export const LANE_HOLDS = ["region_draining", "tenant_paused", "destination_paused"] as const;
export type LaneHold = (typeof LANE_HOLDS)[number];

/** One attempt of the batch, as the window looks at it. */
export interface ReplayAttempt {
  readonly destinationId: string;
  readonly startedMs: number;
  /** Word of domain/outcome.ts. */
  readonly outcome: string;
  readonly status: number | null;
  readonly errorCode: string | null;
}

/** Everything that the conditions of the batch look at. Times in milliseconds of the database's clock. */
export interface ReplayReadings {
  readonly nowMs: number;
  readonly startedMs: number | null;
  /** End of the planned window; null for none. */
  readonly endsBeforeMs: number | null;
  /** Newest sample that succeeded, and newest roll-up of the minutes; null when there is none. */
  readonly sampledMs: number | null;
  readonly rolledMs: number | null;
  /** The runner's last turn; null before the first. */
  readonly lastTurnMs: number | null;
  readonly dueLagMs: number | null;
  /** Of the last whole minute; null when nothing was tried for the first time in it. */
  readonly urgentFirstP95Ms: number | null;
  readonly routineFirstP95Ms: number | null;
  /** Attempts since the start or the last resume, of lanes that still run, newest first, at most windowAttempts. */
  readonly attempts: readonly ReplayAttempt[];
}

export interface ConditionState {
  readonly condition: StopCondition;
  /** In its own unit: milliseconds or a share; null when nothing can be said. */
  readonly value: number | null;
  readonly limit: number;
  readonly breached: boolean;
  /** `429 share 14 % > 10 %`. */
  readonly text: string;
}

/** The attempts that the shares count: the last ones within the span when there are at least `min`, else all given. */
export function windowOf(
  attempts: readonly ReplayAttempt[],
  nowMs: number,
  policy: Pick<ReplayPolicy, "windowAttempts" | "windowMs">,
  min: number,
): readonly ReplayAttempt[] {
  const last = attempts.slice(0, policy.windowAttempts);
  const recent = last.filter(({ startedMs }) => nowMs - startedMs <= policy.windowMs);
  return recent.length >= min ? recent : last;
}

export const isFailure = (attempt: Pick<ReplayAttempt, "outcome">): boolean =>
  attempt.outcome !== "delivered";
const isRateLimited = (attempt: ReplayAttempt): boolean => attempt.outcome === "rate_limited";

/** Every condition with its present value, for a screen before the start and for the runner before each release. */
export function checkStop(
  readings: ReplayReadings,
  stop: ReplayThresholds,
  policy: Pick<ReplayPolicy, "windowAttempts" | "windowMs">,
): ConditionState[] {
  const { nowMs } = readings;
  return [
    metricsState(readings, stop),
    silenceState(readings, stop),
    p95State(readings, stop),
    ageState("due_lag", "due-but-unclaimed", readings.dueLagMs, stop.dueLagMs),
    shareState("rate_limited_share", "429 share", isRateLimited, stop.rateLimitedShare, {
      attempts: windowOf(readings.attempts, nowMs, policy, stop.rateLimitedMin),
      min: stop.rateLimitedMin,
    }),
    shareState("failed_share", "failure share", isFailure, stop.failedShare, {
      attempts: windowOf(readings.attempts, nowMs, policy, stop.failedMin),
      min: stop.failedMin,
    }),
    timeState(readings, stop),
  ];
}

export function breachesOf(states: readonly ConditionState[]): ConditionState[] {
  return states.filter(({ breached }) => breached);
}

/** One line for the reason that is stored: `429 share 14 % > 10 %`. */
export function describeBreaches(states: readonly ConditionState[]): string {
  return breachesOf(states)
    .map(({ text }) => text)
    .join("; ");
}

function metricsState(
  { nowMs, sampledMs, rolledMs }: ReplayReadings,
  stop: ReplayThresholds,
): ConditionState {
  const oldest = sampledMs === null || rolledMs === null ? null : Math.min(sampledMs, rolledMs);
  const value = oldest === null ? null : Math.max(0, nowMs - oldest);
  const breached = value === null || value > stop.metricsMaxAgeMs;
  const limit = stop.metricsMaxAgeMs;
  const text = value === null ? "metrics missing" : `metrics ${aged(value, limit, " old")}`;
  return { condition: "metrics_stale", value, limit, breached, text };
}

function silenceState({ nowMs, lastTurnMs }: ReplayReadings, stop: ReplayThresholds): ConditionState {
  const value = lastTurnMs === null ? 0 : Math.max(0, nowMs - lastTurnMs);
  const limit = stop.metricsMaxAgeMs;
  const text = `runner silent for ${aged(value, limit)}`;
  return { condition: "runner_silent", value, limit, breached: value > limit, text };
}

/** Of the two classes the one that is nearer to its target, or further beyond it. */
function p95State(readings: ReplayReadings, stop: ReplayThresholds): ConditionState {
  const urgent = { word: "urgent", value: readings.urgentFirstP95Ms, limit: stop.urgentFirstP95Ms };
  const routine = { word: "routine", value: readings.routineFirstP95Ms, limit: stop.routineFirstP95Ms };
  const part = (of: typeof urgent) => (of.value ?? 0) / of.limit;
  const worst = part(urgent) >= part(routine) ? urgent : routine;
  return ageState("first_attempt_p95", `first-attempt p95 (${worst.word})`, worst.value, worst.limit);
}

function ageState(
  condition: StopCondition,
  name: string,
  value: number | null,
  limit: number,
): ConditionState {
  const breached = value !== null && value > limit;
  const text = `${name} ${value === null ? NO_DATA : aged(value, limit)}`;
  return { condition, value, limit, breached, text };
}

function shareState(
  condition: StopCondition,
  name: string,
  counts: (attempt: ReplayAttempt) => boolean,
  limit: number,
  { attempts, min }: { readonly attempts: readonly ReplayAttempt[]; readonly min: number },
): ConditionState {
  const hits = attempts.filter(counts).length;
  // 0 of 0 is no share.
  const value = attempts.length === 0 ? null : hits / attempts.length;
  const breached = value !== null && attempts.length >= min && value > limit;
  const shown = value === null ? "no attempts yet" : `${percent(value)} (${hits} of ${attempts.length})`;
  return {
    condition,
    value,
    limit,
    breached,
    text: `${name} ${shown}${breached ? ` > ${percent(limit)}` : ""}`,
  };
}

function timeState(
  { nowMs, startedMs, endsBeforeMs }: ReplayReadings,
  stop: ReplayThresholds,
): ConditionState {
  const value = startedMs === null ? 0 : Math.max(0, nowMs - startedMs);
  const isOver = endsBeforeMs !== null && nowMs >= endsBeforeMs;
  const breached = isOver || value > stop.maxRunMs;
  const text = isOver ? "the planned window is over" : `run time ${aged(value, stop.maxRunMs)}`;
  return { condition: "time_limit", value, limit: stop.maxRunMs, breached, text };
}

/** `31 s`, above the limit `31 s > 30 s`; `over 30 s` where both would read the same. */
function aged(ms: number, limitMs: number, after = ""): string {
  if (ms <= limitMs) return `${formatAge(ms)}${after}`;
  const [age, limit] = [formatAge(ms), formatLength(limitMs)];
  return age === formatAge(limitMs) ? `over ${limit}${after}` : `${age}${after} > ${limit}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/**
 * The failure that a destination has given so often in a row that its lane stops, or null.
 * @param attempts of one destination, newest first
 */
export function equalFailures(attempts: readonly ReplayAttempt[], most: number): string | null {
  const last = attempts.slice(0, most);
  const [newest] = last;
  if (newest === undefined || last.length < most || !isFailure(newest)) return null;
  const word = failureWord(newest);
  return last.every((attempt) => failureWord(attempt) === word) ? `${most} in a row: ${word}` : null;
}

/**
 * How many failures in a row a destination has given that are equal to its newest one, and which. No failure: 0.
 * @param attempts of one destination, newest first
 */
export function failuresInARow(attempts: readonly ReplayAttempt[]): {
  readonly count: number;
  readonly text: string | null;
} {
  const [newest] = attempts;
  if (newest === undefined || !isFailure(newest)) return { count: 0, text: null };
  const text = failureWord(newest);
  const other = attempts.findIndex((attempt) => failureWord(attempt) !== text);
  return { count: other < 0 ? attempts.length : other, text };
}

/** `server error 500`. */
function failureWord({ outcome, status, errorCode }: ReplayAttempt): string {
  return [outcome.replaceAll("_", " "), status, errorCode].filter((part) => part !== null).join(" ");
}
