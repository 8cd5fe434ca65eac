/** What charts show of a series: the same points everywhere, no data as no data, and nothing drawn outside the picture. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Series } from "#db/console/read-series.ts";
import { chartCsv } from "./chart-csv.ts";
import { ageRows, CHART_KINDS, CHARTS, formatRate, isEmpty, outcomeRows, summaryOf } from "./chart-data.ts";
import {
  ageTickLabel,
  ageTicks,
  endLabels,
  FLOOR_SECONDS,
  onScale,
  scaleOf,
  timeTickLabel,
  timeTicks,
} from "./chart-scale.ts";
import { pathOf } from "./sparkline.tsx";

const MINUTE_MS = 60_000;
const T = Date.parse("2026-11-30T12:00:00Z");

function sample(t: number, oldestMs: number | null): Series["samples"][number] {
  const zero = oldestMs === null ? null : 0;
  return {
    t,
    oldestMs,
    dueMs: oldestMs,
    dueCount: zero,
    heldMs: zero,
    heldCount: zero,
    inFlight: zero,
    dead: zero,
  };
}

function count(t: number, delivered: number | null, minutes = 1): Series["counts"][number] {
  const none = { rateLimited: 0, permanent: 0, serverError: 0, network: 0, blocked: 0 };
  return {
    t,
    minutes,
    outcomes: delivered === null ? null : { delivered, ...none },
    requests: delivered,
    firstP50Ms: delivered === null ? null : 20,
    firstP95Ms: delivered === null ? null : 90,
    firstMaxMs: delivered === null ? null : 100,
    serviceP50Ms: null,
    serviceP95Ms: null,
    deadIn: delivered === null ? null : 1,
    deadOut: delivered === null ? null : 0,
  };
}

function series(change: Partial<Series> = {}): Series {
  const objective = {
    firstAttemptTargetMs: 120_000,
    firstAttemptWarnMs: 60_000,
    firstAttemptPageMs: 300_000,
  };
  return {
    level: "region",
    range: "15m",
    fromMs: T,
    toMs: T + 15 * MINUTE_MS,
    sampleStepMs: 5_000,
    samples: [],
    countStepMs: MINUTE_MS,
    counts: [],
    ends: { counts: [0, 0, 0, 0, 0, 0, 0, 0, 0], mean: null },
    amplification: { now: null, minutes: 15, reference: 1, alert: 1.2 },
    annotations: [],
    sampling: true,
    lastSampleAt: new Date(T).toISOString(),
    objectives: { urgent: objective, routine: objective },
    dueLag: { warnMs: 15_000, pageMs: 60_000 },
    ...change,
  };
}

describe("points", () => {
  test("a sample carries the quantiles of its minute, and a gap carries nothing", () => {
    const rows = ageRows(
      series({
        samples: [
          sample(T, 0),
          sample(T + 5_000, 400),
          sample(T + MINUTE_MS, null),
          sample(T + 2 * MINUTE_MS, 7),
        ],
        counts: [count(T, 3), count(T + MINUTE_MS, 3)],
      }),
    );
    expect(rows.map(({ oldestMs, p50Ms, p95Ms }) => [oldestMs, p50Ms, p95Ms])).toEqual([
      [0, 20, 90],
      [400, 20, 90],
      [null, null, null],
      [7, null, null],
    ]);
  });

  test("outcomes are per minute of the minutes that are over; a step that nobody counted stays empty", () => {
    const rows = outcomeRows(series({ counts: [count(T, 30, 5), count(T + 5 * MINUTE_MS, null, 5)] }));
    expect(rows.map(({ delivered }) => delivered)).toEqual([6, null]);
    expect([formatRate(0), formatRate(0.2), formatRate(37.4)]).toEqual(["0", "0.2", "37"]);
  });

  test("CSV has every point with its unit, an empty cell for a gap, and a moment in UTC", () => {
    const table = CHARTS["first-attempt"].table(
      series({ samples: [sample(T, 400), sample(T + 5_000, null)] }),
    );
    expect(chartCsv([{ name: "US", table }]).split("\r\n")).toEqual([
      "Of,Time (UTC),p50 (ms),p95 (ms),max (oldest waiting) (ms)",
      "US,2026-11-30T12:00:00.000Z,,,400",
      "US,2026-11-30T12:00:05.000Z,,,",
      "",
    ]);
  });

  test("every chart has a sentence that says no data where there is none", () => {
    for (const kind of CHART_KINDS) {
      expect(isEmpty(kind, series())).toBe(true);
      expect(summaryOf(kind, "US", series())).toMatch(/no data/);
    }
    expect(summaryOf("due", "US", series({ sampling: false }))).toContain("Sampling has stopped");
  });
});

describe("scales", () => {
  test("a gap is not drawn, zero stands on the floor", () => {
    expect([onScale(null), onScale(0), onScale(5_000)]).toEqual([null, FLOOR_SECONDS, 5]);
  });

  test("every value lies between the floor and the top, and the objective lines are in sight", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_000_000_000 }), { minLength: 1 }), (ages) => {
        const { top } = scaleOf([series({ samples: ages.map((age, index) => sample(T + index, age)) })]);
        return (
          top >= 600 &&
          ages.every((age) => (onScale(age) ?? 0) >= FLOOR_SECONDS && (onScale(age) ?? 0) <= top)
        );
      }),
    );
  });

  test("two regions share one scale", () => {
    const quiet = series({ counts: [count(T, 1)] });
    const busy = series({ counts: [count(T, 930)] });
    expect(scaleOf([quiet, busy]).perMinute).toBe(1_000);
    expect(scaleOf([]).perMinute).toBe(1);
  });

  test("labels at line ends stay inside the picture and never cover each other", () => {
    const value = fc.option(fc.double({ min: FLOOR_SECONDS, max: 600, noNaN: true }));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (seconds) => {
        const places = endLabels(seconds, { top: 600, height: 130, gap: 14 });
        const shown = places.filter((place) => place !== null).sort((a, b) => a - b);
        const apart = shown.every((y, index) => index === 0 || y - (shown[index - 1] ?? 0) >= 14 - 1e-9);
        return (
          apart &&
          shown.every((y) => y >= -1e-9 && y <= 130) &&
          places.every((y, i) => (y === null) === (seconds[i] === null))
        );
      }),
    );
  });

  test("an outage of 30 minutes has ticks inside it", () => {
    const ticks = timeTicks(T, T + 60 * MINUTE_MS).map((ms) => timeTickLabel(ms, "utc", 60 * MINUTE_MS));
    expect(ticks).toEqual(["12:00", "12:10", "12:20", "12:30", "12:40", "12:50", "13:00"]);
  });

  test("ages are written with their unit", () => {
    expect(ageTicks(600).map(ageTickLabel)).toEqual(["10 ms", "100 ms", "1 s", "10 s", "1 m", "10 m"]);
  });
});

test("a sparkline breaks at a gap, draws a single value as a dot and lies on the floor at zero", () => {
  expect(pathOf([0, 4, null, 2, null])).toBe("M0 22L25 2M75 12h0");
  expect(pathOf([null, null])).toBe("");
  expect(pathOf([0, 0])).toBe("M0 22L100 22");
});
