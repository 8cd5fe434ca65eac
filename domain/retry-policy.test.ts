import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEAD_REASONS, DELAY_REASONS } from "./delivery.ts";
import type { NetworkOutcome, Outcome, ResponseOutcome } from "./outcome.ts";
import { resolvePolicy } from "./policy.ts";
import {
  backoffMs,
  type Decision,
  decide,
  gateDelayMs,
  previewNextAttempts,
  type RetryState,
} from "./retry-policy.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
const HOUR_MS = 3_600_000;
const FRESH: RetryState = { attempts: 0, failures: 0, rejections: 0, throttles: 0, throttledMs: 0, cycle: 1 };
/** Constants of the fault list: Retry-After clamped to [1 s, 3600 s], the rest as the defaults. */
const CASE_POLICY = resolvePolicy("routine", { retryAfter: { minMs: 1000, maxMs: HOUR_MS } });
const DEFAULTS = resolvePolicy("routine");
const RESET: NetworkOutcome = { kind: "network", code: "ECONNRESET", phase: "headers" };

function answer(status: number, retryAfterHeader: string | null = null): ResponseOutcome {
  return { kind: "response", status, retryAfterHeader, durationMs: 5 };
}

function run(
  outcome: Outcome,
  state: Partial<RetryState> = {},
  policy = CASE_POLICY,
  random = 0.5,
): Decision {
  return decide({ ...FRESH, ...state }, outcome, policy, { nowMs: NOW_MS, random: () => random });
}

function delayOf(decision: Decision): number {
  return decision.to === "delayed" ? decision.delayMs : Number.NaN;
}

