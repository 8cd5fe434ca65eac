/**
 * All chance of a simulation, from one seed. The same seed gives the same run on every machine: nothing in this room
 * may ask another source of randomness or any clock of the machine.
 */

/** sfc32, seeded by splitmix32: small, quick and good enough to choose faults by. */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed a whole number; `stream` tells generators of one seed apart */
  constructor(seed: number, stream = 0) {
    let state = (seed ^ Math.imul(stream + 1, 0x9e3779b9)) | 0;
    const mix = () => {
      state = (state + 0x9e3779b9) | 0;
      let z = state;
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return (z ^ (z >>> 15)) | 0;
    };
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    for (let round = 0; round < 12; round++) this.next();
  }

  /** Uniform in [0, 1). */
  readonly next = (): number => {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    this.#c |= 0;
    return (t >>> 0) / 4_294_967_296;
  };

  /** A whole number, both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws when the list is empty */
  pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  /** Mostly small, now and then up to `high`: how long most things take and a few do. */
  skewed(low: number, high: number): number {
    const x = this.next();
    return low + Math.floor((high - low) * x * x * x * x);
  }

  readonly bytes = (count: number): Uint8Array => {
    const bytes = new Uint8Array(count);
    for (let at = 0; at < count; at++) bytes[at] = Math.floor(this.next() * 256);
    return bytes;
  };
}
