/** The buttons of a batch are those that its state machine has, and a stop never asks for anything to be typed. */
import { describe, expect, it } from "vitest";
import { REPLAY_STATES, REPLAY_STEPS, type ReplayStepCause } from "#domain/replay.ts";
import type { ReplayActions } from "#domain/replay-actions.ts";
import {
  type BatchVerb,
  defaultReason,
  refuseRaise,
  sharedReasons,
  standingRate,
  VERB_WORDS,
  verbsOf,
} from "./action-words.ts";

const CAUSES: Readonly<Partial<Record<BatchVerb, ReplayStepCause>>> = {
  approve: "approve",
  "request-changes": "request_changes",
  reject: "reject",
  cancel: "cancel",
  "break-glass": "approve",
  start: "start",
  continue: "continue",
  pause: "pause",
  resume: "resume",
  stop: "stop",
};

describe("verbsOf", () => {
  it.each(REPLAY_STATES.filter((state) => state !== "draft"))(
    "%s offers what its steps allow, all of it",
    (state) => {
      const steps = REPLAY_STEPS.filter(({ from }) => from === state).map(({ cause }) => cause);
      const offered = verbsOf(state).flatMap((verb) => CAUSES[verb] ?? []);
      for (const cause of offered) expect(steps).toContain(cause);
      const byPeople = steps.filter((cause) => Object.values(CAUSES).includes(cause));
      expect(new Set(offered)).toEqual(new Set(byPeople));
    },
  );

  it("a batch that is out can be stopped in every state, without typing", () => {
    for (const state of ["canary", "canary_hold", "running", "paused"] as const)
      expect(verbsOf(state)).toContain("stop");
    expect(VERB_WORDS.stop.text.required).toBe(false);
    for (const verb of ["stop", "pause"] as const)
      expect(defaultReason(verb).length).toBeGreaterThanOrEqual(10);
  });
});

describe("the rate", () => {
  const word = (allowed: boolean) => ({
    allowed,
    reason: allowed ? null : "Raising needs an administrator.",
  });
  const batch = (rateCap: number | null, mayRaise: boolean) => ({
    rateCap,
    lanes: [{ ratePerSecond: 1 }, { ratePerSecond: 2 }],
    actions: { "raise-rate": word(mayRaise) } as ReplayActions,
  });

  it("stands at the fastest lane, under the cap, and not at the sum of the lanes", () => {
    expect(standingRate(batch(null, false))).toBe(2);
    expect(standingRate(batch(0.5, false))).toBe(0.5);
    expect(standingRate(batch(5, false))).toBe(2);
    expect(standingRate({ rateCap: null, lanes: [] })).toBeNull();
  });

  it("goes down for everybody, and up for who may raise it", () => {
    expect(refuseRaise(2, batch(null, false))).toBeNull();
    expect(refuseRaise(2.1, batch(null, false))).toBe("At most 2. Raising needs an administrator.");
    expect(refuseRaise(2.1, batch(null, true))).toBeNull();
  });
});

describe("sharedReasons", () => {
  it("says a reason once for all buttons that share it", () => {
    const refused = [
      { label: "Approve", reason: "Yours" },
      { label: "Reject", reason: "Role" },
      { label: "Break glass", reason: "Role" },
    ];
    expect(sharedReasons(refused)).toEqual([
      { reason: "Yours", labels: ["Approve"] },
      { reason: "Role", labels: ["Reject", "Break glass"] },
    ]);
  });
});
