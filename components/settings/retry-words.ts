/** The retry policy of a class as a form, and what of the form is sent. Pure; which numbers fit together the server decides. */
import type { PolicyInForce } from "#db/console/list-policies.ts";
import type { RetryPolicy, RetryPolicyOverride } from "#domain/policy.ts";
import { formatLength } from "#domain/queue-age.ts";
import {
  changedNumbers,
  changesByVersion,
  differences,
  hasProblem,
  type NumberSpecs,
  type Numbers,
  namesOf,
  type Typed,
} from "./policy-numbers.ts";

const MAX_DELAY_MS = 30 * 86_400_000;
const DELAY = { unit: "s", min: 1, max: MAX_DELAY_MS } as const;
const DELAY_OR_NONE = { ...DELAY, min: 0 } as const;
const SHARE = { unit: "%", min: 0, max: 1 } as const;
const FACTOR = { unit: "×", min: 1, max: 10 } as const;
const TIMES = { unit: "count", min: 1, max: 100 } as const;
const MAX_SCHEDULE_ENTRIES = 64;
const MAX_STATUSES = 32;

export type RetryName =
  | "maxFailures"
  | "rejectionAttempts"
  | "maxThrottleMs"
  | "requestDeadlineMs"
  | "leaseMs"
  | "leaseMarginMs"
  | `${"backoff" | "gate"}.${"baseMs" | "factor" | "capMs" | "jitter"}`
  | `retryAfter.${"minMs" | "maxMs" | "jitterShare" | "jitterFloorMs" | "jitterCapMs"}`;

/** Repeats the bounds of #domain/policy; retry-words.test.ts holds both together. */
export const RETRY_FIELDS: NumberSpecs<RetryName> = {
  maxFailures: { label: "Failures until it is dead", ...TIMES },
  rejectionAttempts: { label: "Rejections until it is dead", ...TIMES },
  maxThrottleMs: { label: "Longest time of throttling", ...DELAY_OR_NONE },
  "backoff.baseMs": { label: "Wait after the first failure", ...DELAY },
  "backoff.factor": { label: "Each next wait", ...FACTOR },
  "backoff.capMs": { label: "Longest wait after a failure", ...DELAY },
  "backoff.jitter": { label: "Random part of a wait", ...SHARE },
  "retryAfter.minMs": { label: "Shortest delay of any kind", ...DELAY },
  "retryAfter.maxMs": { label: "Longest delay of any kind", ...DELAY },
  "retryAfter.jitterShare": { label: "Added at random to a Retry-After, at most", ...SHARE },
  "retryAfter.jitterFloorMs": { label: "That bound is at least", ...DELAY_OR_NONE },
  "retryAfter.jitterCapMs": { label: "That bound is at most", ...DELAY_OR_NONE },
  "gate.baseMs": { label: "First time a gate is shut", ...DELAY },
  "gate.factor": { label: "Each next time", ...FACTOR },
  "gate.capMs": { label: "Longest time a gate is shut", ...DELAY },
  "gate.jitter": { label: "Random part of that time", ...SHARE },
  requestDeadlineMs: { label: "Deadline of a request", unit: "s", min: 1, max: 120_000 },
  leaseMs: { label: "Lease", unit: "s", min: 1, max: 600_000 },
  leaseMarginMs: { label: "Margin of the lease", unit: "s", min: 0, max: 600_000 },
};

export const RETRY_GROUPS: readonly { readonly title: string; readonly names: readonly RetryName[] }[] = [
  { title: "When it is dead", names: ["maxFailures", "rejectionAttempts", "maxThrottleMs"] },
  {
    title: "Backoff",
    names: ["backoff.baseMs", "backoff.factor", "backoff.capMs", "backoff.jitter"],
  },
  {
    title: "Retry-After",
    names: [
      "retryAfter.minMs",
      "retryAfter.maxMs",
      "retryAfter.jitterShare",
      "retryAfter.jitterFloorMs",
      "retryAfter.jitterCapMs",
    ],
  },
  { title: "Gate without a Retry-After", names: ["gate.baseMs", "gate.factor", "gate.capMs", "gate.jitter"] },
  { title: "Request", names: ["requestDeadlineMs", "leaseMs", "leaseMarginMs"] },
];

/** The numbers of a policy, flat. */
export function flatRetry(policy: RetryPolicy): Numbers<RetryName> {
  return Object.fromEntries(namesOf(RETRY_FIELDS).map((name) => [name, numberAt(policy, name)])) as Record<
    RetryName,
    number
  >;
}

function numberAt(policy: object, name: RetryName): number {
  return Number(name.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], policy));
}

