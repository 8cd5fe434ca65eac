/** The series' arithmetic: no data is null, the objectives are exact, amplification counts distinct deliveries. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OUTCOME_WORDS, WORDS_WITHOUT_OUTCOME } from "./outcome.ts";
import {
  AMPLIFICATION_MINUTES,
  amplificationAt,
  countWithin,
  FIRST_AGE_BOUNDS_MS,
  GAP_BUCKETS,
  isSeriesRange,
  meanAttempts,
  OUTCOME_GROUPS,
  OUTCOMES_OF_GROUP,
  quantileOf,
  SERIES_RANGES,
} from "./series.ts";

const MINUTE_MS = 60_000;

/** Counts as the roll-up makes them. */
function histogram(values: readonly number[], bounds: readonly number[]): number[] {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const index = bounds.findIndex((bound) => value <= bound);
    const at = index < 0 ? bounds.length : index;
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

test("no range has more points than a chart can draw", () => {
  for (const { seconds, sampleSeconds, countSeconds } of Object.values(SERIES_RANGES)) {
    expect(seconds / sampleSeconds).toBeLessThanOrEqual(360);
    expect(seconds / countSeconds).toBeLessThanOrEqual(360);
    expect(countSeconds % 60).toBe(0);
  }
  expect(isSeriesRange("7d")).toBe(true);
  expect(isSeriesRange("toString")).toBe(false);
});

describe("SIG-1 quantiles from buckets", () => {
  test("nothing counted is no data, never zero", () => {
    expect(quantileOf([0, 0], [10], 0.95, 0)).toBeNull();
    expect(meanAttempts([0, 0], 0)).toBeNull();
  });

  test("lie in the bucket of the exact quantile and never above the greatest value", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 30_000_000 }), { minLength: 1, maxLength: 200 }),
        fc.constantFrom(0.5, 0.95),
        (values, share) => {
          const sorted = [...values].sort((a, b) => a - b);
          const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
          const max = sorted.at(-1) ?? 0;
          const counts = histogram(values, FIRST_AGE_BOUNDS_MS);
          const found = quantileOf(counts, FIRST_AGE_BOUNDS_MS, share, max) ?? -1;
          const index = FIRST_AGE_BOUNDS_MS.findIndex((bound) => exact <= bound);
          const low = index === 0 ? 0 : (FIRST_AGE_BOUNDS_MS[index - 1] ?? FIRST_AGE_BOUNDS_MS.at(-1) ?? 0);
          const high = FIRST_AGE_BOUNDS_MS[index] ?? max;
          return found <= max && found >= Math.min(low, max) && found <= high;
        },
      ),
    );
  });

  test("SIG-4 the share within an objective is exact at 15 s and 120 s", () => {
    const counts = histogram([14_999, 15_000, 15_001, 119_999, 120_000, 120_001], FIRST_AGE_BOUNDS_MS);
    expect(countWithin(counts, FIRST_AGE_BOUNDS_MS, 15_000)).toBe(2);
    expect(countWithin(counts, FIRST_AGE_BOUNDS_MS, 120_000)).toBe(5);
    expect(() => countWithin(counts, FIRST_AGE_BOUNDS_MS, 14_000)).toThrow(RangeError);
  });
});

describe("SIG-3 amplification", () => {
  test("equals requests / distinct deliveries of the window, whatever the requests", () => {
    const request = fc.record({
      delivery: fc.integer({ min: 0, max: 6 }),
      minute: fc.integer({ min: 0, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 80 }), fc.integer({ min: 0, max: 40 }), (requests, last) => {
        const inside = requests.filter(
          ({ minute }) => minute <= last && minute > last - AMPLIFICATION_MINUTES,
        );
        const distinct = new Set(inside.map(({ delivery }) => delivery)).size;
        const found = amplificationAt(minutesOf(requests), last * MINUTE_MS);
        if (distinct === 0) return found === null;
        return found !== null && Math.abs(found - inside.length / distinct) < 1e-9;
      }),
    );
  });

  test("a single try of each delivery is 1.0, and a silent window is no data", () => {
    expect(amplificationAt([{ minuteMs: 0, requests: 7, gaps: [] }], 0)).toBe(1);
    expect(amplificationAt([], 0)).toBeNull();
  });
});

/** What the roll-up stores of requests, computed the slow way. */
function minutesOf(requests: readonly { delivery: number; minute: number }[]) {
  const minutes = new Map<number, { minuteMs: number; requests: number; gaps: number[] }>();
  const last = new Map<number, number>();
  for (const { delivery, minute } of [...requests].sort((a, b) => a.minute - b.minute)) {
    const row = minutes.get(minute) ?? {
      minuteMs: minute * MINUTE_MS,
      requests: 0,
      gaps: new Array<number>(GAP_BUCKETS).fill(0),
    };
    row.requests += 1;
    const gap = minute - (last.get(delivery) ?? Number.NEGATIVE_INFINITY);
    if (gap < GAP_BUCKETS) row.gaps[gap] = (row.gaps[gap] ?? 0) + 1;
    last.set(delivery, minute);
    minutes.set(minute, row);
  }
  return minutes.values();
}

test("each word of an outcome is in one group, and the two that are no outcome are in none", () => {
  const grouped = OUTCOME_GROUPS.flatMap((group) => OUTCOMES_OF_GROUP[group]);
  expect(new Set(grouped).size).toBe(grouped.length);
  expect([...grouped].sort()).toEqual(
    OUTCOME_WORDS.filter((word) => !WORDS_WITHOUT_OUTCOME.includes(word)).sort(),
  );
});
