/**
 * A destination judged down, and one to be disabled. The database applies the same rules to its stored state
 * (`sluice.note_health`), since only there the failures of all processes meet; this module says them, and a test
 * compares the two. A 429 is an answer: it never opens a breaker and never disables.
 *
 * Breaker: 20 requests in a row that got no answer or a 5xx, over at least 30 s and with no answer between, open it. Open,
 * nothing is sent for 5 s, the next time for 10 s, and so on up to 5 minutes, each x U(0.8, 1.2). Then one request at a
 * time goes out (half open): an answer closes the breaker, another failure opens it for longer.
 *
 * Auto-disable: 20 failures in a row with no 2xx between them, the first of them 24 h old. So there was no 2xx for 24 h and
 * there are at least 20 failures; 20 failures within one second are not enough, nor is any row that a success broke.
 */
import { classify, type Outcome, speaksAgainstDestination } from "./outcome.ts";
import type { RetryPolicy } from "./policy.ts";

/** Requests in a row without an answer that open the breaker. */
export const BREAKER_FAILURES = 20;
/**
 * They have to take this long: a batch that fails together is no outage yet, and what another process has just seen can still
 * be told of.
 */
export const BREAKER_MIN_SPAN_MS = 30_000;
export const BREAKER_FIRST_MS = 5_000;
export const BREAKER_LONGEST_MS = 300_000;
const BREAKER_JITTER = 0.2;

export const DISABLE_FAILURES = 20;
export const DISABLE_AFTER_MS = 24 * 3_600_000;

/** What an outcome says about the destination, apart from the delivery. */
export type HealthSign =
  /** A 2xx. */
  | "success"
  /** An answer that is no success, but an answer: 3xx, 4xx. A failure for auto-disable, none for the breaker. */
  | "refused"
  /** 429: an answer, and no failure of any kind. */
  | "limited"
  /** 5xx, or no answer. */
  | "down"
  /** Nothing: no request was made, we cut it off ourselves, or a kept connection had died meanwhile. */
  | "none";

export function healthSign(outcome: Outcome, policy: RetryPolicy): HealthSign {
  const outcomeClass = classify(outcome, policy);
  if (outcomeClass === "delivered") return "success";
  if (outcomeClass === "throttled") return "limited";
  if (!speaksAgainstDestination(outcome, policy)) return "none";
  // A 5xx that a policy calls permanent is a server in trouble all the same.
  return outcome.kind === "response" && outcome.status < 500 ? "refused" : "down";
}

export interface BreakerState {
  readonly breaker: "closed" | "open";
  /** When open: nothing goes before; from then on one request at a time. */
  readonly untilMs: number | null;
  /** Openings in a row. */
  readonly opens: number;
  readonly downInRow: number;
  readonly downSinceMs: number | null;
}

export const CLOSED_BREAKER: BreakerState = {
  breaker: "closed",
  untilMs: null,
  opens: 0,
  downInRow: 0,
  downSinceMs: null,
};

/** What one process saw of a destination since its last report. */
export interface BreakerReport {
  /** Its last answer, by the database's clock; null when there was none. */
  readonly aliveAtMs: number | null;
  /** Signs "down" after that answer. */
  readonly downs: number;
  readonly firstDownMs: number | null;
  /** Start of the latest request among them. */
  readonly lastDownStartedMs: number | null;
}

/** @param random uniform in [0, 1) */
export function afterReport(
  state: BreakerState,
  report: BreakerReport,
  nowMs: number,
  random: number,
): BreakerState {
  // An answer from before the row of failures began says nothing about it.
  const answered =
    report.aliveAtMs !== null && (state.downSinceMs === null || report.aliveAtMs >= state.downSinceMs);
  const base = answered ? CLOSED_BREAKER : state;
  if (report.downs === 0) return base;
  const counted: BreakerState = {
    ...base,
    downInRow: base.downInRow + report.downs,
    downSinceMs: base.downSinceMs ?? report.firstDownMs,
  };
  const probeFailed = counted.breaker === "open" && (report.lastDownStartedMs ?? 0) >= (counted.untilMs ?? 0);
  const trips =
    counted.breaker === "closed" &&
    counted.downInRow >= BREAKER_FAILURES &&
    nowMs - (counted.downSinceMs ?? nowMs) >= BREAKER_MIN_SPAN_MS;
  if (!probeFailed && !trips) return counted;
  const opens = counted.opens + 1;
  return { ...counted, breaker: "open", opens, untilMs: nowMs + openForMs(opens, random) };
}

/** How long the n-th opening in a row lasts. */
export function openForMs(opens: number, random: number): number {
  // Infinity for a large exponent is fine: the longest takes it.
  const plainMs = Math.min(BREAKER_FIRST_MS * 2 ** (Math.max(1, opens) - 1), BREAKER_LONGEST_MS);
  return plainMs * jitterFactor(random);
}

/** Uniform in [0, 1) -> what an opening is multiplied by. */
export function jitterFactor(random: number): number {
  return 1 - BREAKER_JITTER + 2 * BREAKER_JITTER * random;
}

export interface FailureRow {
  readonly failures: number;
  /** The first of them. */
  readonly sinceMs: number | null;
}

/** One process's report: its last 2xx, and the failures after it. */
export interface FailureReport {
  readonly succeededAtMs: number | null;
  readonly failures: number;
  readonly firstFailureMs: number | null;
}

/** The row of failures with a report added. A disabled destination is not counted: what comes in late says nothing new. */
export function afterFailures(row: FailureRow, report: FailureReport, disabled: boolean): FailureRow {
  const broken =
    report.succeededAtMs !== null && (row.sinceMs === null || report.succeededAtMs >= row.sinceMs);
  const base: FailureRow = broken ? { failures: 0, sinceMs: null } : row;
  if (disabled || report.failures === 0) return base;
  return { failures: base.failures + report.failures, sinceMs: base.sinceMs ?? report.firstFailureMs };
}

export function shouldDisable(row: FailureRow, nowMs: number): boolean {
  return row.failures >= DISABLE_FAILURES && row.sinceMs !== null && nowMs - row.sinceMs >= DISABLE_AFTER_MS;
}
