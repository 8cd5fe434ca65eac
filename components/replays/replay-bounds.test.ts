/** The forms' bounds are those of the schemas. */
import { describe, expect, it } from "vitest";
import { BATCH_NAME_MAX_CHARS, EVIDENCE_MAX_CHARS, ReplayChecklist } from "#domain/commands-replay.ts";
import {
  MAX_ATTEMPT_BUDGET,
  MAX_REPLAY_CONCURRENCY,
  MAX_REPLAY_RATE,
  MIN_REPLAY_RATE,
} from "#domain/replay-plan.ts";
import { MIN_INSPECTED } from "#domain/replay-sample.ts";
import {
  MAX_BUDGET,
  MAX_CONCURRENCY,
  MAX_RATE,
  MIN_OPENED,
  MIN_RATE,
  NAME_MAX_CHARS,
  refuseEvidence,
  refuseName,
  refuseNumber,
  WORDS_MAX_CHARS,
} from "./replay-bounds.ts";

describe("bounds of a batch's forms", () => {
  it("are those of the schemas", () => {
    expect([NAME_MAX_CHARS, WORDS_MAX_CHARS]).toEqual([BATCH_NAME_MAX_CHARS, EVIDENCE_MAX_CHARS]);
    expect([MIN_RATE, MAX_RATE]).toEqual([MIN_REPLAY_RATE, MAX_REPLAY_RATE]);
    expect([MAX_CONCURRENCY, MAX_BUDGET]).toEqual([MAX_REPLAY_CONCURRENCY, MAX_ATTEMPT_BUDGET]);
    expect(MIN_OPENED).toBe(MIN_INSPECTED);
  });

  it.each(["", "  ", "ab", " ab ", "abc", "x".repeat(1_000), "x".repeat(1_001)])(
    "evidence %j",
    (evidence) => {
      const answer = { yes: true, evidence };
      const one = ReplayChecklist.shape.dedup.safeParse(answer).success;
      expect(refuseEvidence(evidence) === null).toBe(one);
    },
  );

  it("refuse what is no number, out of bounds, or a part where a whole one is needed", () => {
    const whole = { min: 1, max: 3, whole: true };
    for (const text of ["", " ", "x", "0", "4", "1.5", "1e9", "Infinity"])
      expect(refuseNumber(text, whole)).toBe("A whole number from 1 to 3.");
    for (const text of ["1", "3", " 2 "]) expect(refuseNumber(text, whole)).toBeNull();
    expect(refuseNumber("0.1", { min: 0.1, max: 50, whole: false })).toBeNull();
  });

  it("refuse a batch without a name, or with a too long one", () => {
    expect(refuseName("  ")).toMatch(/Name the batch/);
    expect(refuseName("x".repeat(121))).toMatch(/120/);
    expect(refuseName("INC-4812")).toBeNull();
  });
});