/** Adds a decision's deltas to a state, as the finish statement does. */
function apply(state: RetryState, decision: Decision): RetryState {
  const { attempts, failures, rejections, throttles, throttledMs } = decision.counters;
  return {
    attempts: state.attempts + attempts,
    failures: state.failures + failures,
    rejections: state.rejections + rejections,
    throttles: state.throttles + throttles,
    throttledMs: state.throttledMs + throttledMs,
    cycle: state.cycle,
  };
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("Retry-After in a decision", () => {
  const table = JSON.parse(readFileSync(new URL("./testdata/retry-after.json", import.meta.url), "utf8")) as {
    cases: { header: string | null; seconds?: number; fallback?: boolean; clamped?: "max" }[];
  };

  it.each(table.cases.flatMap((row) => [429, 503].map((status) => ({ ...row, status }))))(
    "RETRY-4 status $status with $header",
    ({ status, header, seconds, fallback, clamped }) => {
      for (const random of [0, 0.5, 0.999_999]) {
        const decision = run(answer(status, header), {}, CASE_POLICY, random);
        const evidence = decision.retryAfter;
        expect(evidence).toMatchObject({
          raw: header,
          fallback: fallback === true,
          clamped: clamped ?? null,
        });
        if (fallback) {
          expect(delayOf(decision)).toBeGreaterThanOrEqual(4000);
          expect(delayOf(decision)).toBeLessThanOrEqual(6000);
          expect(evidence).toMatchObject({ askedMs: null, jitterMs: 0 });
        } else {
          const clampedMs = (seconds ?? 0) * 1000;
          const boundMs = Math.min(Math.max(clampedMs * 0.1, 1000), 60_000);
          expect(delayOf(decision) - (evidence?.jitterMs ?? 0)).toBe(clampedMs);
          expect(evidence?.jitterMs).toBeGreaterThanOrEqual(0);
          expect(evidence?.jitterMs).toBeLessThanOrEqual(boundMs);
        }
      }
    },
  );

  it.each(["Mon, 30 Nov 2026 11:58:00 GMT", "-5"])(
    "RETRY-5 %s on attempt 1 waits 4 to 6 s, never 0",
    (header) => {
      for (const random of [0, 1]) {
        expect(delayOf(run(answer(429, header), {}, CASE_POLICY, random))).toBe(random === 0 ? 4000 : 6000);
      }
    },
  );

  it("RETRY-5 a header of words gives a number, not NaN", () => {
    expect(delayOf(run(answer(429, "soon")))).toBe(5000);
    expect(delayOf(run(answer(429, "soon"), {}, CASE_POLICY, Number.NaN))).toBe(5000);
  });

  it.each(["9999999999", "86400", "Mon, 01 Mar 2060 00:00:00 GMT"])(
    "RETRY-6 %s is clamped and says so",
    (header) => {
      const decision = run(answer(429, header), {}, CASE_POLICY, 0);
      expect(delayOf(decision)).toBe(HOUR_MS);
      expect(decision.retryAfter).toMatchObject({ raw: header, clamped: "max", fallback: false });
      expect(decision.retryAfter?.askedMs).toBeGreaterThan(HOUR_MS);
    },
  );

  it("RETRY-6 an ask below the minimum is raised to it and says so", () => {
    const policy = resolvePolicy("routine", { retryAfter: { minMs: 30_000 } });
    const decision = run(answer(429, "2"), {}, policy, 0);
    expect(delayOf(decision)).toBe(30_000);
    expect(decision.retryAfter).toMatchObject({ askedMs: 2000, clamped: "min" });
    expect(delayOf(run(answer(500), {}, policy, 0))).toBe(30_000);
  });

  it("RETRY-4 503, 500, 408 and a retried rejection honour the header; a permanent answer only records it", () => {
    const patient = resolvePolicy("routine", { rejectionAttempts: 2 });
    for (const status of [503, 500, 408, 409, 425, 599]) {
      expect(delayOf(run(answer(status, "120"), {}, CASE_POLICY, 0))).toBe(120_000);
    }
    expect(delayOf(run(answer(404, "120"), {}, patient, 0))).toBe(120_000);
    expect(run(answer(404, "120"))).toMatchObject({
      to: "dead",
      retryAfter: { raw: "120", askedMs: 120_000 },
    });
    expect(run(answer(200, "120"))).toMatchObject({ to: "delivered", retryAfter: null, gate: null });
  });

  it("RETRY-4 a receiver whose clock is behind cannot make us send at once", () => {
    // Its own Date header said 11:55:00; the header is read against our database's time only.
    const decision = run(answer(429, "Mon, 30 Nov 2026 11:57:00 GMT"));
    expect(decision.retryAfter).toMatchObject({ readAs: "past", fallback: true });
    expect(delayOf(decision)).toBe(5000);
  });

  it("RETRY-7 stores no more than a bounded part of the header", () => {
    const decision = run(answer(429, "9".repeat(10_000)));
    expect(decision.retryAfter?.raw).toHaveLength(200);
    expect(delayOf(decision)).toBeLessThanOrEqual(HOUR_MS + 60_000);
  });
});

describe("throttles", () => {
  it("RETRY-3 twenty 429s and then a 200: delivered, 21 attempts, 20 throttles, no failure", () => {
    let state = FRESH;
    for (let time = 0; time < 20; time += 1) {
      const decision = run(answer(429, "3"), state);
      expect(decision).toMatchObject({ to: "delayed", reason: "rate_limited" });
      state = apply(state, decision);
    }
    const last = run(answer(200), state);
    expect(last.to).toBe("delivered");
    expect(apply(state, last)).toMatchObject({ attempts: 21, throttles: 20, failures: 0 });
  });

  it("RETRY-3 sums exactly the delays that 429s imposed and ends as expired only when they exceed the bound", () => {
    const sum = apply(FRESH, run(answer(429, "60"), {}, DEFAULTS, 0)).throttledMs;
    expect(sum).toBe(60_000);
    expect(run(answer(500)).counters.throttledMs).toBe(0);
    expect(run(answer(429, "3600"), { throttledMs: 72 * HOUR_MS }).to).toBe("delayed");
    const over = run(answer(429, "3600"), { throttledMs: 72 * HOUR_MS + 1 });
    expect(over).toMatchObject({ to: "dead", reason: "expired", gate: { why: "retry_after" } });
    expect(over.counters).toMatchObject({ attempts: 1, throttles: 1, throttledMs: 0 });
    expect(run(answer(200), { throttledMs: 99 * HOUR_MS }).to).toBe("delivered");
    expect(run(answer(503), { throttledMs: 99 * HOUR_MS })).toMatchObject({ to: "dead", reason: "expired" });
  });

  it("RETRY-3 without a header the delay grows with the throttles, not with the failures", () => {
    expect(delayOf(run(answer(429), { throttles: 2, failures: 7 }))).toBe(20_000);
    expect(delayOf(run(answer(500), { throttles: 9, failures: 0 }))).toBe(5000);
  });
});

describe("which answers are tried again", () => {
  it.each([408, 409, 425, 500, 501, 502, 503, 504, 505, 599])(
    "RETRY-8 %i is tried again and is a failure",
    (status) => {
      const decision = run(answer(status));
      expect(decision).toMatchObject({ to: "delayed", counters: { attempts: 1, failures: 1, throttles: 0 } });
    },
  );

  it.each([400, 401, 403, 404, 405, 413, 415, 422])(
    "RETRY-8 %i is dead as rejected after the first answer",
    (status) => {
      expect(run(answer(status))).toMatchObject({
        to: "dead",
        reason: "rejected",
        disableDestination: false,
      });
    },
  );

  it("RETRY-8 a policy of three rejections tries again twice", () => {
    const policy = resolvePolicy("routine", { rejectionAttempts: 3 });
    expect(run(answer(403), { rejections: 1, failures: 1 }, policy)).toMatchObject({
      to: "delayed",
      reason: "rejected",
    });
    expect(run(answer(403), { rejections: 2, failures: 2 }, policy)).toMatchObject({
      to: "dead",
      reason: "rejected",
    });
  });

  it("RETRY-8 501 and 505 are rejections when the policy says so", () => {
    const policy = resolvePolicy("routine", { permanentStatuses: [501, 505] });
    expect(run(answer(501), {}, policy)).toMatchObject({ to: "dead", reason: "rejected" });
    expect(run(answer(502), {}, policy).to).toBe("delayed");
  });

  it("RETRY-8 410 disables the destination; 3xx is dead as redirect", () => {
    expect(run(answer(410))).toMatchObject({ to: "dead", reason: "gone", disableDestination: true });
    for (const status of [301, 302, 304, 307]) {
      expect(run(answer(status))).toMatchObject({
        to: "dead",
        reason: "redirect",
        disableDestination: false,
      });
    }
  });

  it.each([
    RESET,
    { kind: "network", code: "ENOTFOUND", phase: "dns" },
    { kind: "timeout", phase: "body" },
  ] as const)("RETRY-10 %j is ambiguous: delayed by B(1), one failure, never delivered", (outcome) => {
    for (const [random, expected] of [
      [0, 4000],
      [1, 6000],
    ] as const) {
      const decision = run(outcome, {}, CASE_POLICY, random);
      expect(decision).toMatchObject({
        to: "delayed",
        delayMs: expected,
        outcomeClass: "ambiguous",
        gate: null,
      });
      expect(decision.counters).toMatchObject({ failures: 1, throttles: 0 });
    }
  });

  it("RETRY-10 a shutdown of ours is delayed without a counted failure, also as the eighth", () => {
    const decision = run({ kind: "shutdown" }, { failures: 7 });
    expect(decision).toMatchObject({ to: "delayed", reason: "shutdown", delayMs: 5000 });
    expect(decision.counters).toMatchObject({ attempts: 1, failures: 0 });
  });

  it.each([
    [{ kind: "blocked", address: "127.0.0.1" }, "blocked_address"],
    [{ kind: "bad_destination" }, "bad_destination"],
    [{ kind: "payload_erased" }, "payload_erased"],
    [{ kind: "config_error" }, "config_error"],
  ] as const)(
    "RETRY-9 ID-9 %j is dead at once, and no attempt is counted because no request was made",
    (outcome, reason) => {
      const decision = run(outcome);
      expect(decision).toMatchObject({ to: "dead", reason, gate: null, retryAfter: null });
      expect(decision.counters).toEqual({
        attempts: 0,
        failures: 0,
        rejections: 0,
        throttles: 0,
        throttledMs: 0,
      });
    },
  );
});

describe("failures and backoff", () => {
  it("RETRY-11 always 500: dead as attempts_exhausted at the eighth failure, throttles between do not count", () => {
    let state = FRESH;
    const seen: string[] = [];
    for (let time = 0; time < 40 && seen.at(-1) !== "dead"; time += 1) {
      const decision = run(answer(time % 2 === 0 ? 429 : 500), state);
      seen.push(decision.to);
      state = apply(state, decision);
    }
    expect(state).toMatchObject({ failures: 8, throttles: 8, attempts: 16 });
    expect(run(answer(500), { failures: 7 })).toMatchObject({ to: "dead", reason: "attempts_exhausted" });
    expect(run(answer(500), { failures: 6 }).to).toBe("delayed");
  });

  it("RETRY-11 a destination that dies with its eighth 503 is still gated by what the 503 asked", () => {
    expect(run(answer(503, "60"), { failures: 7 })).toMatchObject({
      to: "dead",
      gate: { why: "retry_after" },
    });
  });

  it.each([32, 64, 1100])("RETRY-5 attempt %i waits 720 to 1080 s: nothing overflows", (attempt) => {
    const many = resolvePolicy("routine", { maxFailures: 100 });
    const throttled = { throttles: attempt - 1, attempts: attempt - 1 };
    const failed = { failures: Math.min(attempt - 1, 98), attempts: attempt - 1 };
    for (const random of [0, 0.25, 1]) {
      for (const decision of [
        run(answer(429), throttled, many, random),
        run(answer(500), failed, many, random),
      ]) {
        expect(delayOf(decision)).toBeGreaterThanOrEqual(720_000);
        expect(delayOf(decision)).toBeLessThanOrEqual(1_080_000);
      }
    }
    expect(backoffMs(attempt, many.backoff)).toBe(900_000);
    expect(backoffMs(Number.MAX_SAFE_INTEGER, many.backoff)).toBe(900_000);
    expect(backoffMs(Number.NaN, many.backoff)).toBe(5000);
  });

  it("RETRY-5 doubles from 5 s to the cap of 900 s", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((n) => backoffMs(n, DEFAULTS.backoff) / 1000);
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
  });

  it.each([
    ["a reset", RESET, 4000],
    ["a 500", answer(500), 4000],
    ["a 429 without header", answer(429), 4000],
    ["a 429 that asks for 3 s", answer(429, "3"), 3000],
    ["a 503 that asks for 120 s", answer(503, "120"), 120_000],
  ] as const)(
    "RETRY-12 a thousand rows that end with %s wake at 500 or more distinct milliseconds",
    (_, outcome, leastMs) => {
      const random = seeded(11);
      const delays = Array.from({ length: 1000 }, () =>
        delayOf(decide(FRESH, outcome, DEFAULTS, { nowMs: NOW_MS, random })),
      );
      expect(new Set(delays).size).toBeGreaterThanOrEqual(500);
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(leastMs);
    },
  );

  it("RETRY-11 an empty schedule is dead after attempt 1; [0, 60] waits the minimum and then 60 s", () => {
    expect(run(answer(500), {}, resolvePolicy("routine", { scheduleMs: [] }))).toMatchObject({
      to: "dead",
      reason: "attempts_exhausted",
    });
    const policy = resolvePolicy("routine", { scheduleMs: [0, 60_000] });
    const first = run(answer(500), {}, policy, 0);
    expect(first).toMatchObject({
      to: "delayed",
      delayMs: 1000,
      retryAfter: { clamped: "min", fallback: true },
    });
    expect(delayOf(run(answer(500), {}, policy, 1))).toBeLessThanOrEqual(1200);
    expect(delayOf(run(answer(500), { failures: 1 }, policy))).toBe(60_000);
    expect(run(answer(500), { failures: 2 }, policy)).toMatchObject({
      to: "dead",
      reason: "attempts_exhausted",
    });
    expect(delayOf(run(answer(429), { throttles: 5 }, policy))).toBe(160_000);
  });
});

