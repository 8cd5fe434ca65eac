/** The gate of a destination: when it opens, how often it was shut in a row, and what opens it. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { databaseNowMs, leaseRows, makePlace, outcomeOf, type Place } from "#tests/support/queue-rows/sql.ts";
import { type FinishRow, finish } from "./finish.ts";
import { type GateState, type ShutGate, shutGate } from "./shut-gate.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function shut(place: Place, changes: Partial<ShutGate> = {}): Promise<GateState> {
  return shutGate(database.pool, {
    destinationId: place.destinationId,
    deliveryId: randomUUID(),
    delayMs: 60_000,
    startedMs: await databaseNowMs(database.pool),
    why: "retry_after",
    status: 429,
    retryAfter: "60",
    ...changes,
  });
}

async function stateOf(place: Place): Promise<Record<string, unknown>> {
  const result = await database.pool.query(
    "SELECT * FROM sluice.destination_state WHERE destination_id = $1",
    [place.destinationId],
  );
  return result.rows[0];
}

/** Time passes: everything that the gate remembers moves into the past. */
async function passMs(place: Place, ms: number): Promise<void> {
  await database.pool.query(
    `UPDATE sluice.destination_state SET hold_until = hold_until - $2::float8 * interval '1 ms', hold_set_at = hold_set_at - $2::float8 * interval '1 ms'
      WHERE destination_id = $1`,
    [place.destinationId, ms],
  );
}

/** Records the outcome of a request of this destination that began at a moment. */
async function record(place: Place, startedMs: number, changes: Partial<FinishRow> = {}): Promise<void> {
  const [id] = await makeDeliveries(database.pool, place);
  const token = await leaseRows(database.pool, [String(id)]);
  expect(
    (await finish(database.pool, [outcomeOf(String(id), token, { started_ms: startedMs, ...changes })])).size,
  ).toBe(1);
}

describe("FAIR-6 shutting the gate", () => {
  it("opens at the database's now plus the delay, and says why", async () => {
    const place = await makePlace(database.pool);
    const deliveryId = randomUUID();
    const before = await databaseNowMs(database.pool);
    const gate = await shut(place, { deliveryId, delayMs: 120_000.4, retryAfter: "120" });
    const after = await databaseNowMs(database.pool);
    expect(gate.holdUntilMs).toBeGreaterThanOrEqual(Math.floor(before + 120_001));
    expect(gate.holdUntilMs).toBeLessThanOrEqual(after + 120_001);
    expect(gate.consecutiveGates).toBe(1);
    expect(await stateOf(place)).toMatchObject({
      region: "us",
      hold_until: new Date(gate.holdUntilMs),
      hold_why: "retry_after",
      hold_status: 429,
      hold_retry_after: "120",
      hold_delivery_id: deliveryId,
      probing: true,
    });
  });

  it("never opens earlier than before, and goes on saying what keeps it shut", async () => {
    const place = await makePlace(database.pool);
    const long = await shut(place, { delayMs: 3_600_000, retryAfter: "3600" });
    const short = await shut(place, { delayMs: 1_000, retryAfter: "1", why: "rate_limited", startedMs: 0 });
    expect(short.holdUntilMs).toBe(long.holdUntilMs);
    expect(await stateOf(place)).toMatchObject({ hold_why: "retry_after", hold_retry_after: "3600" });
    const longer = await shut(place, { delayMs: 7_200_000, retryAfter: "7200", startedMs: 0 });
    expect(longer.holdUntilMs).toBeGreaterThan(long.holdUntilMs);
    expect(await stateOf(place)).toMatchObject({ hold_retry_after: "7200" });
  });

  it("keeps a pinned limit, and cuts an endless header", async () => {
    const place = await makePlace(database.pool);
    await database.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit, adaptive_pinned) VALUES ($1, 'us', 3, true)",
      [place.destinationId],
    );
    await shut(place, { retryAfter: "9".repeat(5_000), status: null, why: "rate_limited" });
    const state = await stateOf(place);
    expect(state).toMatchObject({
      adaptive_limit: 3,
      hold_status: null,
    });
    expect(String(state.hold_retry_after)).toHaveLength(256);
  });
});

