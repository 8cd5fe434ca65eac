/** The retry policies of a region as rows of a table. Pure. */
import { formatCount, plural } from "#components/ui/format.ts";
import type { PolicyInForce } from "#db/console/list-policies.ts";
import type { RetryPolicy } from "#domain/policy.ts";
import { formatLength } from "#domain/queue-age.ts";

type Words = (policy: RetryPolicy) => string;

const ROWS: readonly (readonly [string, Words])[] = [
  ["Failures until it is dead", (policy) => formatCount(policy.maxFailures)],
  ["Rejections until it is dead", (policy) => formatCount(policy.rejectionAttempts)],
  ["Longest time of throttling", (policy) => formatLength(policy.maxThrottleMs)],
  ["Wait after a failure", waits],
  ["Random part of a wait", (policy) => `±${Math.round(policy.backoff.jitter * 100)} %`],
  [
    "Retry-After is taken from",
    (policy) => `${formatLength(policy.retryAfter.minMs)} to ${formatLength(policy.retryAfter.maxMs)}`,
  ],
  ["Statuses that also count as rejections", (policy) => policy.permanentStatuses.join(", ") || "none"],
  ["Deadline of a request", (policy) => formatLength(policy.requestDeadlineMs)],
  [
    "Lease, with its margin",
    (policy) => `${formatLength(policy.leaseMs)}, ${formatLength(policy.leaseMarginMs)}`,
  ],
];

/** One row per number, with a value for each class. */
export function policyRows(policies: readonly PolicyInForce[]): { what: string; values: string[] }[] {
  return ROWS.map(([what, words]) => ({
    what,
    values: policies.map(({ retry }) => (retry === null ? "cannot be used" : words(retry))),
  }));
}

function waits({ backoff, scheduleMs }: RetryPolicy): string {
  if (scheduleMs !== null)
    return `${plural(scheduleMs.length, "fixed wait")}: ${scheduleMs.map(formatLength).join(", ")}`;
  return `${formatLength(backoff.baseMs)}, then ×${backoff.factor} up to ${formatLength(backoff.capMs)}`;
}
