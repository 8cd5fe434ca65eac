/**
 * Keeps the starts of a rate-limited destination apart in this process, by when they really happened: a start that came
 * late (a busy process, a new connection) must not be followed at once by one that is on time. It only ever delays, by what
 * was late before, and it never decides what is sent: the claim does.
 */
import type { Pace } from "#db/queue/claim.ts";
import { TOKEN_LIFE_MS, TOKEN_LIFE_SHARE } from "#domain/rate.ts";

/** A start that was later than this did come late. */
export const TIMER_SLACK_MS = 3;
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

/** Of a destination's starts: the last one, and when the next would be due after all of them. Monotonic time. */
interface Paced {
  readonly startMs: number;
  readonly tatMs: number;
  readonly gapMs: number;
}

export class Pacer {
  /**
   * By destination, from the starts themselves, in monotonic time: the database's time as we know it may move forward
   * between two starts.
   */
  readonly #paced = new Map<string, Paced>();

  /**
   * How long the row's request has to wait, 0 or less for not at all; null when its token is too old.
   * @param nowMs database time
   */
  waitMs(token: Token, nowMs: number, monotonicMs: number): number | null {
    const lifeMs = Math.max(TOKEN_LIFE_MS, token.gapMs * TOKEN_LIFE_SHARE);
    if (nowMs - token.atMs > lifeMs) return null;
    return this.#targetMs(token, nowMs, monotonicMs) - monotonicMs;
  }

  /** The row's request starts now: nothing may come between this call and the request. */
  started(token: Token, nowMs: number, monotonicMs: number): void {
    const targetMs = this.#targetMs(token, nowMs, monotonicMs);
    // A timer is always a little late; counted, that would add up and cost the rate several percent.
    const startMs = monotonicMs - targetMs <= TIMER_SLACK_MS ? targetMs : monotonicMs;
    const tatMs = Math.max(startMs, this.#tatMs(token)) + token.gapMs;
    this.#paced.delete(token.destinationId);
    if (this.#paced.size >= MAX_DESTINATIONS) this.#forgetOldest();
    this.#paced.set(token.destinationId, { startMs, tatMs, gapMs: token.gapMs });
  }

  /** In monotonic time: not before its token, nor too close to the starts before it. */
  #targetMs(token: Token, nowMs: number, monotonicMs: number): number {
    return Math.max(monotonicMs + token.atMs - nowMs, this.#tatMs(token) - (token.burst - 1) * token.gapMs);
  }

  /** A rate that was changed since the last start counts from that start: nobody waits out the old interval. */
  #tatMs({ destinationId, gapMs }: Token): number {
    const paced = this.#paced.get(destinationId);
    if (paced === undefined) return Number.NEGATIVE_INFINITY;
    return paced.startMs + ((paced.tatMs - paced.startMs) * gapMs) / paced.gapMs;
  }

  #forgetOldest(): void {
    for (const oldest of this.#paced.keys()) {
      this.#paced.delete(oldest);
      return;
    }
  }
}
