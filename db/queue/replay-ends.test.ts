/**
 * How a batch is stopped by people and by crashes: what comes back and in which shape, and what a process that dies between
 * two transactions leaves behind. Claims and outcomes are the product's own; nothing is sent here.
 */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { pauseReplay, resumeReplay, startReplay, stopReplay } from "#db/console/replay/run.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import { contextOf } from "#tests/support/command-rows/sql.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import {
  countRows,
  makePlace,
  openTransaction,
  outcomeOf,
  type Place,
  readRow,
} from "#tests/support/queue-rows/sql.ts";
import { useReplayRows } from "#tests/support/replay-rows/batches.ts";
import {
  about,
  claimReplay,
  deadRows,
  itemStates,
  makeApproved,
  makeDead,
  send,
  turn,
} from "#tests/support/replay-rows/sql.ts";
import { finish } from "./finish.ts";
import { release } from "./release.ts";
import { expireReplays, recallLeftovers } from "./replay-jobs.ts";
import { turnReplay } from "./replay-turn.ts";

let database: TestDatabase;
let place: Place;

const dst = (at: Place) => toPublicId("dst", at.destinationId);
const { bob, now, started, running, nextTurn } = useReplayRows((rows) => {
  ({ database, place } = rows);
});

describe("people stop it", () => {
  it("pause: what is not sent comes back as it was, to the last column; what is in flight ends; resume goes on with the rest", async () => {
    const { batch, ids } = await started([place], 5, { concurrency: 3 });
    const before = await deadRows(database.pool, ids);
    await nextTurn(batch);
    const { ids: out, token } = await claimReplay(database.pool, place, 1);
    const answer = await pauseReplay(contextOf(database, { role: "support" }), {
      ...about(batch),
      version: 1,
    });
    expect(answer).toMatchObject({ applied: true, after: { state: "paused", recalled: 2 } });
    expect((await claimReplay(database.pool, place)).ids).toEqual([]);
    expect(await deadRows(database.pool, ids)).toEqual(before.filter(({ id }) => id !== out[0]));
    expect(await nextTurn(batch)).toMatchObject({ state: "paused", nextMs: 1_000 });
    await finish(
      database.pool,
      out.map((id) => outcomeOf(id, token)),
    );
    expect(await nextTurn(batch)).toMatchObject({ state: "paused", nextMs: null });
    expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: 1, frozen: 4 });
    await resumeReplay(bob(), { ...about(batch), version: answer.version ?? 0 });
    expect(await nextTurn(batch)).toMatchObject({ state: "canary", released: 3 });
  });

  it("stop: in-flight ends, a row that a worker gives back unsent is recalled by the next turn, the rest stays dead", async () => {
    const { batch, ids } = await started([place], 5, { concurrency: 3 });
    const before = await deadRows(database.pool, ids);
    await nextTurn(batch);
    const { ids: out, token } = await claimReplay(database.pool, place, 2);
    await stopReplay(contextOf(database, { role: "support" }), { ...about(batch), version: 1 });
    expect(await itemStates(database.pool, batch.id)).toEqual({ not_released: 2, recalled: 1, released: 2 });
    expect(await nextTurn(batch)).toMatchObject({ state: "stopping" });
    await release(database.pool, [String(out[0])], token);
    await finish(database.pool, [outcomeOf(String(out[1]), token)]);
    expect(await nextTurn(batch)).toMatchObject({ state: "stopped", recalled: 1 });
    expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: 1, not_released: 2, recalled: 2 });
    expect(await deadRows(database.pool, ids)).toEqual(before.filter(({ id }) => id !== out[1]));
  });

  it("a delivery that was tried and waits for another attempt is dead again when the batch stops", async () => {
    const { batch, ids } = await started([place], 1, { attemptBudget: 2 });
    await nextTurn(batch);
    await send(database.pool, place, {
      decision: "delayed",
      outcome: "server_error",
      status: 503,
      failure: true,
      delay_ms: 60_000,
    });
    await stopReplay(bob(), { ...about(batch), version: 1 });
    expect(await itemStates(database.pool, batch.id)).toEqual({ dead_again: 1 });
    expect(await deadRows(database.pool, ids)).toMatchObject([
      {
        cycle: 2,
        attempts: 2,
        failures: 1,
        reason: "attempts_exhausted",
        last_status: 503,
        replay_batch_id: batch.id,
      },
    ]);
  });

  it("what comes back unsent to a lane that has stopped meanwhile is recalled, not claimed again", async () => {
    const other = await makePlace(database.pool);
    const { batch } = await started([place, other], 5, { concurrency: 2 });
    await nextTurn(batch);
    const { ids: out, token } = await claimReplay(database.pool, place, 1);
    await database.pool.query(
      "UPDATE sluice.destination SET disabled_at = now(), disabled_reason = 'r' WHERE id = $1",
      [place.destinationId],
    );
    await nextTurn(batch);
    await database.pool.query(
      "UPDATE sluice.destination SET disabled_at = NULL, disabled_reason = NULL WHERE id = $1",
      [place.destinationId],
    );
    await release(database.pool, out, token);
    expect(await nextTurn(batch)).toMatchObject({ recalled: 1, state: "canary" });
    expect((await claimReplay(database.pool, place)).ids).toEqual([]);
    expect(await readRow(database.pool, "dead_letter", String(out[0]))).toMatchObject({ cycle: 1 });
  });

  it("pause in the canary's hold returns to the hold", async () => {
    const { batch } = await started([place], 5);
    await nextTurn(batch);
    await send(database.pool, place);
    await nextTurn(batch);
    const paused = await pauseReplay(bob(), { ...about(batch), version: 1 });
    await expect(
      resumeReplay(bob(), { ...about(batch), version: paused.version ?? 0 }),
    ).resolves.toMatchObject({ after: { state: "canary_hold" } });
  });
});

