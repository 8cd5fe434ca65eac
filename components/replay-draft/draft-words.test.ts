/** DLQ-5: what a draft needs before it can be frozen, and that its author can only make it stop earlier. */
import { describe, expect, it } from "vitest";
import { ProblemError } from "#components/queries/fetch-json.ts";
import { ReplayChecklist } from "#domain/commands-replay.ts";
import { DEFAULT_REPLAY_POLICY, type ThresholdName, thresholdsOf } from "#domain/replay-plan.ts";
import {
  answersOf,
  neededOf,
  overlapOf,
  QUESTION_WORDS,
  QUESTIONS,
  readinessOf,
  refuseThreshold,
  THRESHOLD_WORDS,
  thresholdText,
  thresholdValue,
} from "./draft-words.ts";

const THRESHOLDS = Object.entries(thresholdsOf(DEFAULT_REPLAY_POLICY)) as [ThresholdName, number][];

const sampleOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `dlv_${at}` })) as unknown as Parameters<
    typeof readinessOf
  >[0]["sample"];
const allYes = Object.fromEntries(QUESTIONS.map((name) => [name, { yes: true, evidence: "seen" }]));
const draft = {
  sample: sampleOf(20),
  inspected: Array.from({ length: 10 }, (_, at) => `dlv_${at}`),
  rootCause: "v2 bodies",
  checklist: allYes as unknown,
  items: 120,
};

describe("readinessOf", () => {
  it("has nothing against a whole draft", () => {
    expect(readinessOf(draft)).toEqual({ inspected: true, annotated: true, missing: [] });
  });

  it("names everything that is missing", () => {
    const { missing } = readinessOf({
      ...draft,
      inspected: ["dlv_0", "dlv_99"],
      rootCause: null,
      checklist: null,
      items: 0,
    });
    expect(missing).toEqual([
      "no entry is left in the batch",
      "1 of 10 sampled entries are inspected",
      "the root cause is not named",
      "5 of 5 questions are not answered",
    ]);
  });

  it("asks for all of a small sample", () => {
    expect(neededOf({ sample: sampleOf(3) })).toBe(3);
    expect(readinessOf({ ...draft, sample: sampleOf(3), inspected: ["dlv_0", "dlv_1"] }).inspected).toBe(
      false,
    );
  });
});

describe("the checklist", () => {
  it("asks what the schema wants to know", () => {
    expect(Object.keys(ReplayChecklist.shape)).toEqual([...QUESTIONS]);
    expect(Object.keys(QUESTION_WORDS)).toEqual([...QUESTIONS]);
  });

  it("leaves open what was not answered", () => {
    expect(answersOf({ dedup: { yes: false, evidence: "no header" } })).toMatchObject({
      dedup: { yes: false, evidence: "no header" },
      order: { yes: null, evidence: "" },
    });
  });
});

describe("overlapOf", () => {
  const refusal = (fields: object) =>
    new ProblemError({
      title: "",
      detail: "",
      status: 409,
      code: "replay_overlap",
      correlationId: "",
      ...fields,
    });

  it("reads the entries that another open batch has, and nothing out of any other refusal", () => {
    expect(overlapOf(refusal({ ids: ["dlv_1", "dlv_2"] }))).toEqual(["dlv_1", "dlv_2"]);
    for (const error of [
      refusal({}),
      refusal({ ids: ["dlv_1"], code: "replay_not_ready" }),
      new Error("no answer"),
    ])
      expect(overlapOf(error)).toEqual([]);
  });
});

describe("thresholds", () => {
  it("have words for every stop condition of the policy, and come back as they were", () => {
    expect(Object.keys(THRESHOLD_WORDS).sort()).toEqual(THRESHOLDS.map(([name]) => name).sort());
    for (const [name, value] of THRESHOLDS)
      expect(thresholdValue(name, thresholdText(name, value))).toBe(value);
  });

  it.each(THRESHOLDS)(
    "%s can be made stricter by everybody, looser by an administrator only",
    (name, value) => {
      const looser = thresholdText(name, value * 2);
      expect(refuseThreshold(name, thresholdText(name, value), value, false)).toBeNull();
      expect(refuseThreshold(name, looser, value, false)).toMatch(/administrator/);
      expect(refuseThreshold(name, looser, value, true)).toBeNull();
      for (const text of ["", "0", "-1", "x"])
        expect(refuseThreshold(name, text, value, true)).not.toBeNull();
    },
  );
});
