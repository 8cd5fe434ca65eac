import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AdaptiveState,
  afterBreaker,
  afterCleanRound,
  afterGate,
  afterTimeouts,
  drainGained,
  limitInForce,
  NO_ADAPTIVE_LIMIT,
  ROUND_MS,
  rateBound,
} from "./adaptive-limit.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 12, 0, 0);
const gateFacts = { cap: 20, inFlight: 12, startedMs: NOW_MS - 50, lastOpeningMs: null, nowMs: NOW_MS };

/** Clean rounds from a state until the limit ends; at most 100. */
function climb(from: AdaptiveState, cap: number): (number | null)[] {
  const limits: (number | null)[] = [];
  let state = from;
  let nowMs = NOW_MS;
  while (state.limit !== null && limits.length < 100) {
    nowMs += ROUND_MS;
    state = afterCleanRound(state, { cap, sinceMs: nowMs - ROUND_MS, successes: 1_000_000, nowMs });
    limits.push(state.limit);
  }
  return limits;
}

describe("adaptive limit", () => {
  it("FAIR-8 there is none while a destination gives no trouble: the cap is in force, and no round changes that", () => {
    expect(limitInForce(NO_ADAPTIVE_LIMIT, 10)).toBe(10);
    const round = { cap: 10, sinceMs: NOW_MS - 9_000, successes: 500, nowMs: NOW_MS };
    expect(afterCleanRound(NO_ADAPTIVE_LIMIT, round)).toBe(NO_ADAPTIVE_LIMIT);
  });

  it("FAIR-6 FAIR-8 behind a gate work begins with one at a time, and doubles up to half of what was in flight", () => {
    const state = afterGate(NO_ADAPTIVE_LIMIT, gateFacts);
    expect(state).toMatchObject({ limit: 1, safeLimit: 6, loweredAtMs: NOW_MS });
    expect(climb(state, 20)).toEqual([2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, null]);
  });

  it("FAIR-8 one cause counts once: requests from before the decrease, and siblings of the gate, lower nothing more", () => {
    const state = afterGate(NO_ADAPTIVE_LIMIT, gateFacts);
    expect(afterGate(state, { ...gateFacts, nowMs: NOW_MS + 5 })).toBe(state);
    const sibling = {
      ...gateFacts,
      startedMs: NOW_MS + 1,
      lastOpeningMs: NOW_MS + 60_000,
      nowMs: NOW_MS + 5,
    };
    expect(afterGate(state, sibling)).toBe(state);
    const timeouts = { cap: 20, drainGained: false, bound: null, nowMs: NOW_MS + 10_000 };
    expect(afterTimeouts(state, { ...timeouts, startedMs: NOW_MS - 1 })).toBe(state);
    const later = {
      ...gateFacts,
      startedMs: NOW_MS + 61_000,
      lastOpeningMs: NOW_MS + 60_000,
      nowMs: NOW_MS + 61_050,
    };
    expect(afterGate({ ...state, limit: 8 }, { ...later, inFlight: 8 })).toMatchObject({
      limit: 1,
      safeLimit: 4,
    });
  });

  it("FAIR-8 timeouts halve it, not while more is drained than before", () => {
    const timeouts = { cap: 16, startedMs: NOW_MS - 10_000, drainGained: false, bound: null, nowMs: NOW_MS };
    expect(afterTimeouts(NO_ADAPTIVE_LIMIT, timeouts)).toMatchObject({ limit: 8, safeLimit: 8 });
    expect(afterTimeouts(NO_ADAPTIVE_LIMIT, { ...timeouts, drainGained: true })).toBe(NO_ADAPTIVE_LIMIT);
    expect([drainGained(100, 109), drainGained(100, 111), drainGained(0, 50), drainGained(100, 0)]).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it("FAIR-9 where a rate is declared it begins below what that rate keeps in flight", () => {
    expect(rateBound(10, 500)).toBe(5);
    expect(rateBound(5, 10)).toBe(1);
    expect([rateBound(null, 500), rateBound(10, null)]).toEqual([null, null]);
    const timeouts = { cap: 50, startedMs: NOW_MS, drainGained: false, nowMs: NOW_MS };
    expect(afterTimeouts(NO_ADAPTIVE_LIMIT, { ...timeouts, bound: 5 }).limit).toBe(4);
    expect(afterTimeouts(NO_ADAPTIVE_LIMIT, { ...timeouts, bound: 1 }).limit).toBe(1);
    expect(afterTimeouts(NO_ADAPTIVE_LIMIT, { ...timeouts, bound: 90 }).limit).toBe(25);
  });

  it("FAIR-8 a round that is short, small, or begun under another limit raises nothing", () => {
    const state: AdaptiveState = { ...NO_ADAPTIVE_LIMIT, limit: 4, safeLimit: 4, changedAtMs: NOW_MS };
    const good = { cap: 20, sinceMs: NOW_MS, successes: 4, nowMs: NOW_MS + ROUND_MS };
    expect(afterCleanRound(state, good)).toMatchObject({ limit: 5, safeLimit: 4 });
    for (const bad of [{ successes: 3 }, { nowMs: NOW_MS + ROUND_MS - 1 }, { sinceMs: NOW_MS - 1 }]) {
      expect(afterCleanRound(state, { ...good, ...bad })).toBe(state);
    }
  });

  it("FAIR-8 behind a breaker it begins at 1 again and keeps the safe value", () => {
    expect(afterBreaker({ ...NO_ADAPTIVE_LIMIT, limit: 9, safeLimit: 7 }, 20, NOW_MS)).toMatchObject({
      limit: 1,
      safeLimit: 7,
    });
  });

  const anyState: fc.Arbitrary<AdaptiveState> = fc.record({
    limit: fc.option(fc.integer({ min: 1, max: 50 })),
    safeLimit: fc.option(fc.integer({ min: 1, max: 50 })),
    pinned: fc.boolean(),
    changedAtMs: fc.option(fc.integer({ min: NOW_MS - 5_000, max: NOW_MS })),
    loweredAtMs: fc.option(fc.integer({ min: NOW_MS - 5_000, max: NOW_MS })),
  });
  const cap = fc.integer({ min: 1, max: 60 });
  const when = fc.integer({ min: NOW_MS - 9_000, max: NOW_MS });

  it("FAIR-8 whatever happens: at least 1, never above the cap, and a pinned one stays as it is", () => {
    fc.assert(
      fc.property(anyState, cap, when, fc.nat(60), fc.boolean(), (state, limit, startedMs, n, gained) => {
        const results = [
          afterGate(state, { cap: limit, inFlight: n, startedMs, lastOpeningMs: null, nowMs: NOW_MS }),
          afterTimeouts(state, {
            cap: limit,
            startedMs,
            drainGained: gained,
            bound: n || null,
            nowMs: NOW_MS,
          }),
          afterCleanRound(state, { cap: limit, sinceMs: startedMs, successes: n, nowMs: NOW_MS }),
          afterBreaker(state, limit, NOW_MS),
        ];
        for (const result of results) {
          if (state.pinned) expect(result).toBe(state);
          expect(limitInForce(result, limit)).toBeGreaterThanOrEqual(1);
          expect(limitInForce(result, limit)).toBeLessThanOrEqual(limit);
          if (result.limit !== null) expect(Number.isInteger(result.limit) && result.limit >= 1).toBe(true);
        }
      }),
    );
  });

  it("FAIR-8 from any limit it reaches any cap within 60 clean rounds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.integer({ min: 1, max: 10_000 }),
        (most, safeLimit) => {
          const limits = climb({ ...NO_ADAPTIVE_LIMIT, limit: 1, safeLimit }, most);
          expect(limits.at(-1)).toBeNull();
          expect(limits.length).toBeLessThanOrEqual(60);
        },
      ),
    );
  });
});
