/** What a page may offer for a batch, how two reviewed sets differ, how curves are cut, and in which tab a state stands. */
import { describe, expect, it } from "vitest";
import { isSameCause } from "./commands-replay.ts";
import { type Grant, permitsOf, type Role } from "./permissions.ts";
import { ENDED_STATES, REPLAY_STATES, REPLAY_STEPS, type ReplayState } from "./replay.ts";
import {
  type ActionFacts,
  mayReview,
  PERMITS_OF_REPLAY,
  REPLAY_VERBS,
  type ReplayAction,
  replayActions,
} from "./replay-actions.ts";
import { diffFacts, diffSet, MAX_NAMED_ENTRIES } from "./replay-diff.ts";
import { MAX_REPLAY_POINTS, replayStepMs } from "./replay-series.ts";
import { failuresInARow } from "./replay-stop.ts";
import { REPLAY_TABS, TAB_STATES } from "./replay-tabs.ts";

const HOUR_MS = 3_600_000;
const TARGET = { region: "us", tenantId: null } as const;

function permits(role: Role): ActionFacts["permits"] {
  const grant: Grant = { role, regions: ["us"], tenantIds: null, canReveal: false, actions: null };
  return permitsOf([grant], PERMITS_OF_REPLAY, TARGET);
}

function facts(state: ReplayState, changes: Partial<ActionFacts> = {}): ActionFacts {
  return {
    state,
    actor: "user:bob",
    requestedBy: "user:ann",
    editors: ["user:ann", "user:eve"],
    permits: permits("admin"),
    red: "",
    startBlock: null,
    holdLeftMs: 0,
    followUpItems: 3,
    ...changes,
  };
}

const allowed = (given: ActionFacts) =>
  Object.entries(replayActions(given))
    .filter(([, word]) => word.allowed)
    .map(([name]) => name);
const whyNot = (name: ReplayAction, given: ActionFacts) => replayActions(given)[name].reason;

describe("what may be done", () => {
  it.each([
    ["draft", ["inspect", "annotate", "plan", "remove", "submit", "cancel"]],
    ["in_review", ["request-changes", "cancel", "approve", "reject", "break-glass"]],
    ["approved", ["cancel", "reject", "start", "rate", "raise-rate"]],
    ["canary", ["pause", "stop", "rate", "raise-rate"]],
    ["canary_hold", ["continue", "pause", "stop", "rate", "raise-rate"]],
    ["running", ["pause", "stop", "rate", "raise-rate"]],
    ["paused", ["resume", "stop", "rate", "raise-rate"]],
    ["stopping", []],
    ["stopped", ["follow-up"]],
    ["completed", ["follow-up"]],
    ["rejected", []],
  ] as const)("of a batch that is %s: %j", (state, names) => {
    expect(allowed(facts(state)).sort()).toEqual([...names].sort());
  });

  it("every step of the machine that a person takes has a verb that is offered in its state, and no other", () => {
    const verbOf: Readonly<Record<string, ReplayAction>> = { request_changes: "request-changes" };
    for (const { from, cause } of REPLAY_STEPS) {
      const verb = verbOf[cause] ?? (cause as ReplayAction);
      if (!(REPLAY_VERBS as readonly string[]).includes(verb)) continue;
      expect(allowed(facts(from)), `${cause} in ${from}`).toContain(verb);
    }
  });

  it("DLQ-4 who wrote or changed it is not offered its approval, and is told why", () => {
    for (const actor of ["user:ann", "user:eve"]) {
      expect(whyNot("approve", facts("in_review", { actor }))).toMatch(/Somebody else/);
      expect(mayReview({ ...facts("in_review", { actor }), permit: { allowed: true } })).toBe(false);
    }
    expect(mayReview({ ...facts("in_review"), permit: { allowed: true } })).toBe(true);
    expect(mayReview({ ...facts("in_review"), permit: { allowed: false } })).toBe(false);
    expect(mayReview({ ...facts("approved"), permit: { allowed: true } })).toBe(false);
  });

  it("a role that may not is named; support starts only its own", () => {
    expect(whyNot("approve", facts("in_review", { permits: permits("support") }))).toMatch(
      /operator or admin/,
    );
    expect(whyNot("stop", facts("running", { permits: permits("viewer") }))).toMatch(/support/);
    const support = { permits: permits("support") };
    expect(whyNot("start", facts("approved", support))).toMatch(/batches of their own/);
    expect(whyNot("start", facts("approved", { ...support, actor: "user:ann" }))).toBeNull();
    expect(whyNot("raise-rate", facts("running", { permits: permits("operator") }))).toMatch(/admin/);
  });

  it("red stops what sends and nothing else; a stop is always offered", () => {
    const red = { red: "429 share 14 % > 10 %" };
    expect(whyNot("start", facts("approved", red))).toBe("A stop condition is red: 429 share 14 % > 10 %.");
    expect(whyNot("resume", facts("paused", red))).toMatch(/is red/);
    for (const state of ["canary", "canary_hold", "running", "paused"] as const) {
      expect(whyNot("stop", facts(state, { ...red, holdLeftMs: 1 }))).toBeNull();
    }
    expect(whyNot("continue", facts("canary_hold", { holdLeftMs: 1_500 }))).toBe(
      "The canary is held for 2 s more.",
    );
    expect(whyNot("start", facts("approved", { startBlock: "Its window is over." }))).toBe(
      "Its window is over.",
    );
    expect(whyNot("follow-up", facts("stopped", { followUpItems: 0 }))).toMatch(/dead again/);
  });
});

