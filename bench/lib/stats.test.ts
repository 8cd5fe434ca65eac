/** The arithmetic behind the table: medians, percentiles, fairness, when to look again. */
import { describe, expect, it } from "vitest";
import { jainIndex, median, percentile, round, worstWeightError } from "./stats.ts";
import { nextLookMs, untilCount } from "./wait.ts";

describe("the bench's numbers", () => {
  it("takes the middle as the median, and nothing for nothing", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it("takes the percentile from the values themselves", () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile([7], 0.99)).toBe(7);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it("gives Jain's index 1 for equal shares and 1/n for one that has all", () => {
    expect(jainIndex([5, 5, 5, 5])).toBe(1);
    expect(jainIndex([1, 0, 0, 0])).toBe(0.25);
  });

  it("measures the worst distance from a weighted share", () => {
    expect(worstWeightError([10, 20, 40], [1, 2, 4])).toBeCloseTo(0);
    expect(worstWeightError([11, 20, 39], [1, 2, 4])).toBeCloseTo(0.1);
  });

  it("rounds for printing", () => expect(round(1.23456, 3)).toBe(1.235));
});

describe("waiting for a count", () => {
  it("looks seldom while the end is far and often when it is near", () => {
    expect(nextLookMs(1_000, 9_000, 100)).toBe(500);
    expect(nextLookMs(9_990, 10, 100)).toBe(5);
    expect(nextLookMs(0, 10_000, 50)).toBeCloseTo(30);
  });

  it("says how far it came when it gives up", async () => {
    await expect(untilCount(async () => 3, 10, 0)).rejects.toThrow("3 of 10");
  });
});