describe("gate of the destination", () => {
  it("FAIR-6 a 429, and a 503 with a usable Retry-After, shut the gate as long as the delivery itself waits", () => {
    for (const status of [429, 503]) {
      const decision = run(answer(status, "60"), {}, DEFAULTS, 0.7);
      expect(decision.gate).toEqual({ delayMs: delayOf(decision), why: "retry_after" });
      expect(decision.gate?.delayMs).toBeGreaterThanOrEqual(60_000);
    }
    expect(run(answer(503)).gate).toBeNull();
    expect(run(answer(503, "soon")).gate).toBeNull();
    expect(run(answer(500, "60")).gate).toBeNull();
    expect(run(RESET).gate).toBeNull();
  });

  it("FAIR-6 without Retry-After the gate counts the destination's gates, not the delivery's throttles", () => {
    const decision = run(answer(429), { throttles: 0, consecutiveGates: 3 });
    expect(decision.gate).toEqual({ delayMs: 40_000, why: "rate_limited" });
    expect(delayOf(decision)).toBe(5000);
    expect(gateDelayMs(0, DEFAULTS, () => 0)).toBe(4000);
    expect(gateDelayMs(5000, DEFAULTS, () => 1)).toBe(1_080_000);
  });
});

describe("preview", () => {
  it("RETRY-1 shows what the worker will do, step by step, until the delivery dies", () => {
    const steps = previewNextAttempts({ ...FRESH, attempts: 25, throttles: 20, failures: 5 }, DEFAULTS, 10);
    expect(steps.map((step) => [step.attempt, step.to, step.delayMs])).toEqual([
      [26, "delayed", 160_000],
      [27, "delayed", 320_000],
      [28, "dead", null],
    ]);
    expect(steps[0]).toMatchObject({ minDelayMs: 128_000, maxDelayMs: 192_000, failures: 6 });
    expect(steps[2]?.reason).toBe("attempts_exhausted");
  });

  it("RETRY-1 every decision lies inside the previewed range", () => {
    fc.assert(
      fc.property(fc.nat(6), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
        const [step] = previewNextAttempts({ ...FRESH, failures }, DEFAULTS, 1);
        const delayMs = delayOf(run(answer(500), { failures }, DEFAULTS, random));
        expect(delayMs).toBeGreaterThanOrEqual(step?.minDelayMs ?? Number.NaN);
        expect(delayMs).toBeLessThanOrEqual(step?.maxDelayMs ?? Number.NaN);
      }),
    );
    expect(previewNextAttempts(FRESH, DEFAULTS, 0)).toEqual([]);
  });
});

