/**
 * Retry policy as data: the schema, the defaults of each service class, and how overrides of a class or a
 * destination are laid over them. Every number has a unit in its name and a bound. What a policy means is
 * decided in retry-policy.ts; nothing here looks at a delivery.
 */
import { z } from "zod";
import type { ServiceClass } from "./delivery.ts";
import { SluiceError } from "./errors.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** No delay of a policy may be longer than this. */
export const MAX_POLICY_DELAY_MS = 30 * 24 * HOUR_MS;
/** Longest explicit schedule. */
export const MAX_SCHEDULE_ENTRIES = 64;
/** Most failures a policy may allow. */
export const MAX_POLICY_FAILURES = 100;
const MAX_PERMANENT_STATUSES = 32;
const MAX_BACKOFF_FACTOR = 10;
const MAX_DEADLINE_MS = 2 * MINUTE_MS;
const MAX_LEASE_MS = 10 * MINUTE_MS;

const delayMs = z.int().min(1).max(MAX_POLICY_DELAY_MS);
const delayOrZeroMs = z.int().min(0).max(MAX_POLICY_DELAY_MS);
const share = z.number().min(0).max(1);

const BackoffShape = z.strictObject({
  baseMs: delayMs,
  factor: z.number().min(1).max(MAX_BACKOFF_FACTOR),
  capMs: delayMs,
  /** 0.2 means that the capped value is multiplied by U(0.8, 1.2). */
  jitter: share,
});

const RetryAfterShape = z.strictObject({
  /** No delay of any kind is shorter than this. */
  minMs: delayMs,
  maxMs: delayMs,
  /** Jitter is only ever added: uniform between 0 and this share of the delay ... */
  jitterShare: share,
  /** ... where that bound is at least the floor and at most the cap. */
  jitterFloorMs: delayOrZeroMs,
  jitterCapMs: delayOrZeroMs,
});

// 429 is not among them: a throttle is never a rejection, whatever a policy says.
const permanentStatus = z
  .int()
  .min(400)
  .max(599)
  .refine((status) => status !== 429, "429 is never permanent");

const PolicyShape = z.strictObject({
  backoff: BackoffShape,
  /** The k-th entry is the wait after the k-th failure, in place of `backoff`; null means use `backoff`. */
  scheduleMs: z.array(delayOrZeroMs).max(MAX_SCHEDULE_ENTRIES).nullable(),
  retryAfter: RetryAfterShape,
  /** Failures, the first try included, after which a delivery is dead. Throttles do not count. */
  maxFailures: z.int().min(1).max(MAX_POLICY_FAILURES),
  /** Bound of the sum of the delays that 429s imposed in one cycle. */
  maxThrottleMs: delayOrZeroMs,
  /** Permanent 4xx answers after which a delivery is dead as `rejected`. */
  rejectionAttempts: z.int().min(1).max(MAX_POLICY_FAILURES),
  /** Statuses that would be retried but are to count as rejections, e.g. 501 and 505. */
  permanentStatuses: z.array(permanentStatus).max(MAX_PERMANENT_STATUSES),
  /** Covers the whole exchange: connect, send, headers and body. */
  requestDeadlineMs: z.int().min(1).max(MAX_DEADLINE_MS),
  leaseMs: z.int().min(1).max(MAX_LEASE_MS),
  leaseMarginMs: z.int().min(0).max(MAX_LEASE_MS),
  /** Backoff of a destination's gate when a 429 has no usable Retry-After; counts its consecutive gates. */
  gate: BackoffShape,
});

/** A whole policy. `parse` it before use; a policy that parsed is safe to compute with. */
export const RetryPolicy = PolicyShape.superRefine((policy, context) => {
  const refuse = (path: PropertyKey[], message: string) =>
    context.addIssue({ code: "custom", path, message });
  if (policy.backoff.baseMs > policy.backoff.capMs) {
    refuse(["backoff", "baseMs"], "is larger than capMs");
  }
  if (policy.gate.baseMs > policy.gate.capMs) {
    refuse(["gate", "baseMs"], "is larger than capMs");
  }
  if (policy.retryAfter.minMs > policy.retryAfter.maxMs) {
    refuse(["retryAfter", "minMs"], "is larger than maxMs");
  }
  if (policy.retryAfter.jitterFloorMs > policy.retryAfter.jitterCapMs) {
    refuse(["retryAfter", "jitterFloorMs"], "is larger than jitterCapMs");
  }
  if (policy.scheduleMs !== null && policy.maxFailures > policy.scheduleMs.length + 1) {
    refuse(
      ["maxFailures"],
      `a schedule of ${policy.scheduleMs.length} delays allows one failure more than that`,
    );
  }
});
export type RetryPolicy = z.infer<typeof RetryPolicy>;

