/** The state machine of a replay batch, its plan, its stop conditions and its freeze, as tables and as properties. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCommand } from "./commands.ts";
import { DraftReplay } from "./commands-replay.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import {
  canarySize,
  canStep,
  countsOf,
  openCount,
  progressText,
  REPLAY_STATES,
  REPLAY_STEPS,
  type ReplayState,
  rampShare,
} from "./replay.ts";
import { withinBudget } from "./replay-budget.ts";
import { canonicalJson, type Frozen, freezeHash } from "./replay-freeze.ts";
import {
  DEFAULT_REPLAY_POLICY,
  defaultRate,
  loosened,
  readReplayPolicy,
  resolvePlan,
  thresholdsOf,
} from "./replay-plan.ts";
import { drawSample, releaseOrder } from "./replay-sample.ts";
import {
  breachesOf,
  checkStop,
  describeBreaches,
  equalFailures,
  type ReplayAttempt,
  type ReplayReadings,
} from "./replay-stop.ts";
import { decide } from "./retry-policy.ts";

/** Written out by hand from the drawn machine, not derived from the table under test. */
const ALLOWED: Readonly<Record<ReplayState, readonly ReplayState[]>> = {
  draft: ["in_review", "cancelled"],
  in_review: ["draft", "approved", "rejected", "expired", "cancelled"],
  approved: ["canary", "rejected", "expired", "cancelled"],
  canary: ["canary_hold", "paused", "stopping"],
  canary_hold: ["running", "paused", "stopping"],
  running: ["paused", "stopping", "completed", "failed"],
  paused: ["stopping"],
  stopping: ["stopped", "failed"],
  completed: [],
  stopped: [],
  failed: [],
  rejected: [],
  expired: [],
  cancelled: [],
};

describe("states", () => {
  const pairs = REPLAY_STATES.flatMap((from) => REPLAY_STATES.map((to) => ({ from, to })));

  it.each(pairs)(
    "DLQ-4 $from -> $to is allowed exactly when the drawn machine has the arrow",
    ({ from, to }) => {
      expect(canStep(from, to)).toBe(ALLOWED[from].includes(to));
    },
  );

  it("a paused batch returns to the state that it left and to no other", () => {
    for (const left of ["canary", "canary_hold", "running"] as const) {
      for (const to of REPLAY_STATES) {
        expect(canStep("paused", to, left)).toBe(to === left || to === "stopping");
      }
    }
  });

  it("DLQ-4 nothing runs that did not come by approved", () => {
    const into = (state: ReplayState) =>
      REPLAY_STEPS.filter(({ to }) => to === state).map(({ from }) => from);
    expect(into("canary").sort()).toEqual(["approved", "paused"]);
    expect(into("approved")).toEqual(["in_review"]);
    expect(into("running").sort()).toEqual(["canary_hold", "paused"]);
  });

  it("counts, progress, canary and ramp", () => {
    const counts = countsOf([
      { state: "delivered", n: 312 },
      { state: "released", n: 8 },
      { state: "frozen", n: 180 },
    ]);
    expect(progressText(counts)).toBe("312 of 500 delivered");
    expect(openCount(counts)).toBe(188);
    expect([0, 3, 5, 100, 120, 500, 5_000].map(canarySize)).toEqual([0, 3, 5, 5, 6, 25, 25]);
    expect([0, 59_999, 60_000, 120_000, 9e9].map((ms) => rampShare(ms, 60_000))).toEqual([
      0.25, 0.25, 0.5, 1, 1,
    ]);
    expect(rampShare(0, 0)).toBe(1);
  });
});

describe("fault 35: an empty selection is refused", () => {
  const draft = (selection: unknown) => () =>
    readCommand(DraftReplay, { name: "b", selection, reason: "the outage is over" });
  it.each([{ filter: {} }, { ids: [] }, {}, { filter: { from: "2026-01-01T00:00:00Z" } }, null])(
    "%j",
    (selection) => {
      expect(draft(selection)).toThrow();
    },
  );
  it("and one thing to go by is enough", () => {
    expect(draft({ filter: { reason: "rejected" } })().limit).toBe(500);
  });
});

