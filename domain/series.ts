/**
 * The arithmetic of the time series: ranges, the bounds of the histograms that the roll-up counts, what a histogram says,
 * and the amplification. Browser, API, roll-up and tests use this one table. Nothing here may read a clock, and nothing may
 * turn "no data" into a zero.
 */

export interface SeriesSteps {
  readonly seconds: number;
  /** Width of a point of the sampled ages and depths. */
  readonly sampleSeconds: number;
  /** Width of a point of what was counted by the minute. */
  readonly countSeconds: number;
}

/** How far back each range looks and how wide its points are: at most 360 points of each kind. */
export const SERIES_RANGES = {
  "15m": { seconds: 900, sampleSeconds: 5, countSeconds: 60 },
  "1h": { seconds: 3_600, sampleSeconds: 15, countSeconds: 60 },
  "6h": { seconds: 21_600, sampleSeconds: 60, countSeconds: 300 },
  "24h": { seconds: 86_400, sampleSeconds: 300, countSeconds: 900 },
  "7d": { seconds: 604_800, sampleSeconds: 1_800, countSeconds: 7_200 },
} as const satisfies Readonly<Record<string, SeriesSteps>>;
export type SeriesRange = keyof typeof SERIES_RANGES;

/** In the order in which a page offers them. */
export const SERIES_RANGE_NAMES = ["15m", "1h", "6h", "24h", "7d"] as const satisfies readonly SeriesRange[];

/** True for a range that a page's address may carry. */
export function isSeriesRange(value: string): value is SeriesRange {
  return Object.hasOwn(SERIES_RANGES, value);
}

/**
 * Upper bounds in milliseconds of the buckets in which first-attempt ages are counted; the last bucket has none. The
 * objectives of both classes (8 s, 15 s, 60 s, 120 s, 300 s) are bounds, so that a share within them is exact.
 */
export const FIRST_AGE_BOUNDS_MS = [
  10, 25, 50, 100, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 90_000, 120_000, 180_000,
  300_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000,
] as const;

/** Upper bounds in milliseconds of the buckets of service times. */
export const SERVICE_BOUNDS_MS = [
  5, 10, 25, 50, 100, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000,
] as const;

/** Deliveries that ended are counted by their number of attempts: 1 to 8, and 9 or more. */
export const END_BUCKETS = 9;

/** Amplification looks back this long. */
export const AMPLIFICATION_MINUTES = 15;
/** Requests by how many minutes before their delivery's last one began: 0 to 14; the rest has none in the window. */
export const GAP_BUCKETS = AMPLIFICATION_MINUTES;
export const AMPLIFICATION_REFERENCE = 1;
/** Above this over `AMPLIFICATION_MINUTES` an alert fires. */
export const AMPLIFICATION_ALERT = 1.2;

/**
 * The value below which a share of what was counted lies, or null when nothing was counted. Inside its bucket it is placed
 * in proportion; in the last, open bucket it is `maxMs`, and never above that.
 */
export function quantileOf(
  counts: readonly number[],
  bounds: readonly number[],
  share: number,
  maxMs: number,
): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const wanted = share * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= wanted) {
      const low = index === 0 ? 0 : (bounds[index - 1] ?? 0);
      const high = bounds[index] ?? Math.max(low, maxMs);
      return Math.min(maxMs, low + ((wanted - below) / count) * (high - low));
    }
    below += count;
  }
  return maxMs;
}

/** How many of what was counted lie at or under a bound. The limit must be one of the bounds. */
export function countWithin(counts: readonly number[], bounds: readonly number[], limit: number): number {
  const last = bounds.indexOf(limit);
  if (last < 0) throw new RangeError(`${limit} is no bound of this histogram`);
  return counts.slice(0, last + 1).reduce((sum, count) => sum + count, 0);
}

/** Requests of one minute, and how many of them followed an earlier request of the same delivery k minutes later. */
export interface MinuteRequests {
  readonly minuteMs: number;
  readonly requests: number;
  readonly gaps: readonly number[];
}

const MINUTE_MS = 60_000;

/**
 * Requests / distinct deliveries over the 15 minutes that end with the minute `lastMs`; null without a request. Exact: a
 * request is its delivery's first of the window unless an earlier one began inside the window too.
 */
export function amplificationAt(minutes: Iterable<MinuteRequests>, lastMs: number): number | null {
  const firstMs = lastMs - (AMPLIFICATION_MINUTES - 1) * MINUTE_MS;
  let requests = 0;
  let repeats = 0;
  for (const minute of minutes) {
    if (minute.minuteMs < firstMs || minute.minuteMs > lastMs) continue;
    requests += minute.requests;
    const inside = Math.round((minute.minuteMs - firstMs) / MINUTE_MS);
    for (let gap = 0; gap <= inside; gap += 1) repeats += minute.gaps[gap] ?? 0;
  }
  return requests === 0 || requests === repeats ? null : requests / (requests - repeats);
}

/** Mean attempts of the deliveries that ended, or null when none did. `attempts` is their exact sum. */
export function meanAttempts(ends: readonly number[], attempts: number): number | null {
  const deliveries = ends.reduce((sum, count) => sum + count, 0);
  return deliveries === 0 ? null : attempts / deliveries;
}

/** The groups in which outcomes are drawn, in the order in which they are stacked. */
export const OUTCOME_GROUPS = [
  "delivered",
  "rateLimited",
  "permanent",
  "serverError",
  "network",
  "blocked",
] as const;
export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];

/** The words of domain/outcome.ts that each group counts. Lost leases and late results are no outcome of a request. */
export const OUTCOMES_OF_GROUP: Readonly<Record<OutcomeGroup, readonly string[]>> = {
  delivered: ["delivered"],
  rateLimited: ["rate_limited"],
  permanent: ["rejected", "redirect", "gone"],
  serverError: ["server_error", "transient_status"],
  network: ["timeout", "network", "shutdown"],
  blocked: ["blocked_address", "bad_destination", "payload_erased", "config_error"],
};
