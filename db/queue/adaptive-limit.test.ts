/** FAIR-8 on a real server: gates and timeouts lower a destination's limit, clean rounds raise it, whoever reports. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  databaseNowMs,
  leaseRows,
  makePlace,
  openTransaction,
  type Place,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import {
  stateOf as readState,
  gate as shut,
  report as tell,
  setState as writeState,
} from "#tests/support/receiver-health/sql.ts";
import { claim } from "./claim.ts";
import { type HealthReport, MAX_HEALTH_ROWS, noteHealth } from "./note-health.ts";

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
const gate = (place: Place, startedMs: number) => shut(database.pool, place, startedMs);

describe("FAIR-8 a gate and the adaptive limit", () => {
  it("falls to 1, and half of what was in flight is the safe value", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await leaseRows(database.pool, await makeDeliveries(database.pool, { ...place, count: 9 }));
    await gate(place, await databaseNowMs(database.pool));
    expect(await stateOf(place)).toMatchObject({
      adaptive_limit: 1,
      adaptive_safe_limit: 4,
      adaptive_why: "rate_limited",
    });
  });

  it("counts one cause once: siblings of the same gate lower nothing more", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await leaseRows(database.pool, await makeDeliveries(database.pool, { ...place, count: 9 }));
    const startedMs = await databaseNowMs(database.pool);
    await gate(place, startedMs);
    const first = await stateOf(place);
    await gate(place, startedMs);
    await gate(place, startedMs + 0.5);
    expect(await stateOf(place)).toEqual(first);
    // The next gate is a cause of its own.
    await gate(place, (await databaseNowMs(database.pool)) + 1);
    expect(await stateOf(place)).toMatchObject({ adaptive_limit: 1, adaptive_safe_limit: 1 });
  });

  it("is what the claim goes by: at most one request until it grows", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await makeDeliveries(database.pool, { ...place, count: 9 });
    await gate(place, await databaseNowMs(database.pool));
    await setState(place, "probing = false");
    const first = await claim(database.pool, request([{ ...place, wanted: 5 }]));
    expect(first.entries).toMatchObject([{ taken: 1, blocker: "adaptive_limit" }]);
    expect(first.watched).toEqual([true]);
    await setState(place, "adaptive_limit = 3");
    expect((await claim(database.pool, request([{ ...place, wanted: 5 }]))).ids).toHaveLength(2);
  });
});

describe("FAIR-8 a clean round", () => {
  it("doubles up to the safe value, then goes step by step to the cap, where the limit ends", async () => {
    const place = await makePlace(database.pool, { destinationCap: 8 });
    await setState(
      place,
      "adaptive_limit = 1, adaptive_safe_limit = 4, adaptive_changed_at = now() - interval '1 hour'",
    );
    const limits: (number | null)[] = [];
    for (let step = 0; step < 9; step++) {
      const nowMs = await databaseNowMs(database.pool);
      await setState(place, "adaptive_changed_at = now() - interval '1 hour'");
      limits.push(
        (await report(place, { round_since_ms: nowMs - 1_000, round_successes: 50 })).adaptiveLimit,
      );
    }
    expect(limits).toEqual([2, 4, 5, 6, 7, null, null, null, null]);
    expect(await stateOf(place)).toMatchObject({ adaptive_limit: null, adaptive_safe_limit: 7 });
  });

  it("has to be as many successes as the limit, as long as half a second, and all of it under this limit", async () => {
    const place = await makePlace(database.pool, { destinationCap: 8 });
    await setState(
      place,
      "adaptive_limit = 3, adaptive_safe_limit = 3, adaptive_changed_at = now() - interval '10 seconds'",
    );
    const nowMs = await databaseNowMs(database.pool);
    for (const round of [
      { round_since_ms: nowMs - 2_000, round_successes: 2 },
      // Not half a second old, however slow this test is.
      { round_since_ms: nowMs + 60_000, round_successes: 50 },
      { round_since_ms: nowMs - 20_000, round_successes: 50 },
      { round_since_ms: nowMs - 2_000, round_successes: 50, timeout_started_ms: nowMs, drain_gained: true },
    ]) {
      expect(await report(place, round)).toMatchObject({ adaptiveLimit: 3, adaptiveMoved: false });
    }
    expect(await report(place, { round_since_ms: nowMs - 2_000, round_successes: 3 })).toMatchObject({
      adaptiveLimit: 4,
      adaptiveMoved: true,
    });
  });

  it("is counted once when two processes report it at the same moment", async () => {
    const place = await makePlace(database.pool, { destinationCap: 8 });
    await setState(
      place,
      "adaptive_limit = 2, adaptive_safe_limit = 2, adaptive_changed_at = now() - interval '1 hour'",
    );
    const round = { round_since_ms: (await databaseNowMs(database.pool)) - 1_000, round_successes: 50 };
    const row = { destination_id: place.destinationId, failures: 0, downs: 0, ...round };
    const first = await openTransaction(database.pool);
    await noteHealth(first.client, [row], 0);
    const second = noteHealth(database.pool, [row], 0);
    await waitUntilBlocked(database.pool, "sluice.note_health");
    await first.commit();
    expect(await second).toMatchObject([{ adaptiveLimit: 3, adaptiveMoved: false }]);
  });

  it("does not move a pinned limit, nor one whose gate or breaker is still being probed", async () => {
    const nowMs = await databaseNowMs(database.pool);
    const round = { round_since_ms: nowMs - 1_000, round_successes: 50 };
    for (const state of [
      "adaptive_pinned = true",
      "probing = true, hold_until = now()",
      "breaker = 'open', breaker_until = now()",
    ]) {
      const place = await makePlace(database.pool, { destinationCap: 8 });
      await setState(place, `adaptive_limit = 2, adaptive_changed_at = now() - interval '1 hour', ${state}`);
      expect(await report(place, round)).toMatchObject({ adaptiveLimit: 2, adaptiveMoved: false });
    }
  });
});

describe("FAIR-8 timeouts", () => {
  it("halve the limit once for what was in flight together, and not while more is drained", async () => {
    const place = await makePlace(database.pool, { destinationCap: 16 });
    const nowMs = await databaseNowMs(database.pool);
    expect(await report(place, { timeout_started_ms: nowMs - 10_000 })).toMatchObject({ adaptiveLimit: 8 });
    expect(await report(place, { timeout_started_ms: nowMs - 9_000 })).toMatchObject({ adaptiveLimit: 8 });
    const laterMs = (await databaseNowMs(database.pool)) + 1;
    expect(await report(place, { timeout_started_ms: laterMs, drain_gained: true })).toMatchObject({
      adaptiveLimit: 8,
    });
    expect(await report(place, { timeout_started_ms: laterMs })).toMatchObject({ adaptiveLimit: 4 });
    expect(await stateOf(place)).toMatchObject({ adaptive_safe_limit: 4, adaptive_why: "timeout" });
  });

  it("FAIR-9 begin below what the declared rate keeps in flight", async () => {
    const place = await makePlace(database.pool, { destinationCap: 50, ratePerSecond: 10 });
    const timeout_started_ms = await databaseNowMs(database.pool);
    // 10 a second at 500 ms are 5 in flight.
    expect(await report(place, { timeout_started_ms, service_ms: 500 })).toMatchObject({ adaptiveLimit: 4 });
  });

  it("never lower a limit below 1, nor a pinned one", async () => {
    const place = await makePlace(database.pool, { destinationCap: 1 });
    expect(await report(place, { timeout_started_ms: await databaseNowMs(database.pool) })).toMatchObject({
      adaptiveLimit: 1,
    });
    const pinned = await makePlace(database.pool, { destinationCap: 16 });
    await setState(pinned, "adaptive_pinned = true, adaptive_limit = 7");
    expect(await report(pinned, { timeout_started_ms: await databaseNowMs(database.pool) })).toMatchObject({
      adaptiveLimit: 7,
    });
  });
});

describe("a report", () => {
  it("changes nothing and writes nothing where there is nothing to change", async () => {
    const place = await makePlace(database.pool);
    await setState(place, "updated_at = now() - interval '1 hour'");
    const nowMs = await databaseNowMs(database.pool);
    await report(place, { alive_ms: nowMs });
    const { rows } = await database.pool.query<{ old: boolean }>(
      "SELECT updated_at < now() - interval '30 minutes' AS old FROM sluice.destination_state WHERE destination_id = $1",
      [place.destinationId],
    );
    expect(rows[0]?.old).toBe(true);
  });

  it("of an unknown destination has no answer, and one of too many is refused", async () => {
    const row = { destination_id: randomUUID(), failures: 1, downs: 0 };
    expect(await noteHealth(database.pool, [row], 0)).toEqual([]);
    const many = Array.from({ length: MAX_HEALTH_ROWS + 1 }, () => row);
    await expect(noteHealth(database.pool, many, 0)).rejects.toMatchObject({ code: "22023" });
  });
});
