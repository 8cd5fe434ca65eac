/**
 * What a receiver's arrivals say of a limit. Pure: over-sends of a rate in sliding windows, the share of a rate that was used, and when
 * a changed limit began to count. Times are milliseconds.
 */

/** A request as the receiver saw it; `startedMs` is its start as the sender has recorded it. */
export interface Arrival {
  readonly arrivedAtMs: number;
  readonly answeredAtMs: number;
  readonly startedMs: number;
}

/**
 * The limit counts starts, the receiver sees arrivals. Between the two lie loopback and the wait for a core: at most this much is put
 * down to the way. A request that comes later has started when it arrived.
 */
export const MOST_WAY_MS = 250;

/** When the request started, as far as the receiver can believe it. */
export function startOf({ arrivedAtMs, startedMs }: Arrival): number {
  return arrivedAtMs - startedMs <= MOST_WAY_MS ? Math.min(startedMs, arrivedAtMs) : arrivedAtMs;
}

export interface OverSends {
  /** Requests that ended a window with more than burst + rate x t of them. */
  readonly count: number;
  /** By how much the worst window was too short for what it held; 0 when none was. */
  readonly worstMs: number;
}

/**
 * Looks at every window in one pass: of all windows that end at a request, the one that needs longest decides.
 * @param timesMs in any order
 * @param allowedMs a window may be this much too short and is no over-send
 */
export function overSends(
  timesMs: readonly number[],
  perSecond: number,
  burst: number,
  allowedMs: number,
): OverSends {
  const stepMs = 1_000 / perSecond;
  let count = 0;
  let worstMs = 0;
  // The latest moment before which what was sent until now may not have been complete.
  let neededMs = Number.NEGATIVE_INFINITY;
  for (const at of [...timesMs].sort((a, b) => a - b)) {
    neededMs = Math.max(neededMs + stepMs, at + stepMs - burst * stepMs);
    if (neededMs - at > allowedMs) count += 1;
    worstMs = Math.max(worstMs, neededMs - at);
  }
  return { count, worstMs };
}

/** Requests in the window for each that the rate allows, between the window's first and last; NaN for fewer than two. */
export function shareOfRate(
  timesMs: readonly number[],
  perSecond: number,
  fromMs: number,
  toMs: number,
): number {
  const inside = timesMs.filter((at) => at >= fromMs && at < toMs).sort((a, b) => a - b);
  const first = inside[0];
  const last = inside.at(-1);
  if (first === undefined || last === undefined || last <= first) return Number.NaN;
  return (((inside.length - 1) / perSecond) * 1_000) / (last - first);
}

/** Milliseconds from a change to each request behind it, in order. */
export function offsetsAfter(timesMs: readonly number[], changedMs: number, untilMs: number): number[] {
  return timesMs
    .filter((at) => at >= changedMs && at < untilMs)
    .map((at) => at - changedMs)
    .sort((a, b) => a - b);
}

/**
 * Of the requests behind a change those that a limit, counted from the change on, does not allow: the first that the old limit would not
 * have let out says that a raised one counts, and the last that the new one would not have let out that a lowered one did not yet.
 */
export function beyondRate(offsetsMs: readonly number[], perSecond: number, burst: number): number[] {
  return offsetsMs.filter((ms, index) => index + 1 > burst + (perSecond * ms) / 1_000);
}

/** The moments at which a request arrived while at least `most` others were open. */
export function arrivalsAbove(
  arrivals: readonly Pick<Arrival, "arrivedAtMs" | "answeredAtMs">[],
  most: number,
): number[] {
  const sorted = [...arrivals].sort((a, b) => a.arrivedAtMs - b.arrivedAtMs);
  let open: number[] = [];
  const above: number[] = [];
  for (const { arrivedAtMs, answeredAtMs } of sorted) {
    open = open.filter((endMs) => endMs > arrivedAtMs);
    if (open.length >= most) above.push(arrivedAtMs);
    open.push(answeredAtMs);
  }
  return above;
}
