/** The step rule of limits as a table, and its laws for any numbers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isRaise,
  LIMIT_NAMES,
  type LimitChange,
  MAX_RAISE_FACTOR,
  nextRaiseAtMs,
  RAISE_WAIT_MS,
  refuseReach,
  refuseStep,
  type StepFacts,
} from "./limit-steps.ts";

const NOW_MS = 1_000_000_000;
const NONE = Number.POSITIVE_INFINITY;
const QUIET: StepFacts = {
  nowMs: NOW_MS,
  lastRaiseMs: null,
  recentHighest: {},
  throttledShare: null,
  acknowledged: false,
};

function change(from: number, to: number, name: LimitChange["name"] = "concurrency"): LimitChange {
  return { name, from, to };
}

describe("a raise", () => {
  it.each([
    ["to twice the value in force", change(5, 10), {}, null],
    ["to more than twice", change(5, 11), {}, "factor"],
    ["of a rate, in fractions", change(0.5, 1, "rate"), {}, null],
    ["of a rate to more than twice", change(0.5, 1.001, "rate"), {}, "factor"],
    ["from one to two", change(1, 2), {}, null],
    ["that removes the rate", change(5, NONE, "rate"), {}, null],
    ["of a burst to any number", change(1, 100, "burst"), {}, null],
    ["of a weight to any number", change(1, 100, "weight"), { throttledShare: 1 }, null],
    ["right after another", change(5, 6), { lastRaiseMs: NOW_MS - RAISE_WAIT_MS + 1 }, "too_soon"],
    ["two minutes after another", change(5, 6), { lastRaiseMs: NOW_MS - RAISE_WAIT_MS }, null],
    ["back to what was in force lately", change(2, 40), { recentHighest: { concurrency: 40 } }, null],
    ["beyond what was in force lately", change(2, 41), { recentHighest: { concurrency: 40 } }, "factor"],
    [
      "back, right after a raise",
      change(2, 4),
      { recentHighest: { concurrency: 4 }, lastRaiseMs: NOW_MS },
      null,
    ],
    ["while a tenth of the answers are 429", change(5, 6), { throttledShare: 0.1 }, null],
    ["while more are", change(5, 6), { throttledShare: 0.11 }, "throttled"],
    ["while more are, knowingly", change(5, 6), { throttledShare: 0.9, acknowledged: true }, null],
    ["of a burst while more are", change(1, 2, "burst"), { throttledShare: 0.5 }, "throttled"],
    [
      "back, while more are",
      change(2, 4),
      { recentHighest: { concurrency: 4 }, throttledShare: 0.5 },
      "throttled",
    ],
  ] as const)("%s: %s", (_words, one, facts, why) => {
    expect(refuseStep([one], { ...QUIET, ...facts })?.why ?? null).toBe(why);
  });

  it("says what could be asked for instead, or when", () => {
    expect(refuseStep([change(5, 50)], QUIET)).toMatchObject({
      most: 10,
      detail: expect.stringContaining("at most 10"),
    });
    const soon = refuseStep([change(5, 6)], { ...QUIET, lastRaiseMs: NOW_MS - 20_000 });
    expect(soon).toMatchObject({ retryAtMs: NOW_MS + 100_000, detail: expect.stringContaining("100 s") });
    expect(nextRaiseAtMs(NOW_MS - RAISE_WAIT_MS, NOW_MS)).toBeNull();
  });

  it("of one limit is not hidden by the lowering of another", () => {
    expect(refuseStep([change(50, 1), change(1, 9, "rate")], QUIET)?.why).toBe("factor");
  });
});

const limit = fc.oneof(fc.double({ min: 0.001, max: 1e5, noNaN: true }), fc.constant(NONE));
const anyChange = fc.record({ name: fc.constantFrom(...LIMIT_NAMES), from: limit, to: limit });
const anyFacts = fc.record({
  nowMs: fc.constant(NOW_MS),
  lastRaiseMs: fc.option(fc.integer({ min: NOW_MS - 2 * RAISE_WAIT_MS, max: NOW_MS })),
  recentHighest: fc.record({ concurrency: limit, rate: limit }, { requiredKeys: [] }),
  throttledShare: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  acknowledged: fc.boolean(),
});

describe("for any numbers", () => {
  it("lowering is never refused, by the step rule or by a role", () => {
    fc.assert(
      fc.property(
        fc.array(anyChange),
        anyFacts,
        fc.constantFrom("lower", "within_policy", undefined),
        (changes, facts, only) => {
          const lowering = changes.filter((one) => !isRaise(one));
          expect(refuseStep(lowering, facts)).toBeNull();
          expect(refuseReach(only, lowering, { concurrency: 1, rate: 1 })).toBeNull();
        },
      ),
    );
  });

  it("what passes is at most twice the value in force, or one of the last minutes, or no rate", () => {
    fc.assert(
      fc.property(anyChange, anyFacts, (one, facts) => {
        if (one.name === "burst" || one.name === "weight" || refuseStep([one], facts) !== null) return;
        const borne = Math.max(one.from * MAX_RAISE_FACTOR, facts.recentHighest[one.name] ?? 0);
        expect(one.to <= borne || one.to === NONE).toBe(true);
      }),
    );
  });
});

describe("how far a role reaches", () => {
  const bounds = { concurrency: 200, rate: 1_000 };
  it.each([
    [undefined, change(5, 10_000), "passed"],
    [undefined, change(5, NONE, "rate"), "passed"],
    ["lower", change(5, 5), "passed"],
    ["lower", change(5, 4), "passed"],
    ["lower", change(5, 6), "refused"],
    ["lower", change(1, 2, "weight"), "refused"],
    ["lower", change(1, 2, "burst"), "refused"],
    ["within_policy", change(150, 200), "passed"],
    ["within_policy", change(150, 201), "refused"],
    ["within_policy", change(400, 300), "passed"],
    ["within_policy", change(5, NONE, "rate"), "refused"],
    ["within_policy", change(1, 100, "weight"), "passed"],
  ] as const)("%s, %j: %s", (only, one, verdict) => {
    expect(refuseReach(only, [one], bounds) === null).toBe(verdict === "passed");
  });
});