/** Part of a policy, as stored with a class or a destination. What it leaves out stays as it was below it. */
export const RetryPolicyOverride = PolicyShape.partial().extend({
  backoff: BackoffShape.partial().optional(),
  retryAfter: RetryAfterShape.partial().optional(),
  gate: BackoffShape.partial().optional(),
});
export type RetryPolicyOverride = z.infer<typeof RetryPolicyOverride>;

const BASE_POLICY: RetryPolicy = {
  backoff: { baseMs: 5 * SECOND_MS, factor: 2, capMs: 15 * MINUTE_MS, jitter: 0.2 },
  scheduleMs: null,
  retryAfter: {
    minMs: SECOND_MS,
    maxMs: 24 * HOUR_MS,
    jitterShare: 0.1,
    jitterFloorMs: SECOND_MS,
    jitterCapMs: MINUTE_MS,
  },
  maxFailures: 8,
  maxThrottleMs: 72 * HOUR_MS,
  rejectionAttempts: 1,
  permanentStatuses: [],
  requestDeadlineMs: 10 * SECOND_MS,
  leaseMs: 30 * SECOND_MS,
  leaseMarginMs: 2 * SECOND_MS,
  gate: { baseMs: 5 * SECOND_MS, factor: 2, capMs: 15 * MINUTE_MS, jitter: 0.2 },
};

/** The defaults. Both classes retry alike; they differ in the order of service and in their objectives. */
export const DEFAULT_POLICY: Readonly<Record<ServiceClass, RetryPolicy>> = deepFreeze({
  urgent: structuredClone(BASE_POLICY),
  routine: structuredClone(BASE_POLICY),
});

/**
 * The policy in force: the class's defaults, then each override over it (class first, destination last).
 * null and undefined mean "no override". An override that brings a schedule without `maxFailures` also sets
 * that count, to one more than the schedule has delays.
 * @param overrides as stored (jsonb), not yet checked
 * @throws SluiceError `bad_policy`, or `lease_too_short` when the result could outlive its lease
 */
export function resolvePolicy(serviceClass: ServiceClass, ...overrides: readonly unknown[]): RetryPolicy {
  let merged: RetryPolicy = DEFAULT_POLICY[serviceClass];
  for (const override of overrides) {
    if (override !== null && override !== undefined) {
      merged = layOver(merged, parseOverride(override));
    }
  }
  const result = RetryPolicy.safeParse(merged);
  if (!result.success) {
    throw badPolicy(result.error);
  }
  checkLease(result.data);
  return result.data;
}

/**
 * Checks an override alone, e.g. before it is saved.
 * @throws SluiceError `bad_policy`
 */
export function parseOverride(override: unknown): RetryPolicyOverride {
  const result = RetryPolicyOverride.safeParse(override);
  if (!result.success) {
    throw badPolicy(result.error);
  }
  return result.data;
}

/**
 * A request must end before its lease does, with the margin to spare; else two workers send one delivery at once.
 * @throws SluiceError `lease_too_short`
 */
export function checkLease(
  policy: Pick<RetryPolicy, "leaseMs" | "requestDeadlineMs" | "leaseMarginMs">,
): void {
  const neededMs = policy.requestDeadlineMs + policy.leaseMarginMs;
  // Written so that NaN fails too.
  if (!(policy.leaseMs >= neededMs)) {
    throw new SluiceError(
      "lease_too_short",
      `a lease of ${policy.leaseMs} ms is shorter than the deadline of ${policy.requestDeadlineMs} ms and the margin of ${policy.leaseMarginMs} ms`,
      { leaseMs: policy.leaseMs, neededMs },
    );
  }
}

/** Failures after which a delivery is dead: a schedule that is used up ends it too. */
export function maxFailuresOf(policy: Pick<RetryPolicy, "maxFailures" | "scheduleMs">): number {
  return policy.scheduleMs === null
    ? policy.maxFailures
    : Math.min(policy.maxFailures, policy.scheduleMs.length + 1);
}

function layOver(below: RetryPolicy, override: RetryPolicyOverride): RetryPolicy {
  const merged = {
    ...below,
    ...withoutUndefined(override),
    backoff: { ...below.backoff, ...withoutUndefined(override.backoff ?? {}) },
    retryAfter: { ...below.retryAfter, ...withoutUndefined(override.retryAfter ?? {}) },
    gate: { ...below.gate, ...withoutUndefined(override.gate ?? {}) },
  };
  if (override.scheduleMs && override.maxFailures === undefined) {
    merged.maxFailures = override.scheduleMs.length + 1;
  }
  return merged;
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function badPolicy(error: z.ZodError): SluiceError {
  const issues = error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const text = issues.map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`));
  return new SluiceError("bad_policy", text.join("; "), { issues });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const field of Object.values(value)) {
      deepFreeze(field);
    }
    Object.freeze(value);
  }
  return value;
}
