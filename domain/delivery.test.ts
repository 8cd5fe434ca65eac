import { describe, expect, it } from "vitest";
import {
  canTransition,
  DEAD_CLASS,
  DEAD_CLASSES,
  DEAD_REASONS,
  type DeliveryState,
  isLiveState,
  isTerminalState,
  LANES,
  LIVE_STATES,
  laneAfterAttempt,
  laneOf,
  STATES,
  TERMINAL_STATES,
  TRANSITION_CAUSES,
  TRANSITIONS,
} from "./delivery.ts";

/** Written out by hand from the drawn state machine, not derived from the table under test. */
const ALLOWED: Readonly<Record<DeliveryState, readonly DeliveryState[]>> = {
  ready: ["leased", "cancelled"],
  leased: ["delivered", "delayed", "dead", "ready"],
  delayed: ["leased", "dead", "cancelled"],
  delivered: [],
  dead: ["delayed"],
  cancelled: [],
};

describe("delivery states", () => {
  const pairs = STATES.flatMap((from) => STATES.map((to) => ({ from, to })));

  it.each(pairs)(
    "ID-2 $from -> $to is allowed exactly when the drawn machine has the arrow",
    ({ from, to }) => {
      expect(canTransition(from, to)).toBe(ALLOWED[from].includes(to));
    },
  );

  it("ID-2 never leaves delivered or cancelled, and leaves dead only by a replay", () => {
    expect(TRANSITIONS.filter((step) => step.from === "delivered" || step.from === "cancelled")).toEqual([]);
    expect(TRANSITIONS.filter((step) => step.from === "dead").map((step) => step.cause)).toEqual([
      "replay_released",
    ]);
  });

  it("LEASE-6 only a claim leads into leased, and only from a waiting state", () => {
    const into = TRANSITIONS.filter((step) => step.to === "leased");
    expect(into.map((step) => step.from).sort()).toEqual(["delayed", "ready"]);
    expect(into.every((step) => step.cause === "claimed")).toBe(true);
    expect(canTransition("leased", "cancelled")).toBe(false);
  });

  it("uses every cause and lists no step twice", () => {
    expect(new Set(TRANSITIONS.map((step) => step.cause))).toEqual(new Set(TRANSITION_CAUSES));
    const texts = TRANSITIONS.map((step) => `${step.from}>${step.to}:${step.cause}`);
    expect(new Set(texts).size).toBe(texts.length);
    expect(canTransition("leased", "dead", "gave_up")).toBe(true);
    expect(canTransition("delayed", "dead", "gave_up")).toBe(false);
  });

  it("ID-2 splits the states into live and terminal without a rest", () => {
    expect([...LIVE_STATES, ...TERMINAL_STATES].sort()).toEqual([...STATES].sort());
    for (const state of STATES) {
      expect(isLiveState(state)).toBe(!isTerminalState(state));
    }
  });

  it("DLQ-2 gives every dead reason one class, and pages only for lost workers and blocked addresses", () => {
    expect(Object.keys(DEAD_CLASS).sort()).toEqual([...DEAD_REASONS].sort());
    for (const deadClass of DEAD_CLASSES) {
      expect(Object.values(DEAD_CLASS)).toContain(deadClass);
    }
    const system = DEAD_REASONS.filter((reason) => DEAD_CLASS[reason] === "system");
    expect(system.sort()).toEqual(["blocked_address", "worker_lost"]);
  });

  it("LEASE-3 a recovered row without a stored outcome keeps the first lane", () => {
    expect(laneOf({ attemptsWithOutcome: 0, replay: false })).toBe("first");
    expect(laneOf({ attemptsWithOutcome: 1, replay: false })).toBe("retry");
    expect(laneOf({ attemptsWithOutcome: 9, replay: true })).toBe("replay");
    expect(LANES.map(laneAfterAttempt)).toEqual(["retry", "retry", "replay"]);
  });
});
