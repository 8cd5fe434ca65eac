/** CTL-1 every pause has an end within the role: what is offered, and how a choice or a typed time becomes one. */
import { describe, expect, it } from "vitest";
import { pauseOptions, readPauseDraft } from "./pause-choices.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.parse("2026-11-30T14:03:10.000Z");

describe("what a pause offers", () => {
  it.each([
    [4 * HOUR_MS, ["24h"]],
    [7 * DAY_MS, []],
    [undefined, []],
    [HOUR_MS / 2, ["1h", "4h", "24h"]],
  ])("a role that may pause for %s ms finds %j closed, with the reason", (maxPauseMs, closed) => {
    const options = pauseOptions(maxPauseMs);
    expect(options.map(({ value }) => value)).toEqual(["30m", "1h", "4h", "24h", "custom"]);
    const disabled = options.filter((option) => option.disabled !== undefined);
    expect(disabled.map(({ value }) => value)).toEqual(closed);
    for (const option of disabled) expect(option.disabled).toMatch(/^Your role may pause for at most/);
  });
});

describe("the end of a pause", () => {
  it("is a length for a choice, so that a repeat of the request is the same request", () => {
    expect(readPauseDraft("1h", "", "utc", NOW_MS, 4 * HOUR_MS)).toEqual({
      end: { forMs: HOUR_MS },
      endMs: NOW_MS + HOUR_MS,
      problem: null,
    });
  });

  it("is a moment in UTC for a typed time", () => {
    expect(readPauseDraft("custom", "2026-11-30T15:30", "utc", NOW_MS, 4 * HOUR_MS)).toMatchObject({
      end: { until: "2026-11-30T15:30:00.000Z" },
      problem: null,
    });
  });

  it.each([
    ["", "Choose the day"],
    ["2026-11-30", "Choose the day"],
    ["2026-13-41T15:30", "Choose the day"],
    ["2026-11-30T14:03", "must lie ahead"],
    ["2026-11-30T18:04", "at most 4 h"],
  ])("typed as %j is refused: %s", (typed, words) => {
    const draft = readPauseDraft("custom", typed, "utc", NOW_MS, 4 * HOUR_MS);
    expect(draft.end).toBeNull();
    expect(draft.problem).toContain(words);
  });

  it("is at most 30 days, whatever the role", () => {
    expect(readPauseDraft("custom", "2026-12-31T15:30", "utc", NOW_MS, undefined).problem).toContain("30 d");
  });
});
