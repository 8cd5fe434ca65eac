/**
 * Rate limit as GCRA: the whole state of a destination is one number, its theoretical arrival time (TAT) in
 * milliseconds. The claim spends tokens in SQL with the same arithmetic, in database time; this module is what
 * plans, shows and tests it. A token is spent before the request, so a crash can under-send but never over-send.
 */

export interface RateLimit {
  /** Requests per second in the long run, above 0; fractions are fine (1/60 is one a minute). */
  readonly ratePerSecond: number;
  /** Requests that may start at once after a rest, 1 or more. */
  readonly burst: number;
}

/** The TAT of a destination that never sent anything: a full burst. */
export const NEVER_SENT_TAT_MS = 0;

/** A TAT that is a sum of intervals may differ from their product by rounding; that much is not "too far ahead". */
const ROUNDING_SLACK_MS = 1;

/** Milliseconds between two requests at the limit. */
export function intervalMs(limit: RateLimit): number {
  return 1000 / limit.ratePerSecond;
}

/** How many requests may start now: 0 to `burst`. */
export function availableTokens(tatMs: number, limit: RateLimit, nowMs: number): number {
  const emptyAtMs = spentUntilMs(tatMs, limit, nowMs);
  const estimate = Math.floor(limit.burst - (emptyAtMs - nowMs) / intervalMs(limit));
  // The division can land a hair beside a whole number; the comparison below is the one that counts.
  const tokens = allows(emptyAtMs, limit, nowMs, estimate + 1) ? estimate + 1 : estimate;
  const exact = allows(emptyAtMs, limit, nowMs, tokens) ? tokens : tokens - 1;
  return Math.min(Math.max(exact, 0), limit.burst);
}

/**
 * The TAT after `n` requests. The caller has asked `availableTokens` first, in the same lock.
 */
export function spend(tatMs: number, limit: RateLimit, nowMs: number, n: number): number {
  return spentUntilMs(tatMs, limit, nowMs) + n * intervalMs(limit);
}

/** The moment from which at least one request may start: now, or later. */
export function nextTokenAtMs(tatMs: number, limit: RateLimit, nowMs: number): number {
  return Math.max(nowMs, spentUntilMs(tatMs, limit, nowMs) + (1 - limit.burst) * intervalMs(limit));
}

/**
 * The TAT brought into the range that the limit in force can produce. A TAT from the past means a full burst.
 * One further ahead than a whole burst comes from a slower limit before a change: without the cut, a
 * destination raised from one a minute to ten a second would still wait for its minute.
 */
function spentUntilMs(tatMs: number, limit: RateLimit, nowMs: number): number {
  const fullBurstAheadMs = nowMs + limit.burst * intervalMs(limit);
  return tatMs > fullBurstAheadMs + ROUNDING_SLACK_MS ? fullBurstAheadMs : Math.max(tatMs, nowMs);
}

function allows(emptyAtMs: number, limit: RateLimit, nowMs: number, n: number): boolean {
  return emptyAtMs + (n - limit.burst) * intervalMs(limit) <= nowMs;
}
