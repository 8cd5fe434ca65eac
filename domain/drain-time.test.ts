/** The estimate, by numbers that one can check by hand. */
import { describe, expect, it } from "vitest";
import { drainTimeMs } from "./drain-time.ts";

describe("how long what waits needs", () => {
  it.each([
    [{ waiting: 0, concurrency: 1, ratePerSecond: null, serviceTimeMs: null }, 0],
    [{ waiting: 600, concurrency: 10, ratePerSecond: null, serviceTimeMs: 1_000 }, 60_000],
    [{ waiting: 600, concurrency: 10, ratePerSecond: 5, serviceTimeMs: 1_000 }, 120_000],
    [{ waiting: 600, concurrency: 1, ratePerSecond: 50, serviceTimeMs: 1_000 }, 600_000],
    [{ waiting: 600, concurrency: 1, ratePerSecond: 50, serviceTimeMs: null }, 12_000],
    [{ waiting: 600, concurrency: 1, ratePerSecond: null, serviceTimeMs: null }, null],
    [{ waiting: 10, concurrency: 1, ratePerSecond: null, serviceTimeMs: 0 }, 10],
  ])("%j: %s ms", (facts, ms) => {
    expect(drainTimeMs(facts)).toBe(ms);
  });
});
