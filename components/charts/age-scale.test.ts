/** The axes: gaps stay gaps, ticks fall into gaps too, and no age is drawn outside the picture. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ageTickLabel,
  ageTicks,
  drawn,
  FLOOR_SECONDS,
  timeTickLabel,
  timeTicks,
  topSeconds,
} from "./age-scale.ts";

const at = (t: number, firstAttemptMs: number | null) => ({
  t,
  firstAttemptMs,
  dueMs: firstAttemptMs,
  dueCount: 0,
});

describe("drawn", () => {
  test("a gap is not drawn, zero stands on the floor", () => {
    expect(drawn([at(0, null), at(1, 0), at(2, 5_000)]).map((point) => point.firstDrawn)).toEqual([
      null,
      FLOOR_SECONDS,
      5,
    ]);
  });

  test("every value lies between the floor and the top", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000_000 }), { minLength: 1 }), (ages) => {
        const points = ages.map((age, index) => at(index, age));
        const top = topSeconds([points]);
        return drawn(points).every(
          ({ firstDrawn }) => (firstDrawn ?? 0) >= FLOOR_SECONDS && (firstDrawn ?? 0) <= top,
        );
      }),
    );
  });
});

describe("ticks", () => {
  test("an outage of 30 minutes has ticks inside it", () => {
    const from = Date.parse("2026-11-30T12:00:00Z");
    const ticks = timeTicks(from, from + 60 * 60_000).map((ms) => timeTickLabel(ms, "utc"));
    expect(ticks).toEqual(["12:00", "12:10", "12:20", "12:30", "12:40", "12:50", "13:00"]);
  });

  test("ages are written with their unit", () => {
    expect(ageTicks(600).map(ageTickLabel)).toEqual(["0.1 s", "1 s", "10 s", "1 m", "10 m"]);
  });

  test("the top leaves room for the objective lines", () => {
    expect(topSeconds([[at(0, 20)]])).toBe(600);
    expect(topSeconds([[at(0, 20)], [at(0, 3_700_000)]])).toBe(36_000);
  });
});
