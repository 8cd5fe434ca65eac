/**
 * The runner's turns against real rows: what leaves and at which pace, what stops by itself and what is held. Claims and
 * outcomes are the product's own; nothing is sent here.
 */
import { describe, expect, it } from "vitest";
import { continueReplay, resumeReplay, setReplayRate } from "#db/console/replay/run.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { countRows, makePlace, outcomeOf, type Place, readAttempts } from "#tests/support/queue-rows/sql.ts";
import { useReplayRows } from "#tests/support/replay-rows/batches.ts";
import {
  about,
  claimReplay,
  DEAD_AGAIN,
  deadRows,
  itemStates,
  readItem,
  refillRates,
  send,
  setMetrics,
  turn,
} from "#tests/support/replay-rows/sql.ts";
import { finish } from "./finish.ts";

let database: TestDatabase;
let place: Place;

const { bob, now, started, running, nextTurn } = useReplayRows((rows) => {
  ({ database, place } = rows);
});

describe("the whole way", () => {
  it("DLQ-5 DLQ-6 canary, hold, run, completed: same id, key, payload and time, next cycle, every attempt with the batch", async () => {
    const other = await makePlace(database.pool);
    const { batch, ids } = await started([place, other], 10);
    const before = await deadRows(database.pool, ids);
    expect(await nextTurn(batch)).toMatchObject({ released: 5, state: "canary" });
    const live = (
      await database.pool.query("SELECT * FROM sluice.delivery WHERE replay_batch_id = $1 ORDER BY id", [
        batch.id,
      ])
    ).rows;
    for (const row of live) {
      const old = before.find(({ id }) => id === row.id);
      for (const column of [
        "idempotency_key",
        "payload_id",
        "created_at",
        "first_due_at",
        "attempts",
        "event_type",
        "traceparent",
      ]) {
        expect(row[column]).toEqual(old?.[column]);
      }
      expect(row).toMatchObject({
        lane: "replay",
        state: "delayed",
        cycle: 2,
        failures: 0,
        rejections: 0,
        throttles: 0,
      });
    }
    expect(await nextTurn(batch)).toMatchObject({ released: 0, state: "canary" });
    await Promise.all([place, other].map((at) => send(database.pool, at)));
    expect(await nextTurn(batch)).toMatchObject({ state: "canary_hold", released: 0 });
    await continueReplay(bob(), { ...about(batch), version: (await now(batch)).version });
    expect(await nextTurn(batch)).toMatchObject({ state: "running", released: 15 });
    await Promise.all([place, other].map((at) => send(database.pool, at)));
    expect(await nextTurn(batch)).toMatchObject({ state: "completed", nextMs: null });
    expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: 20 });
    const causes = await database.pool.query(
      "SELECT state, state_by FROM sluice.dead_letter_group WHERE fingerprint = ANY ($1::text[])",
      [[`f:${place.destinationId}`, `f:${other.destinationId}`]],
    );
    expect(causes.rows).toEqual(Array(2).fill({ state: "resolved", state_by: "worker:test" }));
    const attempts = await readAttempts(database.pool, String(ids[0]));
    expect(attempts.map(({ number, cycle, replay_batch_id }) => [number, cycle, replay_batch_id])).toEqual([
      [1, 1, null],
      [2, 2, batch.id],
    ]);
    const events = await database.pool.query(
      "SELECT to_state FROM sluice.replay_event WHERE batch_id = $1 AND to_state IS NOT NULL ORDER BY at, id",
      [batch.id],
    );
    expect(events.rows.map(({ to_state }) => to_state)).toEqual([
      "draft",
      "in_review",
      "approved",
      "canary",
      "canary_hold",
      "running",
      "completed",
    ]);
  });

  it("fault 40 DLQ-8 what fails again is a dead letter of the next cycle with its whole history, and no batch retries it", async () => {
    const { batch, ids } = await started([place], 4);
    await nextTurn(batch);
    await send(database.pool, place, DEAD_AGAIN);
    const rows = await deadRows(database.pool, ids);
    for (const row of rows) {
      expect(row).toMatchObject({
        cycle: 2,
        attempts: 2,
        failures: 1,
        replay_batch_id: batch.id,
        reason: "attempts_exhausted",
      });
    }
    expect(await itemStates(database.pool, batch.id)).toEqual({ dead_again: 4 });
    expect((await readAttempts(database.pool, String(ids[0]))).map(({ cycle }) => cycle)).toEqual([1, 2]);
    // Its canary failed, so its only lane stops, and the batch with it.
    await nextTurn(batch);
    await nextTurn(batch);
    expect(await now(batch)).toMatchObject({ state: "stopped", stop_cause: "every lane has stopped" });
    expect(await countRows(database.pool, "delivery WHERE replay_batch_id = $1", [batch.id])).toBe(0);
  });

  it("DLQ-5 entries that changed since the review are skipped and listed with the reason", async () => {
    const { batch, ids } = await started([place], 5);
    const [gone, marked, bodiless, changed] = ids.map(String);
    await database.pool.query("DELETE FROM sluice.dead_letter WHERE id = $1", [gone]);
    await database.pool.query(
      "UPDATE sluice.dead_letter SET will_not_replay_at = now(), will_not_replay_reason = 'no', version = version + 1 WHERE id = $1",
      [marked],
    );
    await database.pool.query("UPDATE sluice.payload SET body = NULL, erased_at = now() WHERE id = $1", [
      bodiless,
    ]);
    await database.pool.query("UPDATE sluice.dead_letter SET version = version + 1 WHERE id = $1", [changed]);
    expect(await nextTurn(batch)).toMatchObject({ released: 1, skipped: 4 });
    const why = await Promise.all(
      [gone, marked, bodiless, changed].map(
        async (id) => (await readItem(database.pool, batch.id, String(id)))?.skip_reason,
      ),
    );
    expect(why).toEqual([
      "changed since review: no dead letter any more",
      "changed since review: marked as not to be replayed",
      "changed since review: its body is gone",
      "changed since review",
    ]);
  });
});

