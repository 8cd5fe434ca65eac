/**
 * Rate limit as GCRA: the whole state of a destination is one number, its theoretical arrival time (TAT) in
 * milliseconds. The claim spends tokens in SQL with the same arithmetic, in database time; this module is what
 * plans, shows and tests it. A token is spent before the request, so a crash can under-send but never over-send.
 *
 * A token may be taken up to RATE_AHEAD_MS before it is there; its request must then not start before it is. So the
 * way from the claim to the socket costs the rate nothing, and starts keep their distance exactly.
 */

export interface RateLimit {
  /** Requests per second in the long run, above 0; fractions are fine (1/60 is one a minute). */
  readonly ratePerSecond: number;
  /** Requests that may start at once after a rest, 1 or more. */
  readonly burst: number;
}

/** The TAT of a destination that never sent anything: a full burst. */
export const NEVER_SENT_TAT_MS = 0;
/** How long before it is there a token may be taken. */
export const RATE_AHEAD_MS = 100;

/** A TAT that is a sum of intervals may differ from their product by rounding; that much is not "too far ahead". */
const ROUNDING_SLACK_MS = 1;
/** A millionth of a token, for the rounding of intervals. */
const TOKEN_SLACK = 1e-6;

/** What a call takes: tokens, when the request of each may start, and the TAT that has to be stored. */
export interface TokensTaken {
  readonly taken: number;
  /**
   * When the first one's token is there, often long ago; the n-th comes `n * gapMs` after it. A request starts at the later
   * of its token and now.
   */
  readonly firstTokenMs: number;
  readonly gapMs: number;
  /**
   * To be stored whenever it differs from what was given, also when nothing was taken: the cut of a TAT that is too far
   * ahead moves along with the clock, so one that is not stored would never let a token come.
   */
  readonly tatMs: number;
  /** When the next token can be had. */
  readonly nextTokenAtMs: number;
}

/**
 * Takes up to `wanted` tokens. The caller holds the lock under which the TAT was read, and stores what comes back.
 * @param aheadMs how long before it is there a token may be taken; 0 for what starts at once
 */
export function takeTokens(
  tatMs: number,
  limit: RateLimit,
  nowMs: number,
  wanted: number,
  aheadMs: number = RATE_AHEAD_MS,
): TokensTaken {
  const emptyAtMs = inRange(tatMs, limit, nowMs);
  const gapMs = intervalMs(limit);
  const available = Math.floor(limit.burst - (emptyAtMs - nowMs - aheadMs) / gapMs + TOKEN_SLACK);
  const taken = Math.max(0, Math.min(wanted, available));
  const newTatMs = taken === 0 && emptyAtMs === Math.max(tatMs, nowMs) ? tatMs : emptyAtMs + taken * gapMs;
  return {
    taken,
    firstTokenMs: emptyAtMs + (1 - limit.burst) * gapMs,
    gapMs,
    tatMs: newTatMs,
    nextTokenAtMs: nextTokenAtMs(newTatMs, limit, nowMs),
  };
}

/** Milliseconds between two requests at the limit. */
export function intervalMs(limit: RateLimit): number {
  return 1000 / limit.ratePerSecond;
}

/** How many requests may start now: 0 to `burst`. For who looks; who takes calls `takeTokens`. */
export function availableTokens(tatMs: number, limit: RateLimit, nowMs: number): number {
  return Math.min(takeTokens(tatMs, limit, nowMs, limit.burst, 0).taken, limit.burst);
}

/** The moment from which at least one request may start: now, or later. */
export function nextTokenAtMs(tatMs: number, limit: RateLimit, nowMs: number): number {
  const gapMs = intervalMs(limit);
  const atMs = inRange(tatMs, limit, nowMs) + (1 - limit.burst) * gapMs;
  return atMs - nowMs <= TOKEN_SLACK * gapMs ? nowMs : atMs;
}

/**
 * The TAT after `n` requests that start now; to be stored. The caller has asked `availableTokens` first, in the same lock.
 */
export function spend(tatMs: number, limit: RateLimit, nowMs: number, n: number): number {
  return inRange(tatMs, limit, nowMs) + n * intervalMs(limit);
}

/**
 * The TAT brought into the range that the limit in force can produce. A TAT from the past means a full burst.
 * One further ahead than a whole burst and what may be taken ahead comes from a slower limit before a change: without the
 * cut, a destination raised from one a minute to ten a second would still wait for its minute.
 */
function inRange(tatMs: number, limit: RateLimit, nowMs: number): number {
  const farthestMs = nowMs + RATE_AHEAD_MS + limit.burst * intervalMs(limit);
  return tatMs > farthestMs + ROUNDING_SLACK_MS ? farthestMs : Math.max(tatMs, nowMs);
}
