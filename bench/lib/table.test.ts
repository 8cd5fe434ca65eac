/** A row says whether its goal was met, and a scenario without a number never counts as met or missed. */
import { describe, expect, it } from "vitest";
import { atLeast, atMost, beside, skipped } from "./scenario.ts";
import { isMet, jsonRow, printedRows } from "./table.ts";

describe("a row of the bench", () => {
  it("is met on the goal itself and beyond it", () => {
    expect(isMet(atLeast("x", 0.45, 0.45))).toBe(true);
    expect(isMet(atLeast("x", 0.449, 0.45))).toBe(false);
    expect(isMet(atMost("x", 30, 30))).toBe(true);
    expect(isMet(atMost("x", 30.1, 30))).toBe(false);
  });

  it("is not met by NaN", () => {
    expect(isMet(atMost("x", Number.NaN, 30))).toBe(false);
    expect(isMet(atLeast("x", Number.NaN, 30))).toBe(false);
  });

  it("leaves a number without a goal out of the verdict", () => {
    const result = { goals: [atLeast("x", 2, 1), beside("y", 6)], facts: {} };
    expect(jsonRow("holds", result, "now")).toMatchObject({ met: true });
    expect(printedRows("holds", result)[1]).toMatchObject({ goal: "-", measured: "6", met: "-" });
  });

  it("says why it has no number", () => {
    const result = { goals: [skipped({ atLeast: 1.3 }, "x", "no redis-server")], facts: { ratio: 1 } };
    expect(printedRows("drain", result)).toEqual([
      { scenario: "drain", what: "x", goal: ">= 1.3", measured: "skipped: no redis-server", met: "-" },
    ]);
    expect(jsonRow("drain", result, "now")).toMatchObject({ scenario: "drain", met: null, ratio: 1 });
  });
});
