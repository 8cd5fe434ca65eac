/**
 * Keeps the starts of a rate-limited destination apart in this process, by when they really happened: a start that came
 * late (a busy process, a new connection) must not be followed at once by one that is on time. It only ever delays, by what
 * was late before, and it never decides what is sent: the claim does.
 */
import type { Pace } from "#db/queue/claim.ts";

/**
 * A token is worth nothing this long after it was there: a process that was stopped meanwhile would otherwise send beside
 * those that went on. Its row goes back unsent.
 */
export const TOKEN_LIFE_MS = 1_000;
/** ... or this part of the interval where that is longer: a request a minute is not lost for a moment's delay. */
const TOKEN_LIFE_SHARE = 0.05;
/** A start that was later than this did come late. */
const TIMER_SLACK_MS = 3;
/** Behind its tokens, a destination's starts come this much closer than its rate says, until they are with them again. */
const CATCH_UP = 0.9;
/** Destinations that are remembered; those without a recent start go first. */
const MAX_DESTINATIONS = 5_000;

/** One claimed row's token. */
export interface Token {
  readonly destinationId: string;
  /** When it is there, in database time. */
  readonly atMs: number;
  readonly gapMs: number;
  readonly burst: number;
}

/** The token of an entry's nth row. */
export function tokenOf(destinationId: string, pace: Pace, nth: number, claimedAtMs: number): Token {
  // Of a burst that was saved up, every token counts from the claim that spent it.
  const atMs = Math.max(claimedAtMs, pace.startMs + nth * pace.gapMs);
  return { destinationId, atMs, gapMs: pace.gapMs, burst: pace.burst };
}

export class Pacer {
  /**
   * Theoretical arrival time by destination, from the starts themselves, in monotonic time: the database's time as we know
   * it may move forward between two starts.
   */
  readonly #tats = new Map<string, number>();

  /**
   * How long the row's request has to wait, 0 or less for not at all; null when its token is too old.
   * @param nowMs database time
   */
  waitMs(token: Token, nowMs: number, monotonicMs: number): number | null {
    const lifeMs = Math.max(TOKEN_LIFE_MS, token.gapMs * TOKEN_LIFE_SHARE);
    if (nowMs - token.atMs > lifeMs) return null;
    return this.#targetMs(token, nowMs, monotonicMs) - monotonicMs;
  }

  /** The row's request starts now. */
  started(token: Token, nowMs: number, monotonicMs: number): void {
    const targetMs = this.#targetMs(token, nowMs, monotonicMs);
    // A timer is always a little late; counted, that would add up and cost the rate several percent.
    const startMs = monotonicMs - targetMs <= TIMER_SLACK_MS ? targetMs : monotonicMs;
    const tatMs = this.#tats.get(token.destinationId) ?? startMs;
    this.#tats.delete(token.destinationId);
    if (this.#tats.size >= MAX_DESTINATIONS) this.#forgetOldest();
    this.#tats.set(token.destinationId, Math.max(startMs, tatMs) + token.gapMs * CATCH_UP);
  }

  /** In monotonic time: not before its token, nor too close to the starts before it. */
  #targetMs(token: Token, nowMs: number, monotonicMs: number): number {
    const tatMs = this.#tats.get(token.destinationId) ?? Number.NEGATIVE_INFINITY;
    return Math.max(monotonicMs + token.atMs - nowMs, tatMs - (token.burst - 1) * token.gapMs);
  }

  #forgetOldest(): void {
    for (const oldest of this.#tats.keys()) {
      this.#tats.delete(oldest);
      return;
    }
  }
}
