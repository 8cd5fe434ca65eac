/** FAIR-7 what is typed into a limits form, and what the step rule says of it before it is sent. */
import { describe, expect, it } from "vitest";
import { type LimitInput, readLimit, type StepQuestion, stepWords, throttleWords } from "./limit-draft.ts";

const LIMIT: LimitInput = { text: "", min: 1, max: 10_000, whole: true, empty: "the region's" };
const RATE: LimitInput = { text: "", min: 0.001, max: 100_000, whole: false, empty: "no rate" };
const NOW_MS = Date.parse("2026-11-30T14:03:10.000Z");

describe("a limit as it is typed", () => {
  it.each([
    [LIMIT, "5", 5],
    [LIMIT, " 12 ", 12],
    [LIMIT, "", null],
    [RATE, "0.5", 0.5],
    [RATE, "", null],
  ])("%#: %j is %j in %s", (input, text, value) => {
    expect(readLimit({ ...input, text })).toEqual({ value, error: null });
  });

  it.each([
    [LIMIT, "0", "use Pause"],
    [LIMIT, "-3", "use Pause"],
    [RATE, "0", "use Pause"],
    [LIMIT, "1.5", "A whole number from 1 to 10000"],
    [LIMIT, "10001", "A whole number from 1 to 10000"],
    [LIMIT, "1,000", "A whole number"],
    [LIMIT, "1e3", "A whole number"],
    [LIMIT, "ten", "or empty for the region's"],
    [RATE, "100001", "A number from 0.001 to 100000"],
    [{ ...LIMIT, empty: null }, "", "A whole number from 1 to 10000."],
  ])("%#: %j is refused: %s", (input, text, words) => {
    const read = readLimit({ ...input, text });
    expect(read.value).toBeNull();
    expect(read.error).toContain(words);
  });
});

describe("the step rule, said before", () => {
  const question: StepQuestion = {
    changes: [{ name: "concurrency", from: 5, to: 10 }],
    step: { nextRaiseAt: null, maxFactor: 2, needsAcknowledge429: false },
    only: undefined,
    bounds: { concurrency: 100, rate: 1_000 },
    acknowledged: false,
    nowMs: NOW_MS,
  };
  const ask = (change: Partial<StepQuestion>) => stepWords({ ...question, ...change });

  it("has nothing to say of a raise to twice the value, or of lowering at any time", () => {
    const quiet = { problem: null, warnings: [], needsTick: false };
    expect(ask({})).toEqual(quiet);
    const lower = {
      changes: [{ name: "concurrency", from: 5, to: 1 }],
      step: { nextRaiseAt: "2026-11-30T14:05:00.000Z", maxFactor: 2, needsAcknowledge429: true },
    } as const;
    expect(ask(lower)).toEqual(quiet);
  });

  it("warns of more than twice, without forbidding what may be an undo", () => {
    const { problem, warnings } = ask({ changes: [{ name: "concurrency", from: 5, to: 11 }] });
    expect(problem).toBeNull();
    expect(warnings).toEqual([expect.stringContaining("raise to at most 10")]);
  });

  it("says when the next raise is accepted", () => {
    const step = { nextRaiseAt: "2026-11-30T14:04:22.000Z", maxFactor: 2, needsAcknowledge429: false };
    expect(ask({ step }).warnings).toEqual([expect.stringContaining("in 1 m 12 s")]);
    const over = { nextRaiseAt: "2026-11-30T14:03:00.000Z", maxFactor: 2, needsAcknowledge429: false };
    expect(ask({ step: over }).warnings).toEqual([]);
  });

  it("asks for a tick while the receiver answers with 429, and lets it through with it", () => {
    const step = { nextRaiseAt: null, maxFactor: 2, needsAcknowledge429: true };
    expect(ask({ step })).toMatchObject({ needsTick: true, problem: expect.stringContaining("429") });
    expect(ask({ step, acknowledged: true })).toMatchObject({ needsTick: true, problem: null });
  });

  it("keeps a role that may only lower from raising, and an operator within the policy", () => {
    expect(ask({ only: "lower" }).problem).toMatch(/only lower/);
    expect(ask({ only: "lower", changes: [{ name: "concurrency", from: 5, to: 4 }] }).problem).toBeNull();
    const high = { only: "within_policy", changes: [{ name: "concurrency", from: 90, to: 120 }] } as const;
    expect(ask(high).problem).toMatch(/policy of this region \(100\)/);
    const free = {
      only: "within_policy",
      changes: [{ name: "rate", from: 5, to: Number.POSITIVE_INFINITY }],
    } as const;
    expect(ask(free).problem).toMatch(/no rate at all/);
  });

  it("does not step a burst", () => {
    expect(ask({ changes: [{ name: "burst", from: 1, to: 50 }] }).warnings).toEqual([]);
  });
});

describe("the 429 share", () => {
  it("tells no request from no 429", () => {
    expect(throttleWords({ share: null, requests: 0, windowMs: 300_000 })).toBe("no request in the last 5 m");
    expect(throttleWords({ share: 0, requests: 40, windowMs: 300_000 })).toBe("0 % of 40 in the last 5 m");
    expect(throttleWords({ share: 0.125, requests: 1_200, windowMs: 300_000 })).toBe(
      "12.5 % of 1,200 in the last 5 m",
    );
  });
});