describe("pace", () => {
  it("a lane has never more out than its concurrency, and begins with one token of its rate", async () => {
    const { batch } = await started([place], 5, { ratePerSecond: 0.1, concurrency: 2 });
    expect(await turn(database.pool, batch.id)).toMatchObject({ released: 1 });
    expect(await turn(database.pool, batch.id)).toMatchObject({ released: 0 });
    await refillRates(database.pool, batch.id);
    await setReplayRate(contextOf(database, { role: "admin" }), { ...about(batch), ratePerSecond: 50 });
    expect(await turn(database.pool, batch.id)).toMatchObject({ released: 1 });
    await refillRates(database.pool, batch.id);
    expect(await turn(database.pool, batch.id)).toMatchObject({ released: 0 });
  });

  it("anybody who may lowers the rate, and only an administrator raises it", async () => {
    const { batch } = await started([place], 2, { ratePerSecond: 5 });
    const lower = await setReplayRate(contextOf(database, { role: "support" }), {
      ...about(batch),
      ratePerSecond: 1,
    });
    const raise = { ...about(batch), version: lower.version ?? 0, ratePerSecond: 2 };
    await expect(setReplayRate(bob(), raise)).rejects.toMatchObject({ code: "forbidden" });
    await expect(setReplayRate(contextOf(database, { role: "admin" }), raise)).resolves.toMatchObject({
      after: { rateCap: 2 },
    });
  });
});

