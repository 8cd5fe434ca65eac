/** Nobody is told that it is safe to switch versions but by the API's own count. */
import { describe, expect, it } from "vitest";
import { drainVerdict } from "./drain-words.ts";
import { typedProblem } from "./typed-name.ts";

const STOPPED = { claims: "stopped", leases: 0, expiredLeases: 0, workers: 2, drained: false } as const;

describe("safe to switch version", () => {
  it.each([
    [{ ...STOPPED, drained: true }, "yes"],
    [STOPPED, "not yet"],
    [{ ...STOPPED, leases: 7 }, "not yet"],
    [{ ...STOPPED, claims: "on" as const, drained: true }, "no, claims are on"],
  ])("%j: %s", (view, word) => {
    expect(drainVerdict(view).word).toBe(word);
  });

  it("says what to do when leases have ended and nobody takes them back", () => {
    const left = { ...STOPPED, leases: 3, expiredLeases: 3, workers: 0 };
    expect(drainVerdict(left).why).toContain("Start one");
    expect(drainVerdict({ ...left, workers: 1 }).why).not.toContain("Start one");
  });
});

describe("the typed name of a region", () => {
  it.each([
    ["eu", null],
    ["EU", null],
    [" eu ", null],
    ["Eu", "refused"],
    ["us", "refused"],
    ["", "refused"],
    ["eu eu", "refused"],
  ])("%j for eu: %s", (typed, verdict) => {
    expect(typedProblem(typed, "eu") === null).toBe(verdict === null);
  });
});
