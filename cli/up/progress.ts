/**
 * What `sluice up` shows: one numbered line per step with its duration, a note while a step takes long, and the
 * closing block. It only writes text and decides nothing.
 */
const LONG_STEP_MS = 1_000;
const NAME_WIDTH = 10;

export interface Progress {
  /** Runs a step; its result's text ends up on the step's line. */
  step<T>(name: string, doing: string, work: () => Promise<{ value: T; done: string }>): Promise<T>;
  /** A line that belongs to no step. */
  say(line: string): void;
}

/** Numbers the steps from `first` to `total` and writes to `write`. */
export function createProgress(first: number, total: number, write: (line: string) => void): Progress {
  let number = first;
  return {
    step: async (name, doing, work) => {
      const head = `[${number}/${total}] ${name.padEnd(NAME_WIDTH)} `;
      number += 1;
      const startedAt = performance.now();
      const note = setTimeout(() => write(`${head}${doing} ...`), LONG_STEP_MS);
      try {
        const { value, done } = await work();
        write(`${head}${done} (${formatDuration(performance.now() - startedAt)})`);
        return value;
      } finally {
        clearTimeout(note);
      }
    },
    say: write,
  };
}

/** A duration for people: "0.4 s", "18 s", "2 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
