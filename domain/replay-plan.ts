/**
 * The plan of a replay batch and the policy that bounds it. Pure. The author of a batch may only make a stop condition
 * stricter; only an administrator may loosen one, and nobody can switch one off.
 */
import { z } from "zod";
import { SluiceError } from "./errors.ts";
import { moment } from "./moment.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Releases per second of one destination's lane; see `defaultRate`. */
export const MIN_REPLAY_RATE = 0.1;
export const MAX_REPLAY_RATE = 50;
const DEFAULT_RATE = 1;
const NORMAL_SHARE = 0.05;
const LIMIT_SHARE = 0.2;

export const DEFAULT_REPLAY_CONCURRENCY = 2;
export const MAX_REPLAY_CONCURRENCY = 50;
export const MAX_ATTEMPT_BUDGET = 3;

const share = z.number().gt(0).max(1);
const spanMs = z
  .int()
  .min(0)
  .max(7 * 24 * HOUR_MS);
const someMs = z
  .int()
  .min(1)
  .max(7 * 24 * HOUR_MS);

/** The numbers of the stop conditions. For each of them less is stricter. */
const ThresholdShape = z.strictObject({
  /** a) first-attempt p95 of the region in the last whole minute, by class. */
  urgentFirstP95Ms: someMs,
  routineFirstP95Ms: someMs,
  /** b) oldest due-but-unclaimed. */
  dueLagMs: someMs,
  /** c) 429 answers among the batch's attempts, once there are `rateLimitedMin` of them. */
  rateLimitedShare: share,
  rateLimitedMin: z.int().min(1).max(1_000),
  /** d) all failures among the batch's attempts. */
  failedShare: share,
  failedMin: z.int().min(1).max(1_000),
  /** e) equal failures in a row of one destination, which stop its lane. */
  equalFailures: z.int().min(1).max(100),
  /** g) time since the start. */
  maxRunMs: someMs,
  /** h) age of the newest sample, and of the runner's last turn. */
  metricsMaxAgeMs: someMs,
});
export type ReplayThresholds = z.infer<typeof ThresholdShape>;
export type ThresholdName = keyof ReplayThresholds;

/** Limits and thresholds in force, as a versioned row keeps them. */
export const ReplayPolicy = ThresholdShape.extend({
  /** Attempts that the shares look at: at most so many, and only these last ones when enough of them lie in the span. */
  windowAttempts: z.int().min(1).max(1_000),
  windowMs: someMs,
  canaryHoldMs: spanMs,
  /** True: the batch goes on by itself after a clean hold. */
  canaryAuto: z.boolean(),
  canaryShare: share,
  rampHoldMs: spanMs,
  reviewMs: someMs,
  approvalMs: someMs,
  /** The pause of this number ends the batch. */
  maxAutoPauses: z.int().min(1).max(100),
});
export type ReplayPolicy = z.infer<typeof ReplayPolicy>;

/** Some of a policy, for a new version of it. */
export const ReplayPolicyInput = ReplayPolicy.partial().refine(
  (policy) => Object.values(policy).some((value) => value !== undefined),
  "name at least one number to change",
);
export type ReplayPolicyInput = z.infer<typeof ReplayPolicyInput>;

export const DEFAULT_REPLAY_POLICY: ReplayPolicy = Object.freeze({
  urgentFirstP95Ms: 15 * SECOND_MS,
  routineFirstP95Ms: 120 * SECOND_MS,
  dueLagMs: MINUTE_MS,
  rateLimitedShare: 0.1,
  rateLimitedMin: 10,
  failedShare: 0.2,
  failedMin: 20,
  equalFailures: 5,
  maxRunMs: 2 * HOUR_MS,
  metricsMaxAgeMs: 30 * SECOND_MS,
  windowAttempts: 50,
  windowMs: 2 * MINUTE_MS,
  canaryHoldMs: 2 * MINUTE_MS,
  canaryAuto: false,
  canaryShare: 0.95,
  rampHoldMs: MINUTE_MS,
  reviewMs: 4 * HOUR_MS,
  approvalMs: 2 * HOUR_MS,
  maxAutoPauses: 3,
});

/** @throws SluiceError `bad_policy` for a stored row that nobody can follow */
export function readReplayPolicy(stored: unknown): ReplayPolicy {
  const result = ReplayPolicy.safeParse({ ...DEFAULT_REPLAY_POLICY, ...(stored as object | null) });
  if (!result.success) throw new SluiceError("bad_policy", z.prettifyError(result.error).slice(0, 300));
  return result.data;
}

