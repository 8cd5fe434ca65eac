/** The breaker and auto-disable on a real server, where the failures of all processes meet. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  HOUR_MS,
  makePlace,
  openTransaction,
  type Place,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import {
  down,
  stateOf as readState,
  report as tell,
  setState as writeState,
} from "#tests/support/receiver-health/sql.ts";
import { claim } from "./claim.ts";
import { disableDestination, type HealthReport, noteHealth } from "./note-health.ts";

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

describe("the breaker", () => {
  it("opens after 20 requests in a row without an answer, holds all lanes, then lets single requests through", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await makeDeliveries(database.pool, { ...place, count: 5 });
    const nowMs = await databaseNowMs(database.pool);
    expect(await report(place, down(19, nowMs))).toMatchObject({ breaker: "closed", breakerChanged: false });
    expect(await report(place, down(1, nowMs))).toMatchObject({ breaker: "open", breakerChanged: true });
    const { until_ms: untilMs } = await stateOf(place);
    expect(untilMs).toBeGreaterThan(nowMs + 4_000);
    expect(untilMs).toBeLessThan((await databaseNowMs(database.pool)) + 6_000);
    const held = await claim(database.pool, request([{ ...place, wanted: 3 }]));
    expect(held.entries).toMatchObject([{ taken: 0, blocker: "breaker" }]);
    expect(Math.abs((held.entries[0]?.untilMs ?? 0) - (untilMs ?? 0))).toBeLessThan(1);

    await setState(place, "breaker_until = clock_timestamp()");
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).ids).toHaveLength(1);
    expect((await claim(database.pool, request([{ ...place, wanted: 3 }]))).ids).toHaveLength(0);
  });

  it("stays closed while the row is younger than thirty seconds, and when an answer stands between", async () => {
    const place = await makePlace(database.pool);
    const nowMs = await databaseNowMs(database.pool);
    expect(await report(place, down(40, nowMs, 24_000))).toMatchObject({ breaker: "closed" });
    expect(await report(place, { alive_ms: nowMs + 1 })).toMatchObject({ breaker: "closed" });
    expect(await report(place, down(19, nowMs))).toMatchObject({ breaker: "closed" });
    expect((await stateOf(place)).down_in_row).toBe(19);
  });

  it("opens for longer with each probe that fails, not with what was on its way before, and closes with an answer", async () => {
    const place = await makePlace(database.pool, { destinationCap: 10 });
    const nowMs = await databaseNowMs(database.pool);
    await report(place, down(20, nowMs));
    const { until_ms: first } = await stateOf(place);
    expect(await report(place, down(3, nowMs))).toMatchObject({ breaker: "open", breakerChanged: false });
    expect((await stateOf(place)).until_ms).toBe(first);
    await setState(place, "breaker_until = clock_timestamp()");
    const probeMs = (await databaseNowMs(database.pool)) + 1;
    expect(await report(place, down(1, probeMs))).toMatchObject({ breaker: "open", breakerChanged: true });
    expect((await stateOf(place)).until_ms).toBeGreaterThan(probeMs + 8_000);
    // A 429 or a 404 is an answer too. What waits then leaves one at a time.
    expect(await report(place, { alive_ms: probeMs + 2 })).toMatchObject({
      breaker: "closed",
      adaptiveLimit: 1,
    });
    expect(await stateOf(place)).toMatchObject({
      breaker_opens: 0,
      down_in_row: 0,
      adaptive_safe_limit: 5,
      adaptive_why: "breaker",
    });
  });

  it("is not closed by an answer that is older than the row", async () => {
    const place = await makePlace(database.pool);
    const nowMs = await databaseNowMs(database.pool);
    await report(place, down(20, nowMs));
    expect(await report(place, { alive_ms: nowMs - 41_000, succeeded_ms: nowMs - 41_000 })).toMatchObject({
      breaker: "open",
    });
    expect((await stateOf(place)).failures_since_success).toBe(20);
  });
});

describe("RETRY-8 fault 81: auto-disable", () => {
  const failures = (n: number, firstMs: number) => ({ failures: n, first_failure_ms: firstMs });
  const success = (atMs: number) => ({ succeeded_ms: atMs, alive_ms: atMs });

  async function isDisabled(place: Place): Promise<boolean> {
    return (
      (await countRows(database.pool, "destination WHERE id = $1 AND disabled_at IS NOT NULL", [
        place.destinationId,
      ])) === 1
    );
  }
  const disable = (place: Place) =>
    disableDestination(database.pool, {
      destinationId: place.destinationId,
      reason: "test",
      automatic: true,
      actor: "worker",
      auditId: uuidV7(Date.now(), (n) => crypto.getRandomValues(new Uint8Array(n))),
      correlationId: "worker:test",
    });

  it("4 failures and 1 success in turns for days never disable", async () => {
    const place = await makePlace(database.pool);
    const startMs = (await databaseNowMs(database.pool)) - 72 * HOUR_MS;
    for (let hour = 0; hour < 72; hour++) {
      const atMs = startMs + hour * HOUR_MS;
      expect((await report(place, failures(4, atMs))).toDisable).toBe(false);
      expect((await report(place, success(atMs + HOUR_MS / 2))).toDisable).toBe(false);
    }
    expect(await stateOf(place)).toMatchObject({ failures_since_success: 0, failing_ms: null });
    expect(await disable(place)).toBe(false);
  });

  it("20 failures within one second do not, nor 19 in two days", async () => {
    const burst = await makePlace(database.pool);
    const nowMs = await databaseNowMs(database.pool);
    expect((await report(burst, failures(20, nowMs - 1_000))).toDisable).toBe(false);
    const few = await makePlace(database.pool);
    expect((await report(few, failures(19, nowMs - 48 * HOUR_MS))).toDisable).toBe(false);
    for (const place of [burst, few]) expect(await disable(place)).toBe(false);
    // The twentieth does.
    expect((await report(few, failures(1, nowMs))).toDisable).toBe(true);
    expect(await disable(few)).toBe(true);
    expect(await disable(few)).toBe(false);
  });

  it("two deliveries that fail in parallel, in two processes, count as two, and the rule is kept", async () => {
    const place = await makePlace(database.pool);
    const sinceMs = (await databaseNowMs(database.pool)) - 25 * HOUR_MS;
    await report(place, failures(18, sinceMs));
    const row = { destination_id: place.destinationId, downs: 0, ...failures(1, sinceMs + 1) };
    const first = await openTransaction(database.pool);
    await noteHealth(first.client, [row], 0);
    const second = noteHealth(database.pool, [row], 0);
    await waitUntilBlocked(database.pool, "sluice.note_health");
    await first.commit();
    expect(await second).toMatchObject([{ toDisable: true }]);
    expect((await stateOf(place)).failures_since_success).toBe(20);
  });

  it("is audited, holds what waits, and begins to count anew once somebody enables it", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, count: 2 });
    const nowMs = await databaseNowMs(database.pool);
    await report(place, failures(25, nowMs - 30 * HOUR_MS));
    expect(await disable(place)).toBe(true);
    const { rows } = await database.pool.query(
      "SELECT actor, actor_role, action, target_kind, result, before, after FROM sluice.operator_action WHERE target_id = 'dst_' || replace($1, '-', '')",
      [place.destinationId],
    );
    expect(rows).toMatchObject([
      {
        actor: "worker",
        actor_role: "system",
        action: "destination.disable",
        target_kind: "destination",
        result: "done",
        before: { disabled: false, failures: 25 },
        after: { disabled: true, disabledReason: "test" },
      },
    ]);
    const held = await claim(database.pool, request([{ ...place, wanted: 2 }]));
    expect(held.entries).toMatchObject([{ taken: 0, blocker: "destination_disabled" }]);
    // What was on its way when it was disabled does not count against it later.
    await report(place, failures(3, nowMs));
    await database.pool.query(
      "UPDATE sluice.destination SET disabled_at = NULL, disabled_reason = NULL WHERE id = $1",
      [place.destinationId],
    );
    expect(await stateOf(place)).toMatchObject({ failures_since_success: 0, failing_ms: null });
    expect((await report(place, failures(20, nowMs))).toDisable).toBe(false);
    expect(await isDisabled(place)).toBe(false);
  });

  it("410 disables at once, once, whatever the count", async () => {
    const place = await makePlace(database.pool);
    const gone = () =>
      disableDestination(database.pool, {
        destinationId: place.destinationId,
        reason: "the receiver answered 410 Gone",
        automatic: false,
        actor: "worker",
        auditId: uuidV7(Date.now(), (n) => crypto.getRandomValues(new Uint8Array(n))),
        correlationId: "dlv_1",
      });
    expect([await gone(), await gone()]).toEqual([true, false]);
    expect(await isDisabled(place)).toBe(true);
  });
});