describe("plan", () => {
  it("rate: the least of 1/s, 5 % of normal, 20 % of the limit; never below 0.1/s", () => {
    expect(defaultRate({ normalPerSecond: null, limitPerSecond: null })).toBe(1);
    expect(defaultRate({ normalPerSecond: 0, limitPerSecond: null })).toBe(1);
    expect(defaultRate({ normalPerSecond: 10, limitPerSecond: null })).toBe(0.5);
    expect(defaultRate({ normalPerSecond: 10, limitPerSecond: 1 })).toBe(0.2);
    expect(defaultRate({ normalPerSecond: 0.5, limitPerSecond: 0.1 })).toBe(0.1);
  });

  it("an author may tighten, an administrator may loosen", () => {
    const policy = DEFAULT_REPLAY_POLICY;
    expect(resolvePlan({ stop: { failedShare: 0.05 } }, policy, false).stop.failedShare).toBe(0.05);
    expect(() => resolvePlan({ stop: { failedShare: 0.5 } }, policy, false)).toThrow(/administrator/);
    expect(resolvePlan({ stop: { failedShare: 0.5 } }, policy, true).stop.failedShare).toBe(0.5);
    expect(resolvePlan({}, policy, false)).toMatchObject({ concurrency: 2, attemptBudget: 1 });
    expect(() =>
      resolvePlan({ startsAfter: "2026-01-02T00:00:00Z", endsBefore: "2026-01-01T00:00:00Z" }, policy, true),
    ).toThrow();
  });

  it("what is not loosened is nowhere above the policy, for any plan", () => {
    const stricter = fc.record(
      {
        dueLagMs: fc.integer({ min: 1, max: 200_000 }),
        failedShare: fc.double({ min: 0.001, max: 1, noNaN: true }),
      },
      { requiredKeys: [] },
    );
    const base = thresholdsOf(DEFAULT_REPLAY_POLICY);
    fc.assert(
      fc.property(stricter, (stop) => {
        const free = loosened(stop, base).length === 0;
        const all = { ...base, ...stop };
        expect(free).toBe(all.dueLagMs <= base.dueLagMs && all.failedShare <= base.failedShare);
      }),
    );
  });

  it("a stored policy lies over the defaults, and nonsense is refused", () => {
    expect(readReplayPolicy({ canaryHoldMs: 0 })).toEqual({ ...DEFAULT_REPLAY_POLICY, canaryHoldMs: 0 });
    expect(() => readReplayPolicy({ failedShare: 7 })).toThrow();
  });
});

const NOW = 1_000_000_000;
const FRESH: ReplayReadings = {
  nowMs: NOW,
  startedMs: NOW - 60_000,
  endsBeforeMs: null,
  sampledMs: NOW - 5_000,
  rolledMs: NOW - 5_000,
  lastTurnMs: NOW - 2_000,
  dueLagMs: 0,
  urgentFirstP95Ms: null,
  routineFirstP95Ms: 100,
  attempts: [],
};
const STOP = thresholdsOf(DEFAULT_REPLAY_POLICY);

function attempts(outcomes: readonly string[], ageMs = 1_000): ReplayAttempt[] {
  return outcomes.map((outcome, index) => ({
    destinationId: "d",
    startedMs: NOW - ageMs - index,
    outcome,
    status: outcome === "delivered" ? 200 : 500,
    errorCode: null,
  }));
}

function breached(changes: Partial<ReplayReadings>): string[] {
  return breachesOf(checkStop({ ...FRESH, ...changes }, STOP, DEFAULT_REPLAY_POLICY)).map(
    ({ condition }) => condition,
  );
}