const rate = z.number().min(MIN_REPLAY_RATE).max(MAX_REPLAY_RATE);

/** What the author of a batch may set. What is left out takes its default. */
export const ReplayPlanInput = z.strictObject({
  /** Releases per second of each destination; null or left out: each one's own default. */
  ratePerSecond: rate.nullable().optional(),
  /** Most items of a destination that are released and have not ended. */
  concurrency: z.int().min(1).max(MAX_REPLAY_CONCURRENCY).optional(),
  /** Attempts of each item before it is a dead letter again. */
  attemptBudget: z.int().min(1).max(MAX_ATTEMPT_BUDGET).optional(),
  /** The start is refused before and after; a running batch stops at the end. */
  startsAfter: moment().nullable().optional(),
  endsBefore: moment().nullable().optional(),
  stop: ThresholdShape.partial().optional(),
});
export type ReplayPlanInput = z.infer<typeof ReplayPlanInput>;

/** As it is stored and frozen: nothing is left to a later default. */
export interface ReplayPlan {
  readonly ratePerSecond: number | null;
  readonly concurrency: number;
  readonly attemptBudget: number;
  readonly startsAfter: string | null;
  readonly endsBefore: string | null;
  readonly stop: ReplayThresholds;
}

const THRESHOLDS = Object.keys(ThresholdShape.shape) as readonly ThresholdName[];

/** The thresholds of a policy without the rest of it. */
export function thresholdsOf(policy: ReplayPolicy): ReplayThresholds {
  return Object.fromEntries(THRESHOLDS.map((name) => [name, policy[name]])) as ReplayThresholds;
}

/** The thresholds that a plan would make looser than the policy has them. Empty: everybody may. */
export function loosened(stop: Partial<ReplayThresholds>, policy: ReplayThresholds): ThresholdName[] {
  return THRESHOLDS.filter((name) => (stop[name] ?? policy[name]) > policy[name]);
}

/**
 * The whole plan.
 * @param isAdmin may loosen
 * @throws SluiceError `forbidden` when a threshold is loosened by somebody else; `bad_plan` for a window that ends before it begins
 */
export function resolvePlan(input: ReplayPlanInput, policy: ReplayPolicy, isAdmin: boolean): ReplayPlan {
  const stop = { ...thresholdsOf(policy), ...withoutUndefined(input.stop ?? {}) };
  const looser = loosened(stop, policy);
  if (looser.length > 0 && !isAdmin) {
    throw new SluiceError(
      "forbidden",
      `a stop condition can only be made stricter; an administrator may loosen ${looser.join(", ")}`,
      { action: "replay_loosen", roles: ["admin"], thresholds: looser },
    );
  }
  const { startsAfter = null, endsBefore = null } = input;
  if (startsAfter !== null && endsBefore !== null && Date.parse(endsBefore) <= Date.parse(startsAfter)) {
    throw new SluiceError("bad_plan", "the window ends before it begins");
  }
  return {
    ratePerSecond: input.ratePerSecond ?? null,
    concurrency: input.concurrency ?? DEFAULT_REPLAY_CONCURRENCY,
    attemptBudget: input.attemptBudget ?? 1,
    startsAfter,
    endsBefore,
    stop,
  };
}

export interface LaneFacts {
  /** Successes per second of the last seven days; 0 or null when there were none. */
  readonly normalPerSecond: number | null;
  /** The destination's own limit; null when it has none. */
  readonly limitPerSecond: number | null;
}

/**
 * Releases per second of a destination when nobody says: the least of 1/s, 5 % of its normal and 20 % of its limit, never
 * below 0.1/s. Without successes its normal says nothing and is left out.
 */
export function defaultRate({ normalPerSecond, limitPerSecond }: LaneFacts): number {
  const normal = normalPerSecond !== null && normalPerSecond > 0 ? normalPerSecond * NORMAL_SHARE : Infinity;
  const limit = limitPerSecond === null ? Infinity : limitPerSecond * LIMIT_SHARE;
  const rate = Math.max(MIN_REPLAY_RATE, Math.min(DEFAULT_RATE, normal, limit));
  return Math.round(rate * 1_000) / 1_000;
}

/** How long a batch takes at best, ramp and holds apart: the slowest lane decides. Milliseconds. */
export function plannedMs(
  lanes: readonly { readonly items: number; readonly ratePerSecond: number }[],
): number {
  return Math.max(0, ...lanes.map(({ items, ratePerSecond }) => (items / ratePerSecond) * SECOND_MS));
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}
