/**
 * Cuts off what is still in flight when a stop has waited long enough. A plain set: hundreds of requests listen at
 * once and come and go thousands of times a second, which an AbortSignal's list of listeners is too slow for.
 */
export class CutOff {
  #done = false;
  readonly #listeners = new Set<() => void>();

  get done(): boolean {
    return this.#done;
  }

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Calls every listener once; whoever comes later sees `done`. */
  now(): void {
    this.#done = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
