/** A step that a batch never reached is not shown as done. */
import { describe, expect, it } from "vitest";
import { type StepFacts, stepMarks } from "./steps.ts";

const at = "2026-12-01T02:00:00.000Z";
const draft: StepFacts = {
  state: "draft",
  pausedFrom: null,
  submittedAt: null,
  approvedAt: null,
  breakGlassAt: null,
  startedAt: null,
  events: [],
};
const started = { submittedAt: at, approvedAt: at, startedAt: at };

describe("stepMarks", () => {
  it("a paused batch stands at the step that it left", () => {
    const marks = stepMarks({ ...draft, ...started, state: "paused", pausedFrom: "canary" });
    expect(marks).toEqual(["done", "done", "done", "now", "ahead", "ahead", "ahead"]);
  });

  it("a rejected batch had a review, and nothing after it", () => {
    const marks = stepMarks({ ...draft, state: "rejected", submittedAt: at });
    expect(marks).toEqual(["done", "done", "never", "never", "never", "never", "now"]);
  });

  it("one that is stopped in its canary never ran, and one that completed did all", () => {
    const events = [
      { from: "canary", to: "stopping" },
      { from: "approved", to: "canary" },
    ] as const;
    expect(stepMarks({ ...draft, ...started, state: "stopped", events })).toEqual([
      "done",
      "done",
      "done",
      "done",
      "never",
      "never",
      "now",
    ]);
    expect(stepMarks({ ...draft, ...started, state: "stopping", events })[3]).toBe("now");
    const completed = stepMarks({ ...draft, ...started, state: "completed" });
    expect(completed).toEqual([...Array(6).fill("done"), "now"]);
  });

  it("a list of events that begins after the canary still shows that it ran", () => {
    const events = [{ from: "running", to: "stopping" }] as const;
    expect(stepMarks({ ...draft, ...started, state: "stopped", events })[5]).toBe("done");
  });
});
