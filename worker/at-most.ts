/**
 * Lets work of one kind have a few connections and no more, in the order of its coming: hundreds of answers of one moment must not stand
 * before everything else in the queue for the pool. No timer lives here, and nothing is dropped.
 */

export class AtMost {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #most: number;

  /** @param most pieces of work at once */
  constructor(most: number) {
    this.#most = most;
  }

  /** Settles as the work does, once its turn has come. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      // A place goes on to the next in the queue: nobody who comes meanwhile can take it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
