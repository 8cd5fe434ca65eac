/**
 * How long work that has piled up takes to leave after a resume: the time at full speed, stretched by the ramp. An estimate
 * from what was measured, never a promise. Pure.
 */

/** The share doubles this often (design of the resume ramp). */
const DOUBLES_EVERY_MS = 60_000;
/** From a thousandth to all of it takes ten doublings; a bound against a share that is no share. */
const MAX_DOUBLINGS = 12;

/**
 * @param fullMs time to drain at full cap and rate; null when it is not known
 * @param share part of cap and rate at the start, above 0 and at most 1
 * @returns milliseconds, or null when it is not known
 */
export function rampedDrainMs(fullMs: number | null, share: number): number | null {
  if (fullMs === null || !(share > 0)) return null;
  let left = fullMs;
  let passed = 0;
  let part = Math.min(1, share);
  for (let doubling = 0; doubling < MAX_DOUBLINGS && part < 1; doubling += 1) {
    const done = DOUBLES_EVERY_MS * part;
    if (left <= done) return passed + left / part;
    left -= done;
    passed += DOUBLES_EVERY_MS;
    part = Math.min(1, part * 2);
  }
  return passed + left / part;
}

/** "20 %, 40 %, 80 %, then all": the share of each minute. */
export function rampWords(share: number): string {
  const steps: string[] = [];
  for (let part = share; part < 1 && steps.length < MAX_DOUBLINGS; part *= 2) steps.push(percent(part));
  return steps.length === 0 ? "all at once" : `${steps.join(", ")}, then all; doubled each minute`;
}

function percent(part: number): string {
  return `${Number((part * 100).toFixed(1))} %`;
}