describe("stops by itself", () => {
  it("fault 41: 429 from the 11th on stops it by the 20th; what is out comes back as it was, the rest is untouched", async () => {
    const { batch, ids } = await running([place], 100, { concurrency: 5 });
    const untouched = await deadRows(database.pool, ids);
    let sent = 5;
    const limited = { ...DEAD_AGAIN, outcome: "rate_limited", status: 429, failure: false, throttle: true };
    while ((await now(batch)).state === "running" && sent < 40) {
      await nextTurn(batch);
      const { ids: out, token } = await claimReplay(database.pool, place, 1);
      if (out.length === 0) continue;
      sent += out.length;
      await finish(
        database.pool,
        out.map((id) => outcomeOf(id, token, sent > 10 ? limited : {})),
      );
    }
    const paused = await now(batch);
    expect(paused.state).toBe("paused");
    expect(paused.pause_cause).toMatch(/^429 share \d+ % \(\d+ of \d+\) > 10 % at .*, \d+ of 100 released$/);
    expect(sent).toBeLessThanOrEqual(20);
    const states = await itemStates(database.pool, batch.id);
    expect(states).toMatchObject({ delivered: 10, frozen: 100 - sent });
    expect(await countRows(database.pool, "delivery WHERE replay_batch_id = $1", [batch.id])).toBe(0);
    const rest = await database.pool.query<{ delivery_id: string }>(
      "SELECT delivery_id FROM sluice.replay_item WHERE batch_id = $1 AND state = 'frozen'",
      [batch.id],
    );
    const restIds = rest.rows.map(({ delivery_id }) => delivery_id);
    expect(await deadRows(database.pool, restIds)).toEqual(
      untouched.filter(({ id }) => restIds.includes(String(id))),
    );
  });

  it("stale metrics stop it before a release; a person resumes with a reason; the third time it ends", async () => {
    const { batch, ids } = await started([place], 5);
    for (const n of [1, 2]) {
      await setMetrics(database.pool, { ageMs: 31_000 });
      expect(await nextTurn(batch)).toMatchObject({ state: "paused", released: 0 });
      const paused = await now(batch);
      expect(paused).toMatchObject({ paused_from: "canary", auto_pauses: n });
      expect(paused.pause_cause).toMatch(/^metrics 31 s old > 30 s at /);
      expect(await nextTurn(batch)).toMatchObject({ state: "paused", nextMs: null });
      const resume = { ...about(batch), version: paused.version };
      await expect(resumeReplay(bob(), resume)).rejects.toMatchObject({ code: "replay_red" });
      await setMetrics(database.pool);
      await expect(resumeReplay(bob(), resume)).resolves.toMatchObject({ after: { state: "canary" } });
    }
    await setMetrics(database.pool, { ageMs: 31_000 });
    expect(await nextTurn(batch)).toMatchObject({ state: "stopping" });
    expect(await nextTurn(batch)).toMatchObject({ state: "stopped" });
    expect(await itemStates(database.pool, batch.id)).toEqual({ not_released: 5 });
    expect(await deadRows(database.pool, ids)).toHaveLength(5);
  });

  it("a runner that was silent for too long does not go on by itself", async () => {
    const { batch } = await started([place], 5);
    await database.pool.query(
      "UPDATE sluice.replay_batch SET last_turn_at = clock_timestamp() - interval '40 seconds' WHERE id = $1",
      [batch.id],
    );
    expect(await nextTurn(batch)).toMatchObject({ state: "paused", released: 0 });
    expect((await now(batch)).pause_cause).toMatch(/^runner silent for 40 s > 30 s/);
  });

  it("late live work stops it", async () => {
    const { batch } = await started([place], 5);
    await setMetrics(database.pool, { dueLagMs: 61_000 });
    expect(await nextTurn(batch)).toMatchObject({ state: "paused", released: 0 });
  });

  it("five equal failures stop the destination's lane, its rest stays dead, and the other lane goes on", async () => {
    const bad = await makePlace(database.pool);
    const { batch, ids } = await running([place, bad], 20, { concurrency: 5 });
    await nextTurn(batch);
    await send(database.pool, place);
    expect((await send(database.pool, bad, DEAD_AGAIN)).length).toBe(5);
    await nextTurn(batch);
    const lane = await database.pool.query(
      "SELECT stop_condition, stop_text FROM sluice.replay_lane WHERE batch_id = $1 AND stopped_at IS NOT NULL",
      [batch.id],
    );
    expect(lane.rows).toEqual([
      { stop_condition: "equal_failures", stop_text: "5 in a row: server error 500" },
    ]);
    for (let rounds = 0; (await now(batch)).state === "running" && rounds < 20; rounds += 1) {
      await send(database.pool, place);
      await nextTurn(batch);
    }
    expect(await now(batch)).toMatchObject({ state: "completed" });
    const canary = 2;
    expect(await itemStates(database.pool, batch.id)).toEqual({
      dead_again: 5,
      delivered: 20 + canary,
      not_released: 15 - canary,
    });
    expect(
      await countRows(database.pool, "dead_letter WHERE id = ANY ($1::uuid[]) AND cycle = 1", [ids]),
    ).toBe(15 - canary);
  });

  it.each([
    [
      "destination_disabled",
      "UPDATE sluice.destination SET disabled_at = now(), disabled_reason = 'r' WHERE id = $1",
    ],
    ["destination_changed", "UPDATE sluice.destination SET url = url || '/moved' WHERE id = $1"],
    [
      "circuit_open",
      "INSERT INTO sluice.destination_state (destination_id, region, breaker, breaker_until) SELECT $1, region, 'open', now() + interval '1 hour' FROM sluice.region_control",
    ],
  ])("a lane stops: %s", async (condition, sql) => {
    const { batch } = await started([place], 5, { concurrency: 2 });
    expect(await nextTurn(batch)).toMatchObject({ released: 2 });
    await database.pool.query(sql, [place.destinationId]);
    expect(await nextTurn(batch)).toMatchObject({ recalled: 2, released: 0 });
    const lane = await database.pool.query(
      "SELECT stop_condition FROM sluice.replay_lane WHERE batch_id = $1",
      [batch.id],
    );
    expect(lane.rows).toEqual([{ stop_condition: condition }]);
    expect(await itemStates(database.pool, batch.id)).toEqual({ not_released: 3, recalled: 2 });
  });

  it("fault 42: a tenant that is paused in the run is held: its rows come back, nothing is claimed, and it goes on later", async () => {
    const { batch, ids } = await started([place], 5, { concurrency: 3 });
    const before = await deadRows(database.pool, ids);
    expect(await nextTurn(batch)).toMatchObject({ released: 3 });
    await database.pool.query(
      "UPDATE sluice.tenant SET paused_at = now(), pause_until = now() + interval '1 hour', pause_reason = 'r' WHERE id = $1",
      [place.tenantId],
    );
    expect((await claimReplay(database.pool, place)).ids).toEqual([]);
    expect(await nextTurn(batch)).toMatchObject({ recalled: 3, released: 0, state: "canary" });
    expect(await deadRows(database.pool, ids)).toEqual(before);
    const lane = await database.pool.query("SELECT held_why FROM sluice.replay_lane WHERE batch_id = $1", [
      batch.id,
    ]);
    expect(lane.rows).toEqual([{ held_why: "tenant_paused" }]);
    await database.pool.query(
      "UPDATE sluice.tenant SET paused_at = NULL, pause_until = NULL, pause_reason = NULL WHERE id = $1",
      [place.tenantId],
    );
    expect(await nextTurn(batch)).toMatchObject({ released: 3 });
  });
});
