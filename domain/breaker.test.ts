import { describe, expect, it } from "vitest";
import {
  afterFailures,
  afterReport,
  BREAKER_FAILURES,
  BREAKER_LONGEST_MS,
  CLOSED_BREAKER,
  DISABLE_AFTER_MS,
  type FailureRow,
  healthSign,
  openForMs,
  shouldDisable,
} from "./breaker.ts";
import type { Outcome } from "./outcome.ts";
import { DEFAULT_POLICY } from "./policy.ts";

const NOW_MS = Date.UTC(2026, 10, 30, 12, 0, 0);
const HOUR_MS = 3_600_000;
const policy = DEFAULT_POLICY.routine;

const status = (code: number): Outcome => ({
  kind: "response",
  status: code,
  retryAfterHeader: null,
  durationMs: 5,
});
const downs = (n: number, firstDownMs = NOW_MS - 40_000, lastDownStartedMs = NOW_MS) => ({
  aliveAtMs: null,
  downs: n,
  firstDownMs,
  lastDownStartedMs,
});
const answer = (aliveAtMs: number) => ({ aliveAtMs, downs: 0, firstDownMs: null, lastDownStartedMs: null });

describe("what an outcome says of its destination", () => {
  it("fault 81: 429 is an answer and no failure; 4xx is an answer; 5xx, timeouts and network errors are none", () => {
    const signs = [200, 204, 404, 410, 302, 429, 408, 500, 503, 599].map((code) =>
      healthSign(status(code), policy),
    );
    expect(signs).toEqual([
      "success",
      "success",
      "refused",
      "refused",
      "refused",
      "limited",
      "refused",
      "down",
      "down",
      "down",
    ]);
    expect(healthSign({ kind: "timeout" }, policy)).toBe("down");
    expect(healthSign({ kind: "network", code: "ECONNREFUSED", phase: "connect" }, policy)).toBe("down");
    expect(healthSign(status(501), { ...policy, permanentStatuses: [501] })).toBe("down");
  });

  it("says nothing where no request was made, where we cut it off, or where a kept connection had died (fault 70)", () => {
    const silent: Outcome[] = [
      { kind: "shutdown" },
      { kind: "payload_erased" },
      { kind: "config_error" },
      { kind: "bad_destination" },
      { kind: "blocked", address: "10.0.0.1" },
      { kind: "network", code: "ECONNRESET", phase: "headers", keptConnection: true },
    ];
    for (const outcome of silent) expect(healthSign(outcome, policy)).toBe("none");
  });
});

describe("the breaker", () => {
  it("opens with the twentieth request in a row without an answer, not before thirty seconds", () => {
    const almost = afterReport(CLOSED_BREAKER, downs(BREAKER_FAILURES - 1), NOW_MS, 0.5);
    expect(almost.breaker).toBe("closed");
    expect(afterReport(almost, downs(1), NOW_MS, 0.5)).toMatchObject({
      breaker: "open",
      opens: 1,
      untilMs: NOW_MS + 5_000,
    });
    expect(afterReport(CLOSED_BREAKER, downs(500, NOW_MS - 29_999), NOW_MS, 0.5).breaker).toBe("closed");
  });

  it("starts anew with every answer: 19 failures and an answer in turns never open it", () => {
    let state = CLOSED_BREAKER;
    for (let turn = 0; turn < 50; turn += 1) {
      const atMs = NOW_MS + turn * 1_000;
      state = afterReport(state, downs(19, atMs - 900), atMs, 0.5);
      expect(state.breaker).toBe("closed");
      state = afterReport(state, answer(atMs + 10), atMs + 10, 0.5);
    }
    expect(state).toEqual(CLOSED_BREAKER);
  });

  it("stays open for longer with each probe that fails, and closes with an answer", () => {
    let state = afterReport(CLOSED_BREAKER, downs(20), NOW_MS, 0.5);
    const lasted: number[] = [];
    for (let probe = 0; probe < 9; probe += 1) {
      const atMs = state.untilMs ?? 0;
      state = afterReport(state, downs(1, atMs, atMs), atMs, 0.5);
      lasted.push((state.untilMs ?? 0) - atMs);
    }
    expect(lasted).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000]);
    expect(afterReport(state, answer(state.untilMs ?? 0), NOW_MS, 0.5)).toEqual(CLOSED_BREAKER);
  });

  it("is moved neither by what was on its way when it opened, nor by an answer from before the row", () => {
    const open = afterReport(CLOSED_BREAKER, downs(20), NOW_MS, 0.5);
    expect(afterReport(open, downs(7), NOW_MS + 100, 0.5)).toMatchObject({
      opens: 1,
      untilMs: open.untilMs,
      downInRow: 27,
    });
    expect(afterReport(open, answer(NOW_MS - 40_001), NOW_MS, 0.5)).toBe(open);
  });

  it("never overflows", () => {
    for (const opens of [1, 31, 32, 64, 1_100, 1e9]) {
      expect(openForMs(opens, 0.5)).toBeLessThanOrEqual(BREAKER_LONGEST_MS);
      expect(openForMs(opens, 0)).toBeGreaterThan(0);
    }
  });
});

describe("auto-disable", () => {
  const failed = (failures: number, firstFailureMs: number) => ({
    succeededAtMs: null,
    failures,
    firstFailureMs,
  });
  const succeeded = (succeededAtMs: number) => ({ succeededAtMs, failures: 0, firstFailureMs: null });
  const none: FailureRow = { failures: 0, sinceMs: null };

  it("fault 81: 20 failures with no success between, the first of them a day old", () => {
    const row = afterFailures(none, failed(20, NOW_MS - DISABLE_AFTER_MS), false);
    expect(shouldDisable(row, NOW_MS)).toBe(true);
    expect(shouldDisable(row, NOW_MS - 1)).toBe(false);
    expect(shouldDisable({ ...row, failures: 19 }, NOW_MS)).toBe(false);
  });

  it("fault 81: 4 failures and 1 success in turns never do; 20 failures in one second do not; two in parallel are two", () => {
    let row = none;
    for (let hour = 0; hour < 100; hour += 1) {
      row = afterFailures(row, failed(4, NOW_MS + hour * HOUR_MS), false);
      expect(shouldDisable(row, NOW_MS + hour * HOUR_MS)).toBe(false);
      row = afterFailures(row, succeeded(NOW_MS + hour * HOUR_MS + 1), false);
    }
    expect(row).toEqual(none);
    expect(shouldDisable(afterFailures(none, failed(20, NOW_MS - 1_000), false), NOW_MS)).toBe(false);
    const two = afterFailures(afterFailures(none, failed(1, NOW_MS), false), failed(1, NOW_MS), false);
    expect(two).toEqual({ failures: 2, sinceMs: NOW_MS });
  });

  it("does not count what comes in for a destination that is disabled, nor forget a row for a success before it", () => {
    expect(afterFailures(none, failed(5, NOW_MS), true)).toEqual(none);
    const row = afterFailures(none, failed(5, NOW_MS), false);
    expect(afterFailures(row, succeeded(NOW_MS - 1), false)).toBe(row);
  });
});