describe("tabs", () => {
  it("have each state once", () => {
    const states = REPLAY_TABS.flatMap((tab) => TAB_STATES[tab]);
    expect([...states].sort()).toEqual([...REPLAY_STATES].sort());
    expect([...TAB_STATES.finished].sort()).toEqual([...ENDED_STATES].sort());
  });
});

describe("the difference of two reviewed sets", () => {
  it("names each field that differs, as deep as the plan's stop conditions, and no other", () => {
    const before = {
      name: "b",
      ticket: null,
      checklist: { order: { yes: false, evidence: "sums" } },
      plan: { concurrency: 2, stop: { dueLagMs: 60_000, equalFailures: 5 } },
      lanes: { dst_1: 1 },
    };
    const after = {
      ticket: null,
      name: "b",
      checklist: { order: { evidence: "sums", yes: true } },
      plan: { stop: { equalFailures: 5, dueLagMs: 30_000 }, concurrency: 2 },
      lanes: { dst_1: 1, dst_2: 0.5 },
    };
    expect(diffFacts(before, after)).toEqual([
      { field: "checklist.order.yes", before: false, after: true },
      { field: "lanes.dst_2", before: null, after: 0.5 },
      { field: "plan.stop.dueLagMs", before: 60_000, after: 30_000 },
    ]);
    expect(diffFacts(before, before)).toEqual([]);
    expect(diffFacts({ checklist: null }, { checklist: { dedup: { yes: true } } })).toEqual([
      { field: "checklist.dedup.yes", before: null, after: true },
    ]);
  });

  it("counts all entries that came and went and names a few", () => {
    const many = Array.from({ length: 30 }, (_, n) => `id-${String(n).padStart(2, "0")}`);
    const change = diffSet(many, [...many.slice(25), "new"]);
    expect(change).toMatchObject({ added: 1, removed: 25, addedIds: ["new"] });
    expect(change.removedIds).toHaveLength(MAX_NAMED_ENTRIES);
  });
});

describe("curves", () => {
  it.each([0, 1, 60_000, 19 * 60_000, 2 * HOUR_MS, 7 * 24 * HOUR_MS, 400 * 24 * HOUR_MS])(
    "of %i ms have at most 240 points",
    (spanMs) => {
      expect(Math.floor(spanMs / replayStepMs(spanMs)) + 1).toBeLessThanOrEqual(MAX_REPLAY_POINTS);
    },
  );

  it("have the shortest step that fits", () => {
    expect(replayStepMs(10 * 60_000)).toBe(5_000);
    expect(replayStepMs(2 * HOUR_MS)).toBe(60_000);
  });
});

describe("equal failures in a row", () => {
  const attempt = (outcome: string, status: number | null = null) => ({
    destinationId: "d",
    startedMs: 0,
    outcome,
    status,
    errorCode: null,
  });
  it("are counted from the newest, and a success or another failure ends them", () => {
    expect(failuresInARow([])).toEqual({ count: 0, text: null });
    expect(failuresInARow([attempt("delivered", 200), attempt("server_error", 500)])).toEqual({
      count: 0,
      text: null,
    });
    const two = [attempt("server_error", 500), attempt("server_error", 500), attempt("server_error", 503)];
    expect(failuresInARow(two)).toEqual({ count: 2, text: "server error 500" });
    expect(failuresInARow(two.slice(0, 2))).toMatchObject({ count: 2 });
  });
});

it("a cause is the same whatever its spaces and its case", () => {
  expect(isSameCause("Their  certificate expired", " their certificate EXPIRED ")).toBe(true);
  expect(isSameCause("their certificate expired", "their clock is wrong")).toBe(false);
  expect(isSameCause(null, "")).toBe(true);
});
