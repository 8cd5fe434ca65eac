/** The forms of objectives and retry policies: their bounds are the domain's, and they send what was changed, no more. */
import { describe, expect, test } from "vitest";
import { DEFAULT_OBJECTIVES, OBJECTIVE_NAMES } from "#domain/objectives.ts";
import { DEFAULT_POLICY, type RetryPolicyOverride, RetryPolicyOverride as Schema } from "#domain/policy.ts";
import {
  OBJECTIVE_FIELDS,
  OBJECTIVE_GROUPS,
  objectiveChanges,
  objectiveHistory,
  objectiveRows,
} from "./objective-words.ts";
import { namesOf, numberProblem, typedText } from "./policy-numbers.ts";
import {
  flatRetry,
  RETRY_FIELDS,
  RETRY_GROUPS,
  type RetryName,
  retryChanges,
  retryHistory,
  scheduleProblem,
  statusesProblem,
} from "./retry-words.ts";

const RETRY = DEFAULT_POLICY.routine;
const override = (name: RetryName, value: number): RetryPolicyOverride => {
  const [first = "", second] = name.split(".");
  return { [first]: second === undefined ? value : { [second]: value } } as RetryPolicyOverride;
};
const written = (version: number, body: object) => ({
  version,
  body: body as Record<string, unknown>,
  changedBy: "user:ann@example.com",
  changedAt: "2026-12-01T00:00:00.000Z",
  reason: "asked for",
});

describe("objectives", () => {
  test("have one field each, in one group each", () => {
    expect(namesOf(OBJECTIVE_FIELDS).toSorted()).toEqual([...OBJECTIVE_NAMES].toSorted());
    expect(OBJECTIVE_GROUPS.flatMap(({ names }) => names).toSorted()).toEqual(
      [...OBJECTIVE_NAMES].toSorted(),
    );
    expect(objectiveRows({ numbers: DEFAULT_OBJECTIVES, builtIn: DEFAULT_OBJECTIVES })).toContainEqual({
      what: "Routine first attempt, target",
      now: "2 m",
      builtIn: "2 m",
    });
  });

  test("send what was changed, in stored units, and say what gets less strict", () => {
    const typed = { urgentTargetMs: "30", triedTargetShare: "97.5", dueWarnMs: "15" };
    expect(objectiveChanges(typed, DEFAULT_OBJECTIVES)).toEqual({
      changes: { urgentTargetMs: 30_000, triedTargetShare: 0.975 },
      problem: null,
      looser: ["Urgent first attempt, target"],
    });
    expect(objectiveChanges({ dueWarnMs: "15" }, DEFAULT_OBJECTIVES).problem).toBe("Nothing is changed yet.");
    expect(objectiveChanges({ dueWarnMs: "many" }, DEFAULT_OBJECTIVES)).toMatchObject({ changes: {} });
    expect(objectiveChanges({ dueWarnMs: "90" }, DEFAULT_OBJECTIVES).problem).toBe(
      "The warning for due work is above what pages.",
    );
  });

  test("tell what each version changed of the one before it", () => {
    const history = [written(2, { duePageMs: 90_000, dueWarnMs: 10_000 }), written(1, { duePageMs: 90_000 })];
    expect(objectiveHistory({ history, builtIn: DEFAULT_OBJECTIVES })).toEqual([
      ["Due but unclaimed, warns at 15 s → 10 s"],
      ["Due but unclaimed, pages at 1 m → 1 m 30 s"],
    ]);
    const cut = [written(9, {})];
    expect(objectiveHistory({ history: cut, builtIn: DEFAULT_OBJECTIVES })).toEqual([null]);
  });
});

describe("a retry policy", () => {
  test("has a field for every number of it, in one group each", () => {
    const parts = ["backoff", "retryAfter", "gate"];
    const lists = ["scheduleMs", "permanentStatuses"];
    const names = Object.entries(RETRY).flatMap(([name, value]) =>
      parts.includes(name) ? Object.keys(value as object).map((part) => `${name}.${part}`) : [name],
    );
    const expected = names.filter((name) => !lists.includes(name)).toSorted();
    expect(namesOf(RETRY_FIELDS).map(String).toSorted()).toEqual(expected);
    expect(RETRY_GROUPS.flatMap((group) => group.names.map(String)).toSorted()).toEqual(expected);
    expect(Object.values(flatRetry(RETRY)).every(Number.isFinite)).toBe(true);
  });

  test.each(namesOf(RETRY_FIELDS))("%s has the bounds of the domain", (name) => {
    const { min, max, unit } = RETRY_FIELDS[name];
    const takes = (value: number) => Schema.safeParse(override(name, value)).success;
    expect([takes(min), takes(max)]).toEqual([true, true]);
    expect([takes(min - 1), takes(max + 1)]).toEqual([false, false]);
    expect(numberProblem(RETRY_FIELDS[name], typedText(RETRY_FIELDS[name], max))).toBeNull();
    for (const text of ["", "many", "-1"]) {
      expect(numberProblem(RETRY_FIELDS[name], text), `${unit} ${text}`).toContain("umber from");
    }
  });

  test("is sent as an override of what was changed alone", () => {
    const typed = {
      numbers: { maxFailures: "10", "backoff.capMs": "600", "backoff.jitter": "20", leaseMs: "30" },
      schedule: "5, 30,120",
      statuses: "501, 505",
    } as const;
    const { changes, problem } = retryChanges(typed, RETRY);
    expect(problem).toBeNull();
    expect(changes).toEqual({
      maxFailures: 10,
      backoff: { capMs: 600_000 },
      scheduleMs: [5_000, 30_000, 120_000],
      permanentStatuses: [501, 505],
    });
    expect(Schema.safeParse(changes).success).toBe(true);
    const back = retryChanges({ numbers: {}, schedule: " " }, { ...RETRY, scheduleMs: [1_000] });
    expect(back.changes).toEqual({ scheduleMs: null });
    expect(retryChanges({ numbers: {}, schedule: "", statuses: "" }, RETRY).problem).toMatch(/^Nothing/);
  });

  test("a list that cannot be used says what would be right", () => {
    for (const text of ["5,,30", "-1", "a", "99999999", Array(65).fill(1).join(",")]) {
      expect(scheduleProblem(text), text).toContain("such as 5, 30, 120");
    }
    for (const text of ["429", "200", "5xx", "404.5", Array(33).fill(404).join(",")]) {
      expect(statusesProblem(text), text).toContain("such as 501, 505");
    }
    expect([scheduleProblem(""), statusesProblem("")]).toEqual([null, null]);
    expect(retryChanges({ numbers: {}, statuses: "429" }, RETRY)).toMatchObject({ changes: {} });
  });

  test("tells what each version changed, a schedule with the count that comes with it", () => {
    const history = [
      written(2, { backoff: { capMs: 600_000 }, scheduleMs: [5_000, 30_000] }),
      written(1, { backoff: { capMs: 600_000 } }),
    ];
    expect(retryHistory({ history, builtIn: RETRY })).toEqual([
      ["Failures until it is dead 8 → 3", "Fixed waits by the backoff → 5 s, 30 s"],
      ["Longest wait after a failure 15 m → 10 m"],
    ]);
  });
});
