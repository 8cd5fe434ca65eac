import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEAD_REASONS, DELAY_REASONS } from "./delivery.ts";
import type { Outcome } from "./outcome.ts";
import { resolvePolicy } from "./policy.ts";
import {
  backoffMs,
  type Decision,
  decide,
  gateDelayMs,
  type PreviewKind,
  previewNextAttempts,
  type RetryState,
} from "./retry-policy.ts";
import {
  answer,
  apply,
  DEFAULTS,
  delayOf,
  FRESH,
  NOW_MS,
  RESET,
  run,
  seeded,
} from "./testdata/decide-once.ts";

const HOUR_MS = 3_600_000;

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

  it("SIG-9 equals what decide gives, step by step, for failures and for 429s, from any counters", () => {
    const outcomes: Record<PreviewKind, Outcome> = {
      failed: { kind: "network", code: "ECONNRESET", phase: "headers" },
      throttled: answer(429),
    };
    const counters = fc.record({
      failures: fc.nat(7),
      throttles: fc.nat(20),
      throttledMs: fc.nat(300 * HOUR_MS),
    });
    fc.assert(
      fc.property(counters, fc.constantFrom<PreviewKind>("failed", "throttled"), (given, kind) => {
        let state: RetryState = { ...FRESH, ...given };
        for (const step of previewNextAttempts(state, DEFAULTS, 10, kind)) {
          const [low, middle, high] = [0, 0.5, 1].map((random) =>
            run(outcomes[kind], state, DEFAULTS, random),
          );
          expect(step.to).toBe(middle?.to);
          expect([step.minDelayMs, step.delayMs, step.maxDelayMs]).toEqual(
            [low, middle, high].map((one) => (one?.to === "delayed" ? one.delayMs : null)),
          );
          expect(step.maxGateMs).toBe(high?.gate?.delayMs ?? null);
          expect(step.reason).toBe(middle?.to === "dead" ? middle.reason : null);
          state = {
            ...apply(state, middle as Decision),
            consecutiveGates: (state.consecutiveGates ?? 0) + (kind === "throttled" ? 1 : 0),
          };
          expect([step.attempt, step.failures]).toEqual([state.attempts, state.failures]);
        }
      }),
    );
  });

  it("RETRY-3 429s for ever count no failure and end as expired", () => {
    const steps = previewNextAttempts(
      { ...FRESH, throttles: 400, throttledMs: 72 * HOUR_MS - 1 },
      DEFAULTS,
      10,
      "throttled",
    );
    expect(steps.map(({ to, reason, failures }) => [to, reason, failures])).toEqual([
      ["delayed", null, 0],
      ["dead", "expired", 0],
    ]);
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
