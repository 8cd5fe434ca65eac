/**
 * Runs one piece of upkeep again and again, never twice at once, until stopped. A run that fails is logged and the
 * next one comes all the same: upkeep must never end the process and never stop because of one bad moment.
 */
import type { Logger } from "./log.ts";
import { systemTimers, type Timer, type Timers } from "./timers.ts";

export class Repeat {
  #timer: Timer | null = null;
  #running: Promise<void> | null = null;
  #stopped = false;
  #lastOkAt: number | null = null;
  readonly #name: string;
  readonly #everyMs: number;
  readonly #work: () => Promise<void>;
  readonly #log: Logger;
  readonly #monotonicMs: () => number;
  readonly #timers: Timers;

  constructor(
    name: string,
    everyMs: number,
    work: () => Promise<void>,
    log: Logger,
    monotonicMs: () => number,
    timers: Timers = systemTimers,
  ) {
    this.#name = name;
    this.#everyMs = everyMs;
    this.#work = work;
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    this.#timers = timers;
  }

  start(firstAfterMs = this.#everyMs): void {
    if (!this.#stopped) this.#timer = this.#timers.set(() => this.#run(), firstAfterMs);
  }

  /** Monotonic time of the last run that went through; null before the first. */
  get lastOkAt(): number | null {
    return this.#lastOkAt;
  }

  /** No run begins after this; resolves when the present one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) this.#timers.clear(this.#timer);
    await this.#running;
  }

  #run(): void {
    this.#running = this.#work()
      .then(() => {
        this.#lastOkAt = this.#monotonicMs();
      })
      .catch((error: unknown) => {
        this.#log.warn(
          { event: "upkeep_failed", upkeep: this.#name, error: String(error) },
          "upkeep failed; trying again",
        );
      })
      .finally(() => {
        this.#running = null;
        this.start();
      });
  }
}
