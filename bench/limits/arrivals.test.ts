/** FAIR-1, FAIR-7: the bench counts over-sends, shares and changed limits by arithmetic that is looked at here. */
import { describe, expect, it } from "vitest";
import { arrivalsAbove, beyondRate, offsetsAfter, overSends, shareOfRate, startOf } from "./arrivals.ts";

const every = (gapMs: number, count: number, fromMs = 0) =>
  Array.from({ length: count }, (_, n) => fromMs + n * gapMs);

describe("over-sends", () => {
  it("are none at the rate itself, and behind a full burst", () => {
    expect(overSends(every(100, 50), 10, 1, 0)).toEqual({ count: 0, worstMs: 0 });
    expect(overSends([0, 0, 0, 100, 200], 10, 3, 0)).toEqual({ count: 0, worstMs: 0 });
    expect(overSends([], 10, 1, 0)).toEqual({ count: 0, worstMs: 0 });
  });

  it("are found in whatever window they lie, in any order of the times", () => {
    // The fourth comes with a token too few for the window from the first one on.
    expect(overSends([250, 0, 100, 200], 10, 1, 0)).toEqual({ count: 1, worstMs: 50 });
    expect(overSends([0, 0, 0, 0], 10, 3, 0)).toEqual({ count: 1, worstMs: 100 });
    // A pause saves up a burst, not more.
    expect(overSends([0, 5_000, 5_000, 5_000], 10, 2, 0).count).toBe(1);
  });

  it("are counted beyond what two clocks explain, and measured all the same", () => {
    expect(overSends([0, 95, 200], 10, 1, 13)).toEqual({ count: 0, worstMs: 5 });
    expect(overSends([0, 80, 200], 10, 1, 13)).toEqual({ count: 1, worstMs: 20 });
  });
});

describe("the share of a rate", () => {
  it("is 1 for the rate itself wherever the window begins, and less for a slower one", () => {
    expect(shareOfRate(every(100, 100), 10, 333, 7_777)).toBeCloseTo(1, 6);
    expect(shareOfRate(every(200, 100), 10, 0, 10_000)).toBeCloseTo(0.5, 6);
    expect(shareOfRate([1], 10, 0, 10)).toBeNaN();
  });
});

describe("when a request started", () => {
  it("is what its sender says, unless the way would have taken too long or nothing", () => {
    const arrival = { answeredAtMs: 1_300 };
    expect(startOf({ ...arrival, arrivedAtMs: 1_000, startedMs: 990 })).toBe(990);
    expect(startOf({ ...arrival, arrivedAtMs: 1_000, startedMs: 600 })).toBe(1_000);
    expect(startOf({ ...arrival, arrivedAtMs: 1_000, startedMs: 1_001 })).toBe(1_000);
  });
});

describe("a changed limit", () => {
  it("is seen at the requests that one of the two limits does not allow, counted from the change", () => {
    const offsets = offsetsAfter([90, 140, 150, 10_200, 12_000], 100, 11_000);
    expect(offsets).toEqual([40, 50, 10_100]);
    // The burst covers the first, and ten seconds at 0.1/s the third.
    expect(beyondRate(offsets, 0.1, 1)).toEqual([50, 10_100]);
    expect(beyondRate(offsets, 0.1, 2)).toEqual([]);
    expect(beyondRate(offsets, 1, 1)).toEqual([50]);
    expect(beyondRate([], 1, 1)).toEqual([]);
  });

  it("is passed by requests that arrive while as many others are open as it allows", () => {
    const open = (arrivedAtMs: number, answeredAtMs: number) => ({ arrivedAtMs, answeredAtMs });
    const arrivals = [open(0, 100), open(50, 150), open(100, 200), open(120, 220), open(400, 500)];
    expect(arrivalsAbove(arrivals, 1)).toEqual([50, 100, 120]);
    expect(arrivalsAbove(arrivals, 2)).toEqual([120]);
    expect(arrivalsAbove(arrivals, 3)).toEqual([]);
  });
});
