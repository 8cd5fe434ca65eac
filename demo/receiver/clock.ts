/**
 * The receiver's clock: wall time in milliseconds with a fraction.
 * Must follow the wall clock, since arrivals are compared with a database's times on the same machine.
 */

/** Beyond this the fine clock is set again: a step of the wall clock, or drift since the last time. */
const MAX_DRIFT_MS = 2;

/** Returns a function that reads milliseconds since 1970 with microsecond resolution, within 2 ms of Date.now(). */
export function createClock(): () => number {
  let originMs = performance.timeOrigin;
  return () => {
    const sinceStartMs = performance.now();
    const wallMs = Date.now();
    const fineMs = originMs + sinceStartMs;
    // Date.now() is the floor of the wall time, so the true difference lies up to 1 ms above what is seen.
    if (fineMs - wallMs > MAX_DRIFT_MS || wallMs - fineMs > MAX_DRIFT_MS) {
      originMs = wallMs - sinceStartMs;
      return wallMs;
    }
    return fineMs;
  };
}
