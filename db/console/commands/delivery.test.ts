/** Commands about one delivery: what they may touch, and what they leave to a worker or to a reviewed batch. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { finish } from "#db/queue/finish.ts";
import { toPublicId } from "#domain/ids.ts";
import { contextOf, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  HOUR_MS,
  leaseRows,
  makeBatch,
  makePlace,
  makeReplayRows,
  outcomeOf,
  type Place,
  readRow,
  request,
  timeOf,
} from "#tests/support/queue-rows/sql.ts";
import { CANCELLED_BY_STAFF, cancelDelivery } from "./cancel-delivery.ts";
import { pauseTenant } from "./pause-tenant.ts";
import { retryNow } from "./retry-now.ts";
import { willNotReplay } from "./will-not-replay.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const dlv = (id: string) => toPublicId("dlv", id);
const retry = (id: string) => retryNow(contextOf(database), { deliveryId: dlv(id), reason: REASON });
const cancel = (id: string) => cancelDelivery(contextOf(database), { deliveryId: dlv(id), reason: REASON });

/** A delivery that waits an hour for its second attempt. */
async function delayed(place?: Place): Promise<{ id: string; place: Place }> {
  const at = place ?? (await makePlace(database.pool));
  const [id] = await makeDeliveries(database.pool, { ...at, lane: "retry", dueInMs: HOUR_MS });
  return { id: String(id), place: at };
}

async function dead(place: Place): Promise<string> {
  const [id] = await makeDeliveries(database.pool, place);
  const token = await leaseRows(database.pool, [String(id)]);
  await finish(database.pool, [
    outcomeOf(String(id), token, { decision: "dead", outcome: "gone", reason: "gone", fingerprint: "gone" }),
  ]);
  return String(id);
}

describe("retry now", () => {
  it("makes a delayed delivery due, with the same id, key and history, and the claim takes it", async () => {
    const { id, place } = await delayed();
    const row = await readRow(database.pool, "delivery", id);
    expect(await retry(id)).toMatchObject({ applied: true, before: { state: "delayed", attempts: 1 } });
    const now = await readRow(database.pool, "delivery", id);
    expect(timeOf(now, "due_at")).toBeLessThanOrEqual(await databaseNowMs(database.pool));
    expect({ ...now, due_at: null }).toEqual({ ...row, due_at: null });
    expect((await claim(database.pool, request([{ ...place, lane: "retry", wanted: 1 }]))).ids).toEqual([id]);
    expect((await readAudit(database, dlv(id))).map(({ action, result }) => `${action} ${result}`)).toEqual([
      "delivery.retry_now done",
    ]);
  });

  it("is refused, with the reason, for what is in flight, held, untried, due, dead, ended or unknown", async () => {
    const refused = async (id: string, words: RegExp, code = "state_conflict") =>
      expect(retry(id)).rejects.toMatchObject({ code, detail: expect.stringMatching(words) });
    const { id, place } = await delayed();
    const [fresh] = await makeDeliveries(database.pool, { ...place, dueInMs: HOUR_MS });
    await refused(String(fresh), /not been tried yet/);
    await retry(id);
    await refused(id, /due already/);
    const token = await leaseRows(database.pool, [id]);
    await refused(id, /in flight/);
    await finish(database.pool, [outcomeOf(id, token)]);
    await refused(id, /has ended: delivered/);
    await refused(await dead(place), /needs a reviewed batch/);
    await refused(randomUUID(), /does not exist/, "not_found");

    const held = await delayed();
    const end = { forMs: HOUR_MS };
    const pause = { tenantId: tenantId(held.place.tenantId), version: 1, reason: REASON, end };
    await pauseTenant(contextOf(database), pause);
    await refused(held.id, /held: its tenant is paused/);
  });
});

describe("cancel", () => {
  it("ends a waiting delivery in the archive; the key stays and so does every attempt", async () => {
    const { id } = await delayed();
    expect(await cancel(id)).toMatchObject({ after: { state: "cancelled" } });
    expect(await readRow(database.pool, "delivery", id)).toBeUndefined();
    expect(await readRow(database.pool, "delivery_archive", id)).toMatchObject({
      state: "cancelled",
      reason: CANCELLED_BY_STAFF,
      attempts: 1,
    });
    expect(await countRows(database.pool, "delivery_key WHERE delivery_id = $1", [id])).toBe(1);
    await expect(cancel(id)).rejects.toMatchObject({ code: "state_conflict" });
  });

  it("leaves what is in flight, dead or in a replay batch alone", async () => {
    const { id, place } = await delayed();
    await leaseRows(database.pool, [id]);
    await expect(cancel(id)).rejects.toMatchObject({ detail: expect.stringMatching(/in flight/) });
    await expect(cancel(await dead(place))).rejects.toMatchObject({ code: "state_conflict" });
    const [replayed] = await makeReplayRows(database.pool, place, await makeBatch(database.pool, "running"));
    await expect(cancel(String(replayed))).rejects.toMatchObject({
      detail: expect.stringMatching(/stop the batch/),
    });
    expect(await readRow(database.pool, "delivery", String(replayed))).toBeDefined();
  });
});

describe("DLQ-3 will not replay", () => {
  it("marks the row with a reason and a new version, and keeps it", async () => {
    const place = await makePlace(database.pool);
    const id = await dead(place);
    const row = await readRow(database.pool, "dead_letter", id);
    const command = { deliveryId: dlv(id), version: 1, reason: REASON };
    expect(await willNotReplay(contextOf(database), command)).toMatchObject({ version: 2 });
    expect(await readRow(database.pool, "dead_letter", id)).toEqual({
      ...row,
      will_not_replay_at: expect.any(Date),
      will_not_replay_reason: REASON,
      version: 2,
    });
    await expect(willNotReplay(contextOf(database), command)).rejects.toMatchObject({
      code: "version_conflict",
    });
    const again = { ...command, version: 2 };
    await expect(willNotReplay(contextOf(database), again)).rejects.toMatchObject({ code: "state_conflict" });
    expect((await readAudit(database, dlv(id))).map(({ result }) => result)).toEqual([
      "done",
      "conflict",
      "conflict",
    ]);
  });

  it("is for dead letters only", async () => {
    const { id } = await delayed();
    const command = { deliveryId: dlv(id), version: 1, reason: REASON };
    await expect(willNotReplay(contextOf(database), command)).rejects.toMatchObject({ code: "not_found" });
  });
});
