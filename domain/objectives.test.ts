/** SIG-4, SIG-5: the numbers that "late" is judged by, and that no stored row can make a page judge by nonsense. */
import { describe, expect, test } from "vitest";
import { ObjectivesInput } from "./commands-policy.ts";
import {
  DEFAULT_OBJECTIVES,
  isObjective,
  isTarget,
  loosenedObjectives,
  OBJECTIVE_BOUNDS,
  OBJECTIVE_NAMES,
  readObjectiveNumbers,
  refuseObjectives,
  TARGETS_MS,
  thresholdsOf,
} from "./objectives.ts";
import { countWithin, FIRST_AGE_BOUNDS_MS } from "./series.ts";

describe("what is built in", () => {
  test("fits together, is inside its bounds, and every one of its targets can be counted exactly", () => {
    expect(refuseObjectives(DEFAULT_OBJECTIVES)).toBeNull();
    for (const name of OBJECTIVE_NAMES) expect(isObjective(name, DEFAULT_OBJECTIVES[name]), name).toBe(true);
    expect(Object.keys(DEFAULT_OBJECTIVES).toSorted()).toEqual([...OBJECTIVE_NAMES].toSorted());
    const counts = FIRST_AGE_BOUNDS_MS.map(() => 1);
    for (const ms of TARGETS_MS) expect(() => countWithin(counts, FIRST_AGE_BOUNDS_MS, ms)).not.toThrow();
  });

  test("is 95 % within 15 s and 120 s, and 15 s of delay", () => {
    expect(thresholdsOf(DEFAULT_OBJECTIVES)).toMatchObject({
      objectives: { urgent: { firstAttemptTargetMs: 15_000 }, routine: { firstAttemptTargetMs: 120_000 } },
      triedShareTarget: 0.95,
      delayedLagTargetMs: 15_000,
    });
  });
});

describe("a stored row", () => {
  test("counts where it can be used; anything else is built in", () => {
    expect(readObjectiveNumbers({ urgentTargetMs: 8_000, duePageMs: 90_000 })).toEqual({
      ...DEFAULT_OBJECTIVES,
      urgentTargetMs: 8_000,
      duePageMs: 90_000,
    });
    for (const stored of [null, undefined, "x", [], { urgentTargetMs: 9_000, duePageMs: "1", colour: 5 }]) {
      expect(readObjectiveNumbers(stored)).toEqual(DEFAULT_OBJECTIVES);
    }
  });

  test("whose numbers stand in the wrong order is not used at all", () => {
    expect(readObjectiveNumbers({ urgentWarnMs: 30_000, deadLetterWarnMs: 3_600_000 })).toEqual(
      DEFAULT_OBJECTIVES,
    );
  });
});

describe("what may be asked for", () => {
  test.each(OBJECTIVE_NAMES)("%s has the bounds that a stored one has", (name) => {
    const { min, max } = OBJECTIVE_BOUNDS[name];
    const takes = (value: number) => ObjectivesInput.safeParse({ [name]: value }).success;
    const values = isTarget(name) ? [1_000, 15_000] : [min, max];
    for (const value of values) expect([takes(value), isObjective(name, value)]).toEqual([true, true]);
    for (const value of [0, -1, min / 2, max + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect([value, takes(value), isObjective(name, value)]).toEqual([value, false, false]);
    }
    if (isTarget(name)) expect([takes(16_000), isObjective(name, 16_000)]).toEqual([false, false]);
  });

  test("is at least one number, and none that nobody knows", () => {
    expect(ObjectivesInput.safeParse({}).success).toBe(false);
    expect(ObjectivesInput.safeParse({ colour: 1 }).success).toBe(false);
  });

  test.each([
    { urgentWarnMs: 16_000 },
    { urgentPageMs: 14_000 },
    { routineWarnMs: 121_000 },
    { routinePageMs: 119_000 },
    { dueWarnMs: 61_000 },
    { rateLimitedActShare: 0.04 },
  ])("a warning above its limit is refused: %o", (part) => {
    expect(refuseObjectives({ ...DEFAULT_OBJECTIVES, ...part })).toMatch(/ is above /);
  });

  test("less strict is more time, and a smaller part in time", () => {
    const after = { ...DEFAULT_OBJECTIVES, duePageMs: 90_000, dueWarnMs: 5_000, triedTargetShare: 0.9 };
    expect(loosenedObjectives(DEFAULT_OBJECTIVES, after).toSorted()).toEqual([
      "duePageMs",
      "triedTargetShare",
    ]);
    expect(loosenedObjectives(after, DEFAULT_OBJECTIVES)).toEqual(["dueWarnMs"]);
  });
});
