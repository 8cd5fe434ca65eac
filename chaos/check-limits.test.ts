/** Windows of a rate and overlaps of a cap: the arithmetic behind the check of limits. */
import { describe, expect, it } from "vitest";
import { overSendMs, peakOverlap } from "./check-limits.ts";
import { chanceFrom } from "./random.ts";

describe("overSendMs", () => {
  it.each<[string, number[], number, number, number]>([
    ["nothing", [], 10, 1, 0],
    ["exactly at the rate", [0, 100, 200, 300], 10, 1, 0],
    ["a burst that is allowed", [0, 0, 0, 100], 10, 3, 0],
    ["one more than the burst", [0, 0, 0, 0], 10, 3, 100],
    ["two that are 30 ms too near", [0, 70], 10, 1, 30],
    ["a window over several", [0, 100, 180, 260], 10, 1, 40],
    ["unused time is not saved beyond the burst", [0, 10_000, 10_000], 10, 1, 100],
  ])("%s", (_name, times, perSecond, burst, expected) => {
    expect(overSendMs(times, perSecond, burst)).toBeCloseTo(expected, 6);
  });

  it("says the same as looking at every window", () => {
    const random = chanceFrom(7).next;
    for (let round = 0; round < 200; round++) {
      const times = Array.from({ length: 12 }, () => random() * 1_500).sort((a, b) => a - b);
      const [perSecond, burst] = [2 + Math.floor(random() * 20), 1 + Math.floor(random() * 4)];
      let worst = 0;
      times.forEach((from, i) => {
        times.forEach((to, j) => {
          if (j >= i) worst = Math.max(worst, ((j - i + 1 - burst) / perSecond) * 1_000 - (to - from));
        });
      });
      expect(overSendMs(times, perSecond, burst)).toBeCloseTo(worst, 6);
    }
  });
});

describe("peakOverlap", () => {
  it.each<[string, [number, number | null][], number]>([
    ["nothing", [], 0],
    [
      "one after the other",
      [
        [0, 10],
        [10, 20],
      ],
      1,
    ],
    [
      "two at a time",
      [
        [0, 10],
        [9, 20],
      ],
      2,
    ],
    [
      "one that was never answered counts nowhere",
      [
        [0, null],
        [5, 10],
      ],
      1,
    ],
  ])("%s", (_name, spans, expected) => {
    expect(peakOverlap(spans.map(([arrivedAtMs, answeredAtMs]) => ({ arrivedAtMs, answeredAtMs })))).toBe(
      expected,
    );
  });
});
