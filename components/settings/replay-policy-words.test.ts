/** The form of the replay policy: its bounds are the domain's, and it sends what was changed and nothing else. */
import { describe, expect, test } from "vitest";
import { DEFAULT_REPLAY_POLICY, loosened, ReplayPolicy, thresholdsOf } from "#domain/replay-plan.ts";
import { numberProblem, typedText } from "./policy-numbers.ts";
import {
  NOTHING_TYPED,
  POLICY_FIELDS,
  POLICY_GROUPS,
  type PolicyNumber,
  replayPolicyChanges,
  replayPolicyHistory,
  replayPolicyRows,
} from "./replay-policy-words.ts";

const NAMES = Object.keys(POLICY_FIELDS) as PolicyNumber[];
const accepts = (name: PolicyNumber, value: number) =>
  ReplayPolicy.safeParse({ ...DEFAULT_REPLAY_POLICY, [name]: value }).success;

describe("the fields", () => {
  test("are every number of the policy, each once, in one group", () => {
    const numbers = Object.keys(ReplayPolicy.shape).filter((name) => name !== "canaryAuto");
    expect(NAMES.toSorted()).toEqual(numbers.toSorted());
    expect(POLICY_GROUPS.flatMap(({ names }) => names).toSorted()).toEqual(numbers.toSorted());
  });

  test.each(NAMES)("%s has the bounds of the domain", (name) => {
    const field = POLICY_FIELDS[name];
    const { min, max, unit } = field;
    expect([accepts(name, min), accepts(name, max)]).toEqual([true, true]);
    expect(accepts(name, unit === "%" ? 0 : min - 1)).toBe(false);
    expect(accepts(name, max + 1)).toBe(false);
    expect(numberProblem(field, typedText(field, max))).toBeNull();
    for (const text of ["", "many", "-1", typedText(field, max * 2)]) {
      expect(numberProblem(field, text), text).toContain("umber from");
    }
  });
});

describe("what is sent", () => {
  test("is nothing while nothing differs, also when a number was typed as it stands", () => {
    const odd = { ...DEFAULT_REPLAY_POLICY, rateLimitedShare: 0.123456 };
    const nothing = { changes: {}, problem: "Nothing is changed yet.", looser: [] };
    expect(replayPolicyChanges(NOTHING_TYPED, odd)).toEqual(nothing);
    const typed = { numbers: { rateLimitedShare: "12.346" }, canaryAuto: false };
    expect(replayPolicyChanges(typed, odd)).toEqual(nothing);
    expect(replayPolicyChanges({ numbers: { dueLagMs: "many" } }, odd).problem).toMatch(/^A number cannot/);
  });

  test("is what was changed, in stored units", () => {
    const typed = { numbers: { dueLagMs: "30", failedShare: "7.5", equalFailures: "3" }, canaryAuto: true };
    expect(replayPolicyChanges(typed, DEFAULT_REPLAY_POLICY)).toEqual({
      changes: { dueLagMs: 30_000, failedShare: 0.075, equalFailures: 3, canaryAuto: true },
      problem: null,
      looser: [],
    });
  });

  test.each(NAMES)("says that a higher %s is looser where the server says so", (name) => {
    const field = POLICY_FIELDS[name];
    const higher = Math.min(DEFAULT_REPLAY_POLICY[name] + 1, field.max);
    const numbers = { [name]: typedText(field, higher) };
    const { changes, looser } = replayPolicyChanges({ numbers }, DEFAULT_REPLAY_POLICY);
    expect(changes).toEqual({ [name]: higher });
    const after = { ...DEFAULT_REPLAY_POLICY, [name]: higher };
    const named = loosened(thresholdsOf(after), DEFAULT_REPLAY_POLICY);
    expect(looser).toEqual(named.map((one) => POLICY_FIELDS[one].label));
  });
});

test("the rows say what is in force beside what is built in", () => {
  const rows = replayPolicyRows({
    policy: { ...DEFAULT_REPLAY_POLICY, dueLagMs: 30_000, canaryHoldMs: 0, canaryAuto: true },
    defaults: DEFAULT_REPLAY_POLICY,
  });
  expect(rows).toContainEqual({ what: "Oldest due but unclaimed", now: "30 s", builtIn: "1 m" });
  expect(rows).toContainEqual({ what: "Hold after the canary", now: "none", builtIn: "2 m" });
  expect(rows).toContainEqual({ what: "429 share", now: "10 %", builtIn: "10 %" });
  expect(rows.at(-1)).toMatchObject({ now: "yes", builtIn: "no" });
});

test("a version says what it changed of the one before it, and nothing when that one is not listed", () => {
  const version = (at: number, body: object) => ({
    version: at,
    body,
    changedBy: "ann@example.com",
    changedAt: "2026-12-01T02:00:00.000Z",
    reason: "small receivers in this region",
  });
  const defaults = DEFAULT_REPLAY_POLICY;
  const second = version(2, { dueLagMs: 30_000, canaryAuto: true });
  expect(replayPolicyHistory({ defaults, history: [second, version(1, { dueLagMs: 30_000 })] })).toEqual([
    ["Goes on by itself after a clean canary: yes"],
    ["Oldest due but unclaimed 1 m → 30 s"],
  ]);
  expect(replayPolicyHistory({ defaults, history: [second] })).toEqual([null]);
});