describe("stop conditions", () => {
  it("fault 41: a batch with no sends yet is no breach", () => {
    expect(breached({})).toEqual([]);
  });

  it.each([
    [{ sampledMs: null }, "metrics_stale"],
    [{ rolledMs: null }, "metrics_stale"],
    [{ sampledMs: NOW - 30_001 }, "metrics_stale"],
    [{ lastTurnMs: NOW - 30_001 }, "runner_silent"],
    [{ dueLagMs: 60_001 }, "due_lag"],
    [{ urgentFirstP95Ms: 15_001 }, "first_attempt_p95"],
    [{ routineFirstP95Ms: 120_001 }, "first_attempt_p95"],
    [{ startedMs: NOW - 7_200_001 }, "time_limit"],
    [{ endsBeforeMs: NOW }, "time_limit"],
  ] as const)("DLQ-7 %j -> %s", (changes, condition) => {
    expect(breached(changes)).toEqual([condition]);
  });

  it("fault 41: ten good ones and then 429 stop it at the 12th; nine attempts never do", () => {
    const run = (limited: number) =>
      breached({
        attempts: attempts([...Array(limited).fill("rate_limited"), ...Array(10).fill("delivered")]),
      });
    expect(run(1)).toEqual([]);
    expect(run(2)).toEqual(["rate_limited_share"]);
    expect(breached({ attempts: attempts(Array(9).fill("rate_limited")) })).toEqual([]);
  });

  it("failures count from 20 attempts on, with their numbers in words", () => {
    const mixed = attempts([...Array(5).fill("server_error"), ...Array(15).fill("delivered")]);
    expect(breached({ attempts: mixed })).toContain("failed_share");
    expect(breached({ attempts: mixed.slice(0, 19) })).toEqual([]);
    const states = checkStop({ ...FRESH, attempts: mixed }, STOP, DEFAULT_REPLAY_POLICY);
    expect(describeBreaches(states)).toBe("failure share 25 % (5 of 20) > 20 %");
  });

  it.each([
    [{ sampledMs: NOW - 1_852_000 }, "metrics 30 m 52 s old > 30 s"],
    [{ sampledMs: NOW - 30_400 }, "metrics over 30 s old"],
    [{ rolledMs: null }, "metrics missing"],
    [{ lastTurnMs: NOW - 95_000 }, "runner silent for 1 m 35 s > 30 s"],
    [{ dueLagMs: 61_000 }, "due-but-unclaimed 1 m 1 s > 1 m"],
    [{ urgentFirstP95Ms: 16_000 }, "first-attempt p95 (urgent) 16 s > 15 s"],
    [{ startedMs: NOW - 7_200_400 }, "run time over 2 h"],
  ] as const)("%j is told as an age against its limit", (changes, text) => {
    const readings = { ...FRESH, ...changes };
    expect(describeBreaches(checkStop(readings, STOP, DEFAULT_REPLAY_POLICY))).toBe(text);
  });

  it("old attempts leave the window when there are enough new ones", () => {
    const old = attempts(Array(30).fill("rate_limited"), 600_000);
    expect(breached({ attempts: old })).toContain("rate_limited_share");
    expect(breached({ attempts: [...attempts(Array(20).fill("delivered")), ...old] })).toEqual([]);
  });

  it("a stricter threshold never turns a breach into none", () => {
    const numbers = fc.record({
      dueLagMs: fc.integer({ min: 0, max: 200_000 }),
      limit: fc.integer({ min: 1, max: 60_000 }),
    });
    fc.assert(
      fc.property(numbers, ({ dueLagMs, limit }) => {
        const readings = { ...FRESH, dueLagMs };
        const loose = breachesOf(checkStop(readings, STOP, DEFAULT_REPLAY_POLICY)).length;
        expect(
          breachesOf(checkStop(readings, { ...STOP, dueLagMs: limit }, DEFAULT_REPLAY_POLICY)).length,
        ).toBeGreaterThanOrEqual(loose);
      }),
    );
  });

  it("five equal failures in a row name themselves; four, a success or another kind between do not", () => {
    const bad = attempts(Array(5).fill("server_error"));
    expect(equalFailures(bad, 5)).toBe("5 in a row: server error 500");
    expect(equalFailures(bad.slice(1), 5)).toBeNull();
    expect(
      equalFailures(
        attempts(["server_error", "server_error", "delivered", "server_error", "server_error"]),
        5,
      ),
    ).toBeNull();
    expect(
      equalFailures(
        attempts(["server_error", "server_error", "rejected", "server_error", "server_error"]),
        5,
      ),
    ).toBeNull();
    expect(equalFailures(attempts(Array(5).fill("delivered")), 5)).toBeNull();
  });
});

const items = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    destinationId: fc.constantFrom("a", "b", "c"),
    reason: fc.constantFrom("rejected", "expired"),
    diedMs: fc.nat(1_000),
  }),
  { selector: ({ id }) => id, maxLength: 60 },
);

