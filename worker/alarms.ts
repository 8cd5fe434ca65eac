/**
 * What a person has to look at although the process does its work: shown on the health page, by name and with one
 * sentence. It must never change whether the process is ready, and nothing here decides what becomes of a delivery.
 */

export type AlarmName = "partitions" | "xmin_horizon" | "slow_claims";

export interface Alarm {
  readonly name: AlarmName;
  readonly text: string;
}

export class Alarms {
  readonly #texts = new Map<AlarmName, string>();

  /** @param text null when all is well (again) */
  set(name: AlarmName, text: string | null): void {
    if (text === null) this.#texts.delete(name);
    else this.#texts.set(name, text);
  }

  list(): Alarm[] {
    return [...this.#texts].map(([name, text]) => ({ name, text }));
  }
}

/** Claims that are remembered. */
const REMEMBERED = 128;
/** Fewer say nothing about a percentile. */
const ENOUGH = 20;

/** How long the last claims took, from asking to answer. Bounded, and cheap enough for every claim. */
export class ClaimTimes {
  readonly #ms: number[] = [];
  #next = 0;

  add(ms: number): void {
    this.#ms[this.#next] = ms;
    this.#next = (this.#next + 1) % REMEMBERED;
  }

  /** 95th percentile of the last claims in milliseconds; null while there are too few. */
  p95Ms(): number | null {
    if (this.#ms.length < ENOUGH) return null;
    const sorted = [...this.#ms].sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null;
  }

  /** Begins anew: what was slow once must not be an alarm for ever in a region that has gone quiet. */
  forget(): void {
    this.#ms.length = 0;
    this.#next = 0;
  }
}
