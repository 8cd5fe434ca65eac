import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LANES, LIVE_STATES } from "./delivery.ts";
import {
  type AgeRow,
  emptyQueueAge,
  firstAttemptLatencyMs,
  formatAge,
  formatLength,
  HELD_REASONS,
  lagAtMs,
  mergeQueueAge,
  summarizeQueueAge,
} from "./queue-age.ts";

const NOW_MS = Date.parse("2026-11-30T12:00:00Z");
const HOUR_MS = 3_600_000;

function row(change: Partial<AgeRow> = {}): AgeRow {
  return {
    state: "ready",
    lane: "first",
    attemptsWithOutcome: 0,
    dueMs: NOW_MS,
    createdMs: NOW_MS - 5 * HOUR_MS,
    gateUntilMs: null,
    tenantPaused: false,
    destinationPaused: false,
    destinationDisabled: false,
    regionDraining: false,
    leaseUntilMs: null,
    ...change,
  };
}

function ages(...rows: AgeRow[]) {
  return summarizeQueueAge(rows, NOW_MS);
}

describe("queue age", () => {
  it("SIG-5 one row due in 10 h and created 5 h ago: lag 0, first-attempt age 0, delayed 1", () => {
    const planned = ages(row({ state: "delayed", dueMs: NOW_MS + 10 * HOUR_MS }));
    expect(planned).toMatchObject({ firstAttemptAgeMs: 0, delayed: 1, gated: 0 });
    expect(planned.dueUnclaimed).toEqual({ count: 0, oldestMs: 0 });
    expect(planned.held.count).toBe(0);
  });

  it("SIG-8 ten rows due for an hour show an hour; a drained queue shows 0, never null", () => {
    const late = ages(...Array.from({ length: 10 }, (_, i) => row({ dueMs: NOW_MS - HOUR_MS + i })));
    expect(late).toMatchObject({
      firstAttemptAgeMs: HOUR_MS,
      dueUnclaimed: { count: 10, oldestMs: HOUR_MS },
      ready: 10,
    });
    expect(ages()).toEqual(emptyQueueAge());
    expect(emptyQueueAge()).toMatchObject({ firstAttemptAgeMs: 0, dueUnclaimed: { count: 0, oldestMs: 0 } });
  });

  it("SIG-4 a retry's lag counts from its due time, not from its creation, and is no first-attempt age", () => {
    const retry = row({ state: "delayed", lane: "retry", attemptsWithOutcome: 1, dueMs: NOW_MS - 3000 });
    expect(ages(retry)).toMatchObject({ firstAttemptAgeMs: 0, dueUnclaimed: { count: 1, oldestMs: 3000 } });
    expect(lagAtMs(retry, NOW_MS)).toBe(3000);
    expect(firstAttemptLatencyMs(NOW_MS + 250, NOW_MS)).toBe(250);
    expect(firstAttemptLatencyMs(NOW_MS - 1, NOW_MS)).toBe(0);
  });

  it("LEASE-3 a leased row counts in first-attempt age until an outcome is stored, also after a lost lease", () => {
    const dueMs = NOW_MS - 40_000;
    const leased = ages(row({ state: "leased", dueMs, leaseUntilMs: NOW_MS + 1 }));
    expect(leased).toMatchObject({ firstAttemptAgeMs: 40_000, inFlight: 1, expiredLeases: 0 });
    expect(leased.dueUnclaimed.count).toBe(0);
    const lost = ages(row({ state: "leased", dueMs, leaseUntilMs: NOW_MS }));
    expect(lost).toMatchObject({ firstAttemptAgeMs: 40_000, inFlight: 1, expiredLeases: 1 });
    const recovered = row({ state: "delayed", dueMs: NOW_MS - 1000, firstDueMs: dueMs });
    expect(ages(recovered)).toMatchObject({
      firstAttemptAgeMs: 40_000,
      dueUnclaimed: { count: 1, oldestMs: 1000 },
    });
    expect(ages(row({ state: "leased", dueMs, attemptsWithOutcome: 1 })).firstAttemptAgeMs).toBe(0);
  });

  it("FAIR-6 behind a shut gate nothing is late; when it opens lateness counts from the opening", () => {
    const dueMs = NOW_MS - HOUR_MS;
    const shut = ages(row({ dueMs, gateUntilMs: NOW_MS + 60_000 }));
    expect(shut).toMatchObject({ dueUnclaimed: { count: 0, oldestMs: 0 }, gated: 1, held: { count: 0 } });
    const open = ages(row({ dueMs, gateUntilMs: NOW_MS - 2000 }));
    expect(open).toMatchObject({ dueUnclaimed: { count: 1, oldestMs: 2000 }, gated: 0 });
    expect(ages(row({ dueMs, gateUntilMs: NOW_MS - 2 * HOUR_MS })).dueUnclaimed.oldestMs).toBe(HOUR_MS);
    // The customer waits for the first attempt all the same.
    expect(shut.firstAttemptAgeMs).toBe(HOUR_MS);
  });

  it.each([
    [{ tenantPaused: true }, "tenant_paused"],
    [{ destinationPaused: true }, "destination_paused"],
    [{ destinationDisabled: true }, "destination_disabled"],
    [{ regionDraining: true }, "region_draining"],
    [{ tenantPaused: true, destinationPaused: true, destinationDisabled: true }, "tenant_paused"],
    [{ tenantPaused: true, regionDraining: true }, "region_draining"],
    [{ destinationPaused: true, destinationDisabled: true }, "destination_paused"],
  ] as const)(
    "SIG-1 work held by %j stands apart as %s, with its own age, and pages nobody",
    (facts, reason) => {
      const held = ages(row({ ...facts, dueMs: NOW_MS - HOUR_MS }), row({ dueMs: NOW_MS - 1000 }));
      expect(held.held).toMatchObject({ count: 1, oldestMs: HOUR_MS });
      expect(held.held.byReason[reason]).toBe(1);
      expect(held).toMatchObject({
        firstAttemptAgeMs: 1000,
        dueUnclaimed: { count: 1, oldestMs: 1000 },
        ready: 2,
      });
    },
  );

  it("SIG-1 of a paused tenant, what is not due is not held, what waits behind a gate is, and nothing pages", () => {
    const leased = row({
      tenantPaused: true,
      state: "leased",
      leaseUntilMs: NOW_MS + 1,
      dueMs: NOW_MS - 500,
    });
    const planned = row({ tenantPaused: true, dueMs: NOW_MS + 1 });
    const gated = row({ tenantPaused: true, dueMs: NOW_MS - 700, gateUntilMs: NOW_MS + 1 });
    const all = ages(leased, planned, gated);
    expect(all).toMatchObject({
      held: { count: 1, oldestMs: 700 },
      inFlight: 1,
      gated: 0,
      firstAttemptAgeMs: 0,
    });
  });

  it("DLQ-8 a replayed row is no first attempt, even when it never made a request", () => {
    const replayed = row({ state: "delayed", lane: "replay", dueMs: NOW_MS - HOUR_MS });
    expect(ages(replayed)).toMatchObject({
      firstAttemptAgeMs: 0,
      dueUnclaimed: { count: 1, oldestMs: HOUR_MS },
    });
  });

  const near = fc.integer({ min: NOW_MS - HOUR_MS, max: NOW_MS + HOUR_MS });
  const anyRow: fc.Arbitrary<AgeRow> = fc.record({
    state: fc.constantFrom(...LIVE_STATES),
    lane: fc.constantFrom(...LANES),
    attemptsWithOutcome: fc.nat(2),
    dueMs: near,
    firstDueMs: fc.option(near),
    createdMs: near,
    gateUntilMs: fc.option(near),
    tenantPaused: fc.boolean(),
    destinationPaused: fc.boolean(),
    destinationDisabled: fc.boolean(),
    regionDraining: fc.boolean(),
    leaseUntilMs: fc.option(near),
  });

  it("SIG-8 each row is counted once, ages are never negative, and created-at never matters", () => {
    fc.assert(
      fc.property(fc.array(anyRow, { maxLength: 30 }), (rows) => {
        const all = ages(...rows);
        expect(all.ready + all.delayed + all.inFlight).toBe(rows.length);
        expect(all.expiredLeases).toBeLessThanOrEqual(all.inFlight);
        expect(all.dueUnclaimed.count + all.held.count + all.gated).toBeLessThanOrEqual(
          all.ready + all.delayed,
        );
        const byReason = HELD_REASONS.reduce((sum, reason) => sum + all.held.byReason[reason], 0);
        expect(byReason).toBe(all.held.count);
        for (const ageMs of [all.firstAttemptAgeMs, all.dueUnclaimed.oldestMs, all.held.oldestMs]) {
          expect(ageMs).toBeGreaterThanOrEqual(0);
          expect(ageMs).toBeLessThanOrEqual(HOUR_MS);
        }
        expect(ages(...rows.map((item) => ({ ...item, createdMs: 0 })))).toEqual(all);
      }),
    );
  });

  it("SIG-8 the summary of two sets is the merge of their summaries", () => {
    fc.assert(
      fc.property(fc.array(anyRow), fc.array(anyRow), (a, b) => {
        expect(mergeQueueAge(ages(...a), ages(...b))).toEqual(ages(...a, ...b));
      }),
    );
  });
});

describe("ages for people", () => {
  it.each([
    [0, "0 s"],
    [-5, "0 s"],
    [35.9, "35 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [59_999, "59 s"],
    [60_000, "1 m 0 s"],
    [372_000, "6 m 12 s"],
    [3_599_999, "59 m 59 s"],
    [11_100_000, "3 h 5 m"],
    [86_399_999, "23 h 59 m"],
    [187_200_000, "2 d 4 h"],
    [null, "no data"],
    [undefined, "no data"],
    [Number.NaN, "no data"],
  ])("SIG-5 %s ms reads %s; missing data is not 0", (ms, text) => {
    expect(formatAge(ms)).toBe(text);
  });

  it.each([
    [120_000, "2 m"],
    [5_000, "5 s"],
    [86_400_000, "1 d"],
    [5_400_000, "1 h 30 m"],
    [250, "250 ms"],
  ])("a length of %s ms that was chosen reads %s", (ms, text) => {
    expect(formatLength(ms)).toBe(text);
  });
});
