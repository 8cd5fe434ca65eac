/** The stored rules of receiver health are those of domain/adaptive-limit.ts and domain/breaker.ts, for any state and report. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdaptiveState, afterCleanRound, afterTimeouts, rateBound } from "#domain/adaptive-limit.ts";
import { afterFailures, afterReport, type BreakerState } from "#domain/breaker.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { databaseNowMs, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import {
  stateOf as readState,
  type StateRow,
  report as tell,
  setState as writeState,
} from "#tests/support/receiver-health/sql.ts";
import type { HealthReport } from "./note-health.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const stateOf = (place: Place) => readState(database.pool, place);
const setState = (place: Place, columns: string, values?: unknown[]) =>
  writeState(database.pool, place, columns, values);
const report = (place: Place, what: Partial<HealthReport>, random?: number) =>
  tell(database.pool, place, what, random);

describe("the stored rules are those of the domain", () => {
  const NEAR_MS = fc.integer({ min: -90_000, max: 0 });
  const anyState = fc.record({
    limit: fc.option(fc.integer({ min: 1, max: 30 })),
    safeLimit: fc.option(fc.integer({ min: 1, max: 30 })),
    pinned: fc.boolean(),
    changedAgoMs: fc.option(NEAR_MS),
    loweredAgoMs: fc.option(NEAR_MS),
    open: fc.boolean(),
    untilMs: fc.integer({ min: -5_000, max: 60_000 }),
    opens: fc.nat(9),
    downInRow: fc.nat(25),
    downAgoMs: fc.option(NEAR_MS),
    failures: fc.nat(25),
    failingAgoMs: fc.option(NEAR_MS),
  });
  const anyReport = fc.record({
    succeededMs: fc.option(NEAR_MS),
    failures: fc.nat(4),
    firstFailureMs: NEAR_MS,
    aliveMs: fc.option(NEAR_MS),
    downs: fc.nat(4),
    firstDownMs: NEAR_MS,
    lastDownStartedMs: NEAR_MS,
    timeoutMs: fc.option(NEAR_MS),
    gained: fc.boolean(),
    serviceMs: fc.option(fc.integer({ min: 1, max: 3_000 })),
    roundMs: fc.option(NEAR_MS),
    roundSuccesses: fc.nat(40),
    cap: fc.integer({ min: 1, max: 40 }),
    rate: fc.option(fc.integer({ min: 1, max: 60 })),
    random: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });

  it("FAIR-8 fault 81: for any state and any report", async () => {
    await fc.assert(
      fc.asyncProperty(anyState, anyReport, async (was, seen) => {
        const place = await makePlace(database.pool, {
          destinationCap: seen.cap,
          ...(seen.rate === null ? {} : { ratePerSecond: seen.rate }),
        });
        const nowMs = await databaseNowMs(database.pool);
        const at = (agoMs: number | null) => (agoMs === null ? null : nowMs + agoMs);
        await setState(
          place,
          `adaptive_limit = $2, adaptive_safe_limit = $3, adaptive_pinned = $4, adaptive_changed_at = to_timestamp($5::float8 / 1000),
           adaptive_lowered_at = to_timestamp($6::float8 / 1000), breaker = $7, breaker_until = to_timestamp($8::float8 / 1000),
           breaker_opens = $9, down_in_row = $10, down_since = to_timestamp($11::float8 / 1000), failures_since_success = $12,
           failing_since = to_timestamp($13::float8 / 1000)`,
          [
            was.limit,
            was.safeLimit,
            was.pinned,
            at(was.changedAgoMs),
            at(was.loweredAgoMs),
            was.open ? "open" : "closed",
            was.open ? at(was.untilMs) : null,
            was.open ? was.opens + 1 : 0,
            was.downInRow,
            at(was.downAgoMs),
            was.failures,
            at(was.failingAgoMs),
          ],
        );
        const before = await stateOf(place);
        await report(
          place,
          {
            failures: seen.failures,
            first_failure_ms: nowMs + seen.firstFailureMs,
            downs: seen.downs,
            first_down_ms: nowMs + seen.firstDownMs,
            last_down_started_ms: nowMs + seen.lastDownStartedMs,
            drain_gained: seen.gained,
            ...(seen.succeededMs === null ? {} : { succeeded_ms: nowMs + seen.succeededMs }),
            ...(seen.aliveMs === null ? {} : { alive_ms: nowMs + seen.aliveMs }),
            ...(seen.timeoutMs === null ? {} : { timeout_started_ms: nowMs + seen.timeoutMs }),
            ...(seen.serviceMs === null ? {} : { service_ms: seen.serviceMs }),
            ...(seen.roundMs === null
              ? {}
              : { round_since_ms: nowMs + seen.roundMs, round_successes: seen.roundSuccesses }),
          },
          seen.random,
        );
        const after = await stateOf(place);
        const laterMs = await databaseNowMs(database.pool);
        // The database decided at some moment between the two: it agrees with the rules at the one or at the other.
        try {
          agrees(before, after, seen, nowMs, nowMs);
        } catch {
          agrees(before, after, seen, nowMs, laterMs);
        }
      }),
      { numRuns: 150 },
    );
  });

  /** @param nowMs what the report's times were counted from  @param atMs when the database is taken to have decided */
  function agrees(before: StateRow, after: StateRow, seen: Seen, nowMs: number, atMs: number): void {
    const at = (agoMs: number | null) => (agoMs === null ? null : nowMs + agoMs);
    const breaker: BreakerState = afterReport(
      {
        breaker: before.breaker,
        untilMs: before.until_ms,
        opens: before.breaker_opens,
        downInRow: before.down_in_row,
        downSinceMs: before.down_ms,
      },
      {
        aliveAtMs: at(seen.aliveMs),
        downs: seen.downs,
        firstDownMs: nowMs + seen.firstDownMs,
        lastDownStartedMs: nowMs + seen.lastDownStartedMs,
      },
      atMs,
      seen.random,
    );
    expect([after.breaker, after.breaker_opens, after.down_in_row]).toEqual([
      breaker.breaker,
      breaker.opens,
      breaker.downInRow,
    ]);
    near(after.down_ms, breaker.downSinceMs);
    near(after.until_ms, breaker.untilMs, 2_000 + Math.abs(atMs - nowMs));
    const row = afterFailures(
      { failures: before.failures_since_success, sinceMs: before.failing_ms },
      {
        succeededAtMs: at(seen.succeededMs),
        failures: seen.failures,
        firstFailureMs: nowMs + seen.firstFailureMs,
      },
      false,
    );
    expect(after.failures_since_success).toBe(row.failures);
    near(after.failing_ms, row.sinceMs);

    const adaptive = expectedLimit(before, seen, nowMs, atMs, breaker.breaker === "open");
    if (before.breaker === "open" && after.breaker === "closed") return;
    expect([after.adaptive_limit, after.adaptive_safe_limit]).toEqual([adaptive.limit, adaptive.safeLimit]);
  }

  type Seen = typeof anyReport extends fc.Arbitrary<infer T> ? T : never;
  function expectedLimit(
    before: StateRow,
    seen: Seen,
    nowMs: number,
    atMs: number,
    open: boolean,
  ): AdaptiveState {
    const state: AdaptiveState = {
      limit: before.adaptive_limit,
      safeLimit: before.adaptive_safe_limit,
      pinned: before.adaptive_pinned,
      changedAtMs: before.changed_ms,
      loweredAtMs: before.lowered_ms,
    };
    const { cap } = seen;
    if (seen.timeoutMs !== null) {
      const startedMs = nowMs + seen.timeoutMs;
      const bound = rateBound(seen.rate, seen.serviceMs);
      return afterTimeouts(state, { cap, startedMs, drainGained: seen.gained, bound, nowMs: atMs });
    }
    if (seen.roundMs === null || open) return state;
    const sinceMs = nowMs + seen.roundMs;
    return afterCleanRound(state, { cap, sinceMs, successes: seen.roundSuccesses, nowMs: atMs });
  }

  function near(actual: number | null, expected: number | null, slackMs = 1): void {
    if (expected === null) expect(actual).toBeNull();
    else expect(Math.abs((actual ?? Number.NaN) - expected)).toBeLessThanOrEqual(slackMs);
  }
});
