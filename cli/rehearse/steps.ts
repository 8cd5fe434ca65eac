/**
 * The steps of a rehearsal: done one after the other, each with its time and one line for people, kept for the result. And
 * waiting for something with an end. A step that fails ends the rehearsal; it must never be noted as done.
 */
import { setTimeout as delay } from "node:timers/promises";

const LOOK_MS = 500;

export interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

export interface Steps {
  readonly done: readonly Step[];
  /** Does one. `detail` says what came of it, without a full stop. */
  step<T>(name: string, work: () => Promise<{ readonly value: T; readonly detail: string }>): Promise<T>;
}

/** @param say gets one line a step */
export function createSteps(
  say: (line: string) => void,
  now: () => number = performance.now.bind(performance),
): Steps {
  const done: Step[] = [];
  const note = (name: string, ok: boolean, detail: string, sinceMs: number) => {
    const tookMs = Math.round(now() - sinceMs);
    done.push({ name, ok, detail, tookMs });
    say(`${ok ? "ok  " : "FAIL"}  ${name}: ${detail} (${(tookMs / 1_000).toFixed(1)} s)`);
  };
  return {
    done,
    async step(name, work) {
      const sinceMs = now();
      try {
        const { value, detail } = await work();
        note(name, true, detail, sinceMs);
        return value;
      } catch (error) {
        note(name, false, oneLine(error), sinceMs);
        throw error;
      }
    },
  };
}

/** The moment by which all of it has to be over, on the monotonic clock. */
export interface Deadline {
  readonly atMs: number;
}

export function deadlineIn(ms: number): Deadline {
  return { atMs: performance.now() + ms };
}

/**
 * Looks again and again until there is something.
 * @param look gives null for not yet; what it throws ends the wait. `why` is told with the last words when the time is over.
 * @throws Error after the deadline
 */
export async function waitUntil<T>(
  what: string,
  deadline: Deadline,
  look: (why: (text: string) => void) => Promise<T | null>,
): Promise<T> {
  let last = "";
  for (;;) {
    const found = await look((text) => {
      last = `: ${text}`;
    });
    if (found !== null) return found;
    if (performance.now() >= deadline.atMs) throw new Error(`waited in vain for ${what}${last}`);
    await delay(LOOK_MS);
  }
}

export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof TypeError && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${text.split("\n", 1)[0]}${cause}`.replace(/\.$/, "");
}