describe("FAIR-6 gates in a row", () => {
  it("are counted, siblings of the same gate are not", async () => {
    const place = await makePlace(database.pool);
    const startedMs = await databaseNowMs(database.pool);
    const counts = [];
    for (let sibling = 0; sibling < 5; sibling++)
      counts.push((await shut(place, { startedMs })).consecutiveGates);
    await passMs(place, 61_000);
    counts.push((await shut(place)).consecutiveGates);
    await passMs(place, 61_000);
    counts.push((await shut(place)).consecutiveGates);
    expect(counts).toEqual([1, 1, 1, 1, 1, 2, 3]);
  });

  it("a request that was claimed before the gate was shut, and began just after, is a sibling too", async () => {
    const place = await makePlace(database.pool);
    await shut(place);
    const startedMs = await databaseNowMs(database.pool);
    expect((await shut(place, { startedMs })).consecutiveGates).toBe(1);
  });

  it("end with a good outcome of a request that began after the opening", async () => {
    const place = await makePlace(database.pool);
    await shut(place);
    await passMs(place, 61_000);
    await shut(place);
    await passMs(place, 61_000);
    await record(place, await databaseNowMs(database.pool));
    expect(await stateOf(place)).toMatchObject({ probing: false, consecutive_gates: 0 });
    expect((await shut(place)).consecutiveGates).toBe(1);
  });
});

describe("FAIR-6 opening the gate", () => {
  it("a request that began before the opening does not open it, nor one that met the limit again", async () => {
    const place = await makePlace(database.pool);
    const startedMs = await databaseNowMs(database.pool);
    await shut(place, { startedMs });
    await record(place, startedMs);
    expect(await stateOf(place)).toMatchObject({ probing: true, consecutive_gates: 1 });
    await passMs(place, 61_000);
    await record(place, startedMs - 61_000);
    const limited = {
      decision: "delayed",
      outcome: "rate_limited",
      delay_ms: 1_000,
      throttle: true,
      opens_gate: false,
    } as const;
    await record(place, await databaseNowMs(database.pool), limited);
    expect(await stateOf(place)).toMatchObject({ probing: true, consecutive_gates: 1 });
  });

  it("any answer that is no limit opens it, also a failure or a rejection", async () => {
    for (const decision of ["delayed", "dead"] as const) {
      const place = await makePlace(database.pool);
      await shut(place, { delayMs: 0 });
      const failed = {
        decision,
        outcome: "rejected",
        reason: "rejected",
        delay_ms: 1_000,
        fingerprint: "gate",
        status: 500,
      };
      await record(place, (await databaseNowMs(database.pool)) + 10, failed);
      expect(await stateOf(place)).toMatchObject({ probing: false, consecutive_gates: 0 });
    }
  });

  it("an outcome whose lease is lost opens nothing", async () => {
    const place = await makePlace(database.pool);
    await shut(place, { delayMs: 0 });
    const [id] = await makeDeliveries(database.pool, place);
    await leaseRows(database.pool, [String(id)]);
    const startedMs = (await databaseNowMs(database.pool)) + 10;
    await finish(database.pool, [outcomeOf(String(id), randomUUID(), { started_ms: startedMs })]);
    expect(await stateOf(place)).toMatchObject({ probing: true });
  });

  it("a batch of two destinations opens only the one whose probe it carries", async () => {
    const [one, two] = [await makePlace(database.pool), await makePlace(database.pool)];
    for (const place of [one, two]) await shut(place, { delayMs: 0 });
    const startedMs = (await databaseNowMs(database.pool)) + 10;
    const rows: FinishRow[] = [];
    for (const place of [one, two]) {
      const [id] = await makeDeliveries(database.pool, place);
      const token = await leaseRows(database.pool, [String(id)]);
      rows.push(outcomeOf(String(id), token, { started_ms: startedMs, opens_gate: place === one }));
    }
    await finish(database.pool, rows);
    expect([(await stateOf(one)).probing, (await stateOf(two)).probing]).toEqual([false, true]);
  });
});