describe("crashes", () => {
  it("killed in a release: neither the row nor its item nor the rate has moved, and the next turn does it once", async () => {
    const { batch, ids } = await started([place], 5, { concurrency: 2 });
    const before = await deadRows(database.pool, ids);
    const broken = { actor: "worker:test", newId: () => uuidV7(Date.now(), randomBytes), schedule: true };
    // There is no graphile-worker in this database: the turn fails after its release and before its commit.
    await expect(turnReplay(database.pool, batch.id, broken)).rejects.toThrow();
    expect(await deadRows(database.pool, ids)).toEqual(before);
    expect(await itemStates(database.pool, batch.id)).toEqual({ frozen: 5 });
    expect(await nextTurn(batch)).toMatchObject({ released: 2 });
  });

  it("two turns at once: the second finds the lock and does nothing", async () => {
    const { batch } = await started([place], 5);
    const open = await openTransaction(database.pool);
    await open.client.query("SELECT 1 FROM sluice.replay_batch WHERE id = $1 FOR NO KEY UPDATE", [batch.id]);
    expect(await nextTurn(batch)).toMatchObject({ state: null, released: 0, nextMs: 1_000 });
    await open.rollback();
    const results = await Promise.all([
      turn(database.pool, batch.id),
      turn(database.pool, batch.id),
      turn(database.pool, batch.id),
    ]);
    expect(results.reduce((sum, { released }) => sum + released, 0)).toBe(5);
    expect(await itemStates(database.pool, batch.id)).toEqual({ released: 5 });
  });

  it("killed after a release: the item counts as out, nothing is released twice, and the end of the delivery ends it", async () => {
    const { batch, ids } = await started([place], 3);
    await nextTurn(batch);
    expect(await itemStates(database.pool, batch.id)).toEqual({ released: 3 });
    expect(await nextTurn(batch)).toMatchObject({ released: 0 });
    await send(database.pool, place);
    expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: 3 });
    expect(await countRows(database.pool, "delivery_archive WHERE id = ANY ($1::uuid[])", [ids])).toBe(3);
  });

  it("killed while stopping: the next turn ends it", async () => {
    const { batch } = await started([place], 3);
    await nextTurn(batch);
    await stopReplay(bob(), { ...about(batch), version: 1 });
    expect((await now(batch)).state).toBe("stopping");
    expect(await nextTurn(batch)).toMatchObject({ state: "stopped", nextMs: null });
  });

  it("a runner that fails five times in a row gives up; a row that comes back later is a dead letter again", async () => {
    const { batch, ids } = await running([place], 20, { concurrency: 5 });
    await nextTurn(batch);
    const { ids: out, token } = await claimReplay(database.pool, place, 1);
    const broken = { actor: "worker:test", newId: () => uuidV7(Date.now(), randomBytes), schedule: true };
    for (let n = 0; n < 5; n += 1)
      await expect(turnReplay(database.pool, batch.id, broken)).rejects.toThrow();
    expect(await now(batch)).toMatchObject({
      state: "failed",
      stop_cause: expect.stringMatching(/^5 turns in a row failed/),
    });
    await release(database.pool, out, token);
    expect(await recallLeftovers(database.pool)).toBe(1);
    expect(await countRows(database.pool, "delivery WHERE replay_batch_id = $1", [batch.id])).toBe(0);
    expect(await deadRows(database.pool, ids)).toHaveLength(15);
    expect(await readRow(database.pool, "dead_letter", String(out[0]))).toMatchObject({ cycle: 1 });
  });
});

describe("time", () => {
  it("an approval that nobody uses expires and gives its entries free", async () => {
    await makeDead(database.pool, place, 2);
    const batch = await makeApproved(database, { filter: { destinationId: dst(place) } });
    await database.pool.query(
      "UPDATE sluice.replay_batch SET approved_at = approved_at - interval '3 hours' WHERE id = $1",
      [batch.id],
    );
    await expect(startReplay(bob(), about(batch))).rejects.toMatchObject({ code: "version_conflict" });
    expect(
      await expireReplays(database.pool, "worker:test", () => uuidV7(Date.now(), randomBytes)),
    ).toContain(batch.id);
    expect(await now(batch)).toMatchObject({
      state: "expired",
      stop_cause: "nobody started it within 120 minutes",
    });
    expect(await itemStates(database.pool, batch.id)).toEqual({ not_released: 2 });
  });
});
