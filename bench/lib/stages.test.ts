/** What bounds a p99 is said from the slowest themselves, and the disk is blamed only for those that were under way while it stood still. */
import { describe, expect, it } from "vitest";
import { p99Of, type StagedLag, stagedLag, stagesReport, stallReport } from "./stages.ts";

const DAY_MS = 1_764_500_000_000;

function lag(fromMs: number, askedMs: number): StagedLag {
  const attempt = {
    webhookId: "dlv_1",
    number: 1,
    dueAtMs: fromMs,
    early: false,
    askedMs: fromMs + askedMs,
    lockedMs: fromMs + askedMs + 1,
    claimedMs: fromMs + askedMs + 3,
    startedMs: fromMs + askedMs + 6,
  };
  return stagedLag(attempt, fromMs, fromMs + askedMs + 10);
}

// 200 of 12 ms, one behind the other, and three that waited 300 ms for their claim.
const lags = [
  ...Array.from({ length: 200 }, (_, n) => lag(DAY_MS + n * 100, 2)),
  ...[50, 60, 20_050].map((ms) => lag(DAY_MS + ms, 290)),
];

describe("stages", () => {
  it("add up to the lag, at p50 and of the slowest hundredth", () => {
    const report = stagesReport([lags]);
    expect(report.asked).toEqual({ p50Ms: 2, p99Ms: 290, meanOfSlowestMs: 290 });
    expect(
      [report.locked, report.claimed, report.started, report.arrived].map(
        ({ meanOfSlowestMs }) => meanOfSlowestMs,
      ),
    ).toEqual([1, 2, 3, 4]);
    expect(p99Of(lags)).toBe(300);
  });

  it("say which of the slowest the disk held up, and what the rest would be", () => {
    const stall = { fromMs: DAY_MS + 40, toMs: DAY_MS + 330 };
    expect(stallReport(lags, [stall])).toEqual({ shareOfSlowest: 0.67, p99MsWithout: 12 });
    expect(stallReport(lags, [])).toEqual({ shareOfSlowest: 0, p99MsWithout: 300 });
    // Over before the slow ones began.
    expect(stallReport(lags, [{ fromMs: DAY_MS, toMs: DAY_MS + 20 }]).shareOfSlowest).toBe(0);
  });
});
