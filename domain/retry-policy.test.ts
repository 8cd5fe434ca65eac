import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolvePolicy } from "./policy.ts";
import {
  answer,
  apply,
  CASE_POLICY,
  DEFAULTS,
  delayOf,
  FRESH,
  HOUR_MS,
  RESET,
  run,
} from "./testdata/decide-once.ts";

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