const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc
    .tuple(fc.integer({ min: 100, max: 999 }), fc.option(fc.oneof(fc.string(), fc.nat().map(String))))
    .map(([status, header]) => answer(status, header)),
  fc.constantFrom<Outcome>(RESET, { kind: "timeout" }, { kind: "shutdown" }, { kind: "payload_erased" }),
);
const anyState: fc.Arbitrary<RetryState> = fc.record({
  attempts: fc.nat(),
  failures: fc.nat(200),
  rejections: fc.nat(10),
  throttles: fc.nat(),
  throttledMs: fc.nat(),
  cycle: fc.integer({ min: 1, max: 9 }),
  consecutiveGates: fc.nat(),
});

describe("any decision", () => {
  it("RETRY-6 has a whole delay inside the bounds, a known reason and counters that never go down", () => {
    fc.assert(
      fc.property(anyState, anyOutcome, fc.double(), fc.double(), (state, outcome, nowMs, random) => {
        const finiteNow = Number.isFinite(nowMs) ? Math.abs(nowMs) % 4e12 : 0;
        const decision = decide(state, outcome, DEFAULTS, { nowMs: finiteNow, random: () => random });
        for (const delta of Object.values(decision.counters)) {
          expect(Number.isSafeInteger(delta) && delta >= 0).toBe(true);
        }
        for (const delayMs of [
          decision.gate?.delayMs,
          decision.to === "delayed" ? decision.delayMs : undefined,
        ]) {
          if (delayMs !== undefined) {
            expect(Number.isSafeInteger(delayMs)).toBe(true);
            expect(delayMs).toBeGreaterThanOrEqual(DEFAULTS.retryAfter.minMs);
            expect(delayMs).toBeLessThanOrEqual(DEFAULTS.retryAfter.maxMs + DEFAULTS.retryAfter.jitterCapMs);
          }
        }
        if (decision.to === "delayed") {
          expect(DELAY_REASONS).toContain(decision.reason);
        }
        if (decision.to === "dead") {
          expect(DEAD_REASONS).toContain(decision.reason);
        }
        const success = outcome.kind === "response" && outcome.status >= 200 && outcome.status <= 299;
        expect(decision.to === "delivered").toBe(success);
      }),
      { numRuns: 1000 },
    );
  });
});
