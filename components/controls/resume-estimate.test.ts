/** The time that held work takes to leave: full speed stretched by a ramp that doubles each minute. */
import { describe, expect, it } from "vitest";
import { rampedDrainMs, rampWords } from "./resume-estimate.ts";

const MINUTE_MS = 60_000;

describe("the estimate of a resume", () => {
  it.each([
    // Without a ramp it is the time at full speed.
    [10 * MINUTE_MS, 1, 10 * MINUTE_MS],
    // 20 % for a minute would be enough: 0.1 minutes of full speed take half a minute.
    [0.1 * MINUTE_MS, 0.2, 0.5 * MINUTE_MS],
    // 0.2 + 0.4 + 0.8 minutes of work in three minutes, the rest at full speed.
    [2.4 * MINUTE_MS, 0.2, 4 * MINUTE_MS],
    [0, 0.2, 0],
  ])("%d ms of work from a share of %d take %d ms", (fullMs, share, tookMs) => {
    expect(rampedDrainMs(fullMs, share)).toBeCloseTo(tookMs, 3);
  });

  it("is not known when the time at full speed is not", () => {
    expect(rampedDrainMs(null, 0.2)).toBeNull();
  });

  it("ends also for the smallest share", () => {
    expect(rampedDrainMs(MINUTE_MS, 0.001)).toBeGreaterThan(MINUTE_MS);
  });

  it("is never shorter with a ramp than without", () => {
    for (const share of [0.001, 0.1, 0.2, 0.5, 1]) {
      for (const fullMs of [1, MINUTE_MS / 7, MINUTE_MS, 90 * MINUTE_MS]) {
        expect(rampedDrainMs(fullMs, share)).toBeGreaterThanOrEqual(fullMs);
      }
    }
  });

  it("names the shares of the minutes", () => {
    expect(rampWords(0.2)).toBe("20 %, 40 %, 80 %, then all; doubled each minute");
    expect(rampWords(1)).toBe("all at once");
  });
});
