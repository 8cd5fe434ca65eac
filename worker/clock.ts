/**
 * The database's time as this process sees it: the last reading plus monotonic time since. The machine's own clock is
 * never asked, so a worker whose clock is minutes wrong decides the same. The reading is a lower bound: it was taken
 * before its reply arrived, so nothing that waits for it can happen early.
 */

/** The best reading of this window and of the one before counts, so that a database whose clock was set is followed. */
const WINDOW_MS = 5_000;
/**
 * A reading that was longer on its way than this says too little to take the best one's place, however old that is: a
 * process that was stopped for a minute with a reply in its socket would otherwise think that no time has passed.
 */
const LONGEST_WAY_MS = 1_000;

export class DatabaseClock {
  #offsetMs: number | null = null;
  #best = Number.NEGATIVE_INFINITY;
  #bestBefore = Number.NEGATIVE_INFINITY;
  #windowSince = Number.NEGATIVE_INFINITY;
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Takes over a reading of the database's time that has just arrived. Of the readings of the last seconds the best
   * counts: one that was long on its way would set the clock back, and starts that keep their distance would look nearer.
   * @param askedAt monotonic time at which the reading was asked for
   */
  sync(databaseMs: number, askedAt: number = this.#monotonicMs()): void {
    const now = this.#monotonicMs();
    const offsetMs = databaseMs - now;
    const isWorse = this.#offsetMs !== null && offsetMs < this.#offsetMs;
    if (isWorse && now - askedAt > LONGEST_WAY_MS) return;
    const ageMs = now - this.#windowSince;
    if (ageMs >= WINDOW_MS) {
      this.#bestBefore = ageMs < 2 * WINDOW_MS ? this.#best : Number.NEGATIVE_INFINITY;
      this.#best = offsetMs;
      this.#windowSince = now;
    } else {
      this.#best = Math.max(this.#best, offsetMs);
    }
    this.#offsetMs = Math.max(this.#best, this.#bestBefore);
  }

  /** Milliseconds since the epoch, by the database. */
  nowMs(): number {
    if (this.#offsetMs === null) throw new Error("the database's time has not been read yet");
    return this.#monotonicMs() + this.#offsetMs;
  }

  /** Monotonic milliseconds of this process, for durations. */
  monotonicMs(): number {
    return this.#monotonicMs();
  }
}
