/**
 * Waiting for a count or a condition without disturbing what is measured: a poll costs the receiver and us time that the
 * measured code lacks, so few polls are made while the end is far and many when it is near.
 */

const FIRST_MS = 5;
const NEAR_MS = 5;
const FAR_MS = 500;
/** The next look is made after this part of the time that the rest should take. */
const SHARE_OF_REST = 0.6;

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Resolves when `count` has reached `target`.
 * @throws Error after `limitMs`, with the last count
 */
export async function untilCount(
  count: () => Promise<number>,
  target: number,
  limitMs: number,
): Promise<void> {
  const begunAt = performance.now();
  const first = await count();
  let seen = first;
  let waitMs = FIRST_MS;
  while (seen < target) {
    const passedMs = performance.now() - begunAt;
    if (passedMs > limitMs) throw new Error(`${seen} of ${target} after ${Math.round(limitMs)} ms`);
    await sleep(waitMs);
    seen = await count();
    waitMs = nextLookMs(seen - first, target - seen, performance.now() - begunAt);
  }
}

/** How long to leave alone what has done `done` in `passedMs` and has `left` to do. Pure. */
export function nextLookMs(done: number, left: number, passedMs: number): number {
  if (done <= 0) return Math.min(FAR_MS, Math.max(NEAR_MS, passedMs * SHARE_OF_REST));
  return Math.min(FAR_MS, Math.max(NEAR_MS, (left * passedMs * SHARE_OF_REST) / done));
}

/** @throws Error after `limitMs` saying what was waited for */
export async function untilTrue(
  condition: () => Promise<boolean>,
  what: string,
  limitMs: number,
  everyMs = NEAR_MS,
): Promise<void> {
  const giveUpAt = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${Math.round(limitMs)} ms in vain for ${what}`);
    await sleep(everyMs);
  }
}
