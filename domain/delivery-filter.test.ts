/** Filters as texts: what each means, and that nonsense is null and never "any". */
import { describe, expect, it } from "vitest";
import { isEventType, readAge, readAttempts, readCode, readMoment } from "./delivery-filter.ts";

describe("the texts of filters", () => {
  it("reads codes as one status, a class, or no answer", () => {
    expect(readCode("429")).toEqual({ kind: "status", low: 429, high: 429 });
    expect(readCode("5xx")).toEqual({ kind: "status", low: 500, high: 599 });
    expect(readCode("timeout")).toEqual({ kind: "outcome", outcome: "timeout" });
    for (const text of ["", "42", "4290", "6xx", "099", "xx5", "Timeout", "429 "])
      expect(readCode(text)).toBeNull();
  });

  it("reads least numbers and least ages", () => {
    expect(readAttempts("3..")).toBe(3);
    expect(readAge("1h..")).toBe(3_600_000);
    expect(readAge("90s..")).toBe(90_000);
    for (const text of ["3", "0..", "-1..", "1001..", "3..5", "3..x"]) expect(readAttempts(text)).toBeNull();
    for (const text of ["1h", "0h..", "h..", "1w..", "91d..", "1.5h.."]) expect(readAge(text)).toBeNull();
  });

  it("reads moments in UTC only: a local time means something else to each reader", () => {
    expect(readMoment("2026-11-30T12:00:00Z")).toBe(Date.UTC(2026, 10, 30, 12));
    expect(readMoment("2026-11-30T12:00Z")).toBe(Date.UTC(2026, 10, 30, 12));
    for (const text of [
      "2026-11-30",
      "2026-11-30T12:00:00",
      "2026-11-30T12:00:00+01:00",
      "2026-13-01T00:00Z",
      "now",
    ]) {
      expect(readMoment(text)).toBeNull();
    }
  });

  it("knows what an event type can be", () => {
    expect(isEventType("hold.released")).toBe(true);
    for (const text of ["", "a b", "a'b", "x".repeat(129)]) expect(isEventType(text)).toBe(false);
  });
});
