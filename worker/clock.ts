/**
 * The database's time as this process sees it: the last reading plus monotonic time since. The machine's own clock is
 * never asked, so a worker whose clock is minutes wrong decides the same. The reading is a lower bound: it was taken
 * before its reply arrived, so nothing that waits for it can happen early.
 */
export class DatabaseClock {
  #offsetMs: number | null = null;
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Takes over a reading of the database's time that has just arrived. */
  sync(databaseMs: number): void {
    this.#offsetMs = databaseMs - this.#monotonicMs();
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
