import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  availableTokens,
  intervalMs,
  NEVER_SENT_TAT_MS,
  nextTokenAtMs,
  RATE_AHEAD_MS,
  type RateLimit,
  spend,
  takeTokens,
} from "./rate.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 12, 0, 0);
const limits: fc.Arbitrary<RateLimit> = fc.record({
  ratePerSecond: fc.constantFrom(1 / 60, 0.1, 1 / 3, 1, 3, 5, 7, 25, 1000),
  burst: fc.integer({ min: 1, max: 20 }),
});

/** Takes what it may at each step, at most `wanted`, and returns the start times. */
function run(limit: RateLimit, steps: readonly { waitMs: number; wanted: number }[]): number[] {
  const starts: number[] = [];
  let nowMs = NOW_MS;
  let tatMs = NEVER_SENT_TAT_MS;
  for (const { waitMs, wanted } of steps) {
    nowMs += waitMs;
    const n = Math.min(wanted, availableTokens(tatMs, limit, nowMs));
    if (n > 0) {
      tatMs = spend(tatMs, limit, nowMs, n);
      starts.push(...Array.from({ length: n }, () => nowMs));
    }
  }
  return starts;
}

describe("rate (GCRA)", () => {
  it("FAIR-1 never starts more than burst + rate x t requests in any window t", () => {
    const steps = fc.array(
      fc.record({ waitMs: fc.oneof(fc.nat(50), fc.nat(5000)), wanted: fc.integer({ min: 1, max: 30 }) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(limits, steps, (limit, script) => {
        const starts = run(limit, script);
        for (const [from, first] of starts.entries()) {
          for (let to = from; to < starts.length; to += 1) {
            const windowMs = (starts[to] ?? 0) - first;
            // A thousandth of a request covers the rounding of floating point at today's timestamps.
            const allowed = limit.burst + (limit.ratePerSecond * windowMs) / 1000 + 0.001;
            expect(to - from + 1).toBeLessThanOrEqual(allowed);
          }
        }
      }),
    );
  });

  it("FAIR-1 5 a second with burst 1: one at once, then one every 200 ms, and no more in 10 s than 51", () => {
    const starts = run(
      { ratePerSecond: 5, burst: 1 },
      Array.from({ length: 10_001 }, (_, i) => ({ waitMs: i ? 1 : 0, wanted: 9 })),
    );
    expect(starts).toHaveLength(51);
    expect(starts.slice(0, 3).map((at) => at - NOW_MS)).toEqual([0, 200, 400]);
  });

  it("FAIR-1 one a minute lets one of five go in the first minute", () => {
    const limit = { ratePerSecond: 1 / 60, burst: 1 };
    const tatMs = spend(NEVER_SENT_TAT_MS, limit, NOW_MS, 1);
    expect(availableTokens(tatMs, limit, NOW_MS + 59_999)).toBe(0);
    expect(availableTokens(tatMs, limit, NOW_MS + 60_000)).toBe(1);
  });

  it("FAIR-1 loses nothing: a destination that is always asked reaches its rate", () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 40 }), (limit, count) => {
        let tatMs = NEVER_SENT_TAT_MS;
        let nowMs = NOW_MS;
        for (let sent = 0; sent < count; sent += 1) {
          nowMs = nextTokenAtMs(tatMs, limit, nowMs);
          expect(availableTokens(tatMs, limit, nowMs)).toBeGreaterThanOrEqual(1);
          tatMs = spend(tatMs, limit, nowMs, 1);
        }
        const fullSpeedMs = Math.max(0, count - limit.burst) * intervalMs(limit);
        expect(Math.abs(nowMs - NOW_MS - fullSpeedMs)).toBeLessThan(1);
      }),
    );
  });

  it("FAIR-1 says the exact moment of the next token: nothing before it, one at it", () => {
    fc.assert(
      fc.property(limits, fc.nat(60_000), fc.integer({ min: 1, max: 20 }), (limit, laterMs, wanted) => {
        const n = Math.min(wanted, limit.burst);
        const tatMs = spend(NEVER_SENT_TAT_MS, limit, NOW_MS, n);
        const nowMs = NOW_MS + laterMs;
        const atMs = nextTokenAtMs(tatMs, limit, nowMs);
        expect(atMs).toBeGreaterThanOrEqual(nowMs);
        expect(atMs > nowMs).toBe(availableTokens(tatMs, limit, nowMs) === 0);
        expect(availableTokens(tatMs, limit, atMs)).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  it("FAIR-1 a full burst comes back after a rest, and never more than that", () => {
    const limit = { ratePerSecond: 5, burst: 3 };
    const tatMs = spend(NEVER_SENT_TAT_MS, limit, NOW_MS, 3);
    expect(availableTokens(tatMs, limit, NOW_MS)).toBe(0);
    expect([200, 400, 600, 86_400_000].map((ms) => availableTokens(tatMs, limit, NOW_MS + ms))).toEqual([
      1, 2, 3, 3,
    ]);
  });

  it("FAIR-7 a raised rate counts at once, also when the old one had spent far ahead", () => {
    const slowTatMs = spend(NEVER_SENT_TAT_MS, { ratePerSecond: 1 / 60, burst: 1 }, NOW_MS, 1);
    const fast = { ratePerSecond: 10, burst: 1 };
    expect(nextTokenAtMs(slowTatMs, fast, NOW_MS + 1000)).toBe(NOW_MS + 1100 + RATE_AHEAD_MS);
  });

  it("FAIR-7 a caller that stores what it gets has its token after a raise, however often it asks", () => {
    let tatMs = takeTokens(NEVER_SENT_TAT_MS, { ratePerSecond: 1 / 60, burst: 1 }, NOW_MS, 1).tatMs;
    const fast = { ratePerSecond: 10, burst: 1 };
    const takenAt: number[] = [];
    for (let ms = 1000; ms < 1500; ms += 1) {
      const answer = takeTokens(tatMs, fast, NOW_MS + ms, 1);
      tatMs = answer.tatMs;
      if (answer.taken > 0) takenAt.push(ms);
    }
    expect(takenAt).toEqual([1100, 1200, 1300, 1400]);
  });
});

describe("tokens that are taken before they are there", () => {
  const steps = fc.array(
    fc.record({ waitMs: fc.oneof(fc.nat(30), fc.nat(3000)), wanted: fc.integer({ min: 1, max: 30 }) }),
    { maxLength: 60 },
  );

  it("FAIR-1 let no request start early: never more than burst + rate x t starts in any window t", () => {
    fc.assert(
      fc.property(limits, steps, (limit, script) => {
        const starts: number[] = [];
        let nowMs = NOW_MS;
        let tatMs = NEVER_SENT_TAT_MS;
        for (const { waitMs, wanted } of script) {
          nowMs += waitMs;
          const answer = takeTokens(tatMs, limit, nowMs, wanted);
          tatMs = answer.tatMs;
          for (let n = 0; n < answer.taken; n += 1) {
            const startMs = Math.max(nowMs, answer.firstTokenMs + n * answer.gapMs);
            expect(startMs - nowMs).toBeLessThanOrEqual(RATE_AHEAD_MS + 0.001 * answer.gapMs);
            starts.push(startMs);
          }
        }
        starts.sort((a, b) => a - b);
        for (const [from, first] of starts.entries()) {
          for (let to = from; to < starts.length; to += 1) {
            const allowed = limit.burst + (limit.ratePerSecond * ((starts[to] ?? 0) - first)) / 1000 + 0.001;
            expect(to - from + 1).toBeLessThanOrEqual(allowed);
          }
        }
      }),
    );
  });

  it("FAIR-1 lose nothing to a caller that comes a few milliseconds before or after the moment", () => {
    const limit = { ratePerSecond: 20, burst: 1 };
    const offsets = fc.array(fc.integer({ min: -RATE_AHEAD_MS, max: 0 }), { minLength: 100, maxLength: 100 });
    fc.assert(
      fc.property(offsets, (earlyMs) => {
        let tatMs = takeTokens(NEVER_SENT_TAT_MS, limit, NOW_MS, 1).tatMs;
        let lastStartMs = NOW_MS;
        for (const early of earlyMs) {
          const askMs = nextTokenAtMs(tatMs, limit, lastStartMs) + early;
          const answer = takeTokens(tatMs, limit, askMs, 1);
          expect(answer.taken).toBe(1);
          expect(answer.firstTokenMs).toBeCloseTo(lastStartMs + 50, 6);
          lastStartMs = answer.firstTokenMs;
          tatMs = answer.tatMs;
        }
      }),
    );
  });
});
