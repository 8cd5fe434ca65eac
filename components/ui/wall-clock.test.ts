/** A typed end means the moment that the page shows for it, in every zone and on either clock. */
import { describe, expect, it } from "vitest";
import { formatInstant } from "./format.ts";
import { fromWallClock, toWallClock } from "./wall-clock.ts";

describe("a date field", () => {
  it.each([
    ["utc", "2026-11-30T15:30", "2026-11-30T15:30:00.000Z"],
    ["utc 12h", "2026-11-30T15:30", "2026-11-30T15:30:00.000Z"],
    ["Asia/Kolkata", "2026-11-30T21:00", "2026-11-30T15:30:00.000Z"],
    ["Asia/Kolkata 12h", "2026-11-30T21:00", "2026-11-30T15:30:00.000Z"],
    ["America/New_York", "2026-11-30T23:30", "2026-12-01T04:30:00.000Z"],
    // Hours before and after the clocks change.
    ["Europe/London", "2026-03-29T00:30", "2026-03-29T00:30:00.000Z"],
    ["Europe/London", "2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
    ["Europe/London", "2026-10-25T00:30", "2026-10-24T23:30:00.000Z"],
    ["Europe/London", "2026-10-25T02:30", "2026-10-25T02:30:00.000Z"],
  ])("in %s reads %s", (zone, text, iso) => {
    expect(fromWallClock(text, zone)).toBe(Date.parse(iso));
    expect(toWallClock(iso, zone)).toBe(text);
  });

  it("rounds up to the minute, and shows the time that the page shows", () => {
    for (const zone of ["utc", "local", "Asia/Kolkata", "Australia/Lord_Howe"]) {
      const text = toWallClock("2026-11-30T15:29:30.001Z", zone);
      expect(fromWallClock(text, zone), zone).toBe(Date.parse("2026-11-30T15:30:00Z"));
      expect(formatInstant("2026-11-30T15:30:00.000Z", zone), zone).toContain(`${text.slice(-5)}:00`);
    }
  });

  it.each(["", "2026-11-30", "2026-13-41T15:30", "at three"])("takes %j for nothing", (text) => {
    expect(fromWallClock(text, "Asia/Kolkata")).toBeNull();
  });
});