describe("sample and order", () => {
  it("each stratum has one, the size holds, and a seed repeats", () => {
    fc.assert(
      fc.property(items, fc.string(), (all, seed) => {
        const drawn = drawSample(all, seed);
        const strata = (of: typeof all) =>
          new Set(of.map(({ destinationId, reason }) => `${destinationId} ${reason}`));
        expect(strata(drawn)).toEqual(strata(all));
        expect(drawn.length).toBe(Math.min(all.length, 20));
        expect(new Set(drawn.map(({ id }) => id)).size).toBe(drawn.length);
        expect(
          drawSample([...all].reverse(), seed)
            .map(({ id }) => id)
            .sort(),
        ).toEqual(drawn.map(({ id }) => id).sort());
        const seen = new Set(drawn.map(({ id }) => id));
        expect(drawSample(all, seed, 5, seen).every(({ id }) => !seen.has(id))).toBe(true);
      }),
    );
  });

  it("all leave, oldest first in each destination, in turns", () => {
    fc.assert(
      fc.property(items, (all) => {
        const order = releaseOrder(all);
        expect(order.map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
        for (const name of ["a", "b", "c"]) {
          const died = order
            .filter(({ destinationId }) => destinationId === name)
            .map(({ diedMs }) => diedMs);
          expect(died).toEqual([...died].sort((x, y) => x - y));
        }
        const present = new Set(all.map(({ destinationId }) => destinationId)).size;
        expect(new Set(order.slice(0, present).map(({ destinationId }) => destinationId)).size).toBe(present);
      }),
    );
  });
});

describe("freeze", () => {
  const plan = resolvePlan({}, DEFAULT_REPLAY_POLICY, false);
  const frozen: Frozen = {
    batchId: "b",
    region: "us",
    plan,
    items: [
      { id: "1", version: 1, cycle: 1, seq: 0 },
      { id: "2", version: 1, cycle: 1, seq: 1 },
    ],
    lanes: [{ destinationId: "d", ratePerSecond: 1, print: "p" }],
  };
  const hex = (of: Frozen) => Buffer.from(freezeHash(of)).toString("hex");

  it("DLQ-5 one set has one hash, whatever its order; another version, plan or lane has another", () => {
    expect(hex({ ...frozen, items: [...frozen.items].reverse() })).toBe(hex(frozen));
    expect(hex({ ...frozen, items: frozen.items.map((item) => ({ ...item, version: 2 })) })).not.toBe(
      hex(frozen),
    );
    expect(hex({ ...frozen, items: frozen.items.slice(1) })).not.toBe(hex(frozen));
    expect(hex({ ...frozen, plan: { ...plan, attemptBudget: 2 } })).not.toBe(hex(frozen));
    expect(hex({ ...frozen, lanes: [{ destinationId: "d", ratePerSecond: 1, print: "q" }] })).not.toBe(
      hex(frozen),
    );
  });

  it("canonical JSON is JSON, and blind to the order of members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
    expect(canonicalJson({ b: 1, a: [null, "x"] })).toBe('{"a":[null,"x"],"b":1}');
    expect(() => canonicalJson(Number.NaN)).toThrow(TypeError);
  });
});

describe("attempt budget", () => {
  const context = { nowMs: NOW, random: () => 0.5 };
  const state = { attempts: 3, failures: 0, rejections: 0, throttles: 0, throttledMs: 0, cycle: 2 };
  const answer = (status: number) =>
    decide(
      state,
      { kind: "response", status, retryAfterHeader: null, durationMs: 1 },
      DEFAULT_POLICY.routine,
      context,
    );

  it("DLQ-8 a 500 and a 429 use the budget up; the 429 still shuts the gate; a success stays one", () => {
    expect(withinBudget(answer(500), state, 1)).toMatchObject({ to: "dead", reason: "attempts_exhausted" });
    const limited = withinBudget(answer(429), state, 1);
    expect(limited).toMatchObject({ to: "dead", reason: "attempts_exhausted" });
    expect(limited.gate).not.toBeNull();
    expect(withinBudget(answer(200), state, 1).to).toBe("delivered");
  });

  it("with attempts left, and for what is no replay, the decision stands", () => {
    expect(withinBudget(answer(500), state, 2).to).toBe("delayed");
    expect(withinBudget(answer(500), { ...state, failures: 1 }, 2).to).toBe("dead");
    expect(withinBudget(answer(500), state, null).to).toBe("delayed");
  });
});
