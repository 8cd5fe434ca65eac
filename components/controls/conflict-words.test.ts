/** What a person reads when somebody else was faster: who, how long ago by the server's clock, and from what to what. */
import { describe, expect, it } from "vitest";
import type { Problem } from "#components/queries/fetch-json.ts";
import { changeWords, conflictWords, readCurrent } from "./conflict-words.ts";

const NOW_MS = Date.parse("2026-11-30T14:03:18.000Z");
const CURRENT = {
  version: 7,
  changedBy: "user:ann@example.com",
  changedAt: "2026-11-30T14:03:10.000Z",
  action: "tenant.limits",
  before: { concurrencyLimit: 5 },
  after: { concurrencyLimit: 3 },
};

function problemWith(current: unknown): Problem {
  const problem = { title: "Changed", detail: "", status: 412, code: "version_conflict", correlationId: "c" };
  return { ...problem, current } as Problem;
}

describe("a stale version", () => {
  it("names who, when and what", () => {
    expect(conflictWords(readCurrent(problemWith(CURRENT)), NOW_MS, "utc")).toBe(
      "Changed by ann@example.com 8 s ago: limit 5 → 3.",
    );
  });

  it("names the action when no value that people steer by differs", () => {
    const secret = { ...CURRENT, action: "destination.open_gate", before: {}, after: { probing: true } };
    expect(conflictWords(readCurrent(problemWith(secret)), NOW_MS, "utc")).toBe(
      "Changed by ann@example.com 8 s ago: open gate.",
    );
  });

  it("says so plainly when nothing is known", () => {
    for (const current of [null, undefined, "x", {}, { ...CURRENT, changedAt: "soon" }]) {
      expect(conflictWords(readCurrent(problemWith(current)), NOW_MS, "utc")).toBe(
        "Somebody else changed this since you opened it.",
      );
    }
  });

  it("writes what empty stands for, and times in the chosen zone", () => {
    const words = changeWords(
      { paused: false, concurrencyLimit: null, ratePerSecond: 4 },
      {
        paused: true,
        pauseUntil: "2026-11-30T15:00:00.000Z",
        concurrencyLimit: 9,
        ratePerSecond: null,
        pausedBy: "user:x",
      },
      "utc",
    );
    expect(words).toEqual([
      "paused no → yes",
      "paused until not paused → 30 Nov 15:00:00 UTC",
      "limit inherited → 9",
      "rate 4 → none",
    ]);
  });

  it("reads a worker as a worker", () => {
    const worker = {
      ...CURRENT,
      changedBy: "worker",
      action: "tenant.auto_resume",
      before: { paused: true },
      after: { paused: false },
    };
    expect(conflictWords(readCurrent(problemWith(worker)), NOW_MS, "utc")).toContain(
      "by worker 8 s ago: paused yes → no",
    );
  });
});