/** What of a policy is no single number, as it is typed; absent: not touched. */
export interface RetryTyped {
  readonly numbers: Typed<RetryName>;
  /** Seconds with commas between them; empty: the backoff. */
  readonly schedule?: string;
  readonly statuses?: string;
}

export const NOTHING_TYPED: RetryTyped = { numbers: {} };

export function scheduleText({ scheduleMs }: Pick<RetryPolicy, "scheduleMs">): string {
  return (scheduleMs ?? []).map((ms) => String(ms / 1_000)).join(", ");
}

export function statusesText({ permanentStatuses }: Pick<RetryPolicy, "permanentStatuses">): string {
  return permanentStatuses.join(", ");
}

function listOf(text: string): number[] {
  return text.trim() === ""
    ? []
    : text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
}

export function scheduleProblem(text: string | undefined): string | null {
  const waits = listOf(text ?? "");
  const fits = waits.every((seconds) => seconds >= 0 && seconds * 1_000 <= MAX_DELAY_MS);
  if (fits && waits.length <= MAX_SCHEDULE_ENTRIES) return null;
  return `At most ${MAX_SCHEDULE_ENTRIES} waits in seconds, with commas between them, such as 5, 30, 120.`;
}

export function statusesProblem(text: string | undefined): string | null {
  const statuses = listOf(text ?? "");
  const fits = statuses.every(
    (status) => Number.isInteger(status) && status >= 400 && status <= 599 && status !== 429,
  );
  if (fits && statuses.length <= MAX_STATUSES) return null;
  return `At most ${MAX_STATUSES} statuses from 400 to 599 without 429, with commas between them, such as 501, 505.`;
}

/** What is sent, or why nothing can be. */
export function retryChanges(
  typed: RetryTyped,
  inForce: RetryPolicy,
): { changes: RetryPolicyOverride; problem: string | null } {
  const wrong =
    hasProblem(RETRY_FIELDS, typed.numbers) ||
    scheduleProblem(typed.schedule) !== null ||
    statusesProblem(typed.statuses) !== null;
  if (wrong) return { changes: {}, problem: "A value cannot be used: it says why." };
  const changes: Record<string, unknown> = nested(
    changedNumbers(RETRY_FIELDS, typed.numbers, flatRetry(inForce)),
  );
  if (typed.schedule !== undefined && typed.schedule.trim() !== scheduleText(inForce)) {
    const waits = listOf(typed.schedule).map((seconds) => Math.round(seconds * 1_000));
    changes.scheduleMs = waits.length === 0 ? null : waits;
  }
  if (typed.statuses !== undefined && typed.statuses.trim() !== statusesText(inForce)) {
    changes.permanentStatuses = listOf(typed.statuses);
  }
  const none = Object.keys(changes).length === 0;
  return { changes, problem: none ? "Nothing is changed yet." : null };
}

function nested(flat: Partial<Record<RetryName, number>>): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(flat)) {
    const [first = "", second] = name.split(".");
    changes[first] = second === undefined ? value : { ...(changes[first] as object), [second]: value };
  }
  return changes;
}

interface Whole {
  readonly numbers: Numbers<RetryName>;
  readonly schedule: string;
  readonly statuses: string;
}

/** What each listed version changed. */
export function retryHistory({
  history,
  builtIn,
}: Pick<PolicyInForce, "history" | "builtIn">): (string[] | null)[] {
  const wholes = history.map(({ body }) => laidOver(body as RetryPolicyOverride, builtIn));
  return changesByVersion(history, wholes, laidOver({}, builtIn), compare);
}

/** As #domain/policy lays one over the other. */
function laidOver(body: RetryPolicyOverride, builtIn: RetryPolicy): Whole {
  const policy = {
    ...builtIn,
    ...body,
    backoff: { ...builtIn.backoff, ...body.backoff },
    retryAfter: { ...builtIn.retryAfter, ...body.retryAfter },
    gate: { ...builtIn.gate, ...body.gate },
  } as RetryPolicy;
  if (body.scheduleMs && body.maxFailures === undefined) policy.maxFailures = body.scheduleMs.length + 1;
  const waits = policy.scheduleMs;
  return {
    numbers: flatRetry(policy),
    schedule: waits === null ? "by the backoff" : waits.map(formatLength).join(", "),
    statuses: statusesText(policy) || "none",
  };
}

function compare(before: Whole, after: Whole): string[] {
  const changed = differences(RETRY_FIELDS, before.numbers, after.numbers);
  if (before.schedule !== after.schedule) changed.push(`Fixed waits ${before.schedule} → ${after.schedule}`);
  if (before.statuses !== after.statuses) {
    changed.push(`Statuses that also count as rejections ${before.statuses} → ${after.statuses}`);
  }
  return changed;
}
