/** Rows given back unsent, and rows read under their token. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  leaseRows,
  makeBatch,
  makePlace,
  makeReplayRows,
  openTransaction,
  type Place,
  readRow,
  request,
  timeOf,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { readClaimed } from "./read-claimed.ts";
import { release } from "./release.ts";
import { releaseUnanswered } from "./release-unanswered.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

const WAITING = { lease_token: null, lease_until: null, leased_at: null, leased_by: null };

describe("LEASE-3 release says that nothing was sent", () => {
  it("gives each row its former state, lane, due time and counters", async () => {
    const own = await makePlace(database.pool);
    const batchId = await makeBatch(database.pool, "running");
    const ids = [
      ...(await makeDeliveries(database.pool, own)),
      ...(await makeDeliveries(database.pool, { ...own, lane: "retry" })),
      ...(await makeDeliveries(database.pool, { ...own, lostLeases: 1 })),
      ...(await makeReplayRows(database.pool, own, batchId)),
    ];
    const before = await Promise.all(ids.map((id) => readRow(database.pool, "delivery", id)));
    const lanes = (["first", "retry", "replay"] as const).map((lane) => ({ ...own, lane, wanted: 5 }));
    const claimed = await claim(database.pool, request(lanes));
    expect([...claimed.ids].sort()).toEqual([...ids].sort());
    expect(await release(database.pool, claimed.ids, claimed.token)).toBe(4);
    expect(await Promise.all(ids.map((id) => readRow(database.pool, "delivery", id)))).toEqual(before);
    expect(before.map((row) => row?.state)).toEqual(["ready", "delayed", "delayed", "delayed"]);
  });

  it("a replay of a delivery that never reached a request goes back to its lane", async () => {
    const batchId = await makeBatch(database.pool, "running");
    const [id] = await makeReplayRows(database.pool, place, batchId, { attempts: 0 });
    const token = await leaseRows(database.pool, [String(id)]);
    expect(await release(database.pool, [String(id)], token)).toBe(1);
    expect(await readRow(database.pool, "delivery", String(id))).toMatchObject({
      state: "delayed",
      lane: "replay",
      attempts: 0,
    });
  });

  it("counts only rows that still stand under the token: a second call, a stale token, an unknown id give 0", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 2 });
    const token = await leaseRows(database.pool, ids);
    expect(await release(database.pool, ids, randomUUID())).toBe(0);
    expect(await release(database.pool, [...ids, ...ids, randomUUID()], token)).toBe(2);
    expect(await release(database.pool, ids, token)).toBe(0);
    expect(await release(database.pool, [], token)).toBe(0);
    expect(await readRow(database.pool, "delivery", String(ids[0]))).toMatchObject({
      state: "ready",
      ...WAITING,
    });
  });

  it("does not touch a row that was claimed again since", async () => {
    const [id] = await makeDeliveries(database.pool, place);
    const old = await leaseRows(database.pool, [String(id)]);
    await release(database.pool, [String(id)], old);
    const fresh = await leaseRows(database.pool, [String(id)]);
    expect(await release(database.pool, [String(id)], old)).toBe(0);
    expect(await readRow(database.pool, "delivery", String(id))).toMatchObject({
      state: "leased",
      lease_token: fresh,
    });
  });
});

describe("readClaimed", () => {
  it("ID-7 gives envelope, counters and the body's exact bytes", async () => {
    const own = await makePlace(database.pool);
    const body = Buffer.from([0x7b, 0x00, 0xff, 0x0d, 0x0a, 0x7d]);
    const [id] = await makeDeliveries(database.pool, { ...own, body, lane: "retry", serviceClass: "urgent" });
    await database.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region, consecutive_gates) VALUES ($1, 'us', 3)",
      [own.destinationId],
    );
    await database.pool.query("UPDATE sluice.destination SET version = 7 WHERE id = $1", [own.destinationId]);
    const claimed = await claim(
      database.pool,
      request([{ ...own, lane: "retry", serviceClass: "urgent", wanted: 1 }]),
    );
    const row = await readRow(database.pool, "delivery", String(id));
    const [read] = await readClaimed(database.pool, claimed.ids, claimed.token);
    expect(read).toEqual({
      id,
      token: claimed.token,
      tenantId: own.tenantId,
      destinationId: own.destinationId,
      destinationVersion: 7,
      eventType: "test.event",
      idempotencyKey: `key-${id}`,
      traceparent: null,
      serviceClass: "urgent",
      lane: "retry",
      replayBatchId: null,
      replayHeader: null,
      replayAttempts: null,
      dueMs: expect.closeTo(timeOf(row, "due_at"), -1),
      attempts: 1,
      failures: 1,
      rejections: 0,
      throttles: 0,
      throttledMs: 0,
      lostLeases: 0,
      cycle: 1,
      consecutiveGates: 3,
      payloadBytes: 6,
      contentType: "application/json",
      body,
    });
  });

  it("reads nothing without the standing token", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 3 });
    const token = await leaseRows(database.pool, ids.slice(0, 2));
    await leaseRows(database.pool, ids.slice(2));
    const read = await readClaimed(database.pool, [...ids, randomUUID()], token);
    expect(read.map(({ id }) => id).sort()).toEqual(ids.slice(0, 2));
    expect(await readClaimed(database.pool, ids, randomUUID())).toEqual([]);
    await release(database.pool, ids, token);
    expect(await readClaimed(database.pool, ids, token)).toEqual([]);
  });

  it("ID-9 an erased body is null with its content type, a missing payload null without, an empty body is empty", async () => {
    const [erased] = await makeDeliveries(database.pool, place);
    const [missing] = await makeDeliveries(database.pool, place);
    const [empty] = await makeDeliveries(database.pool, { ...place, body: Buffer.alloc(0) });
    await database.pool.query(
      "UPDATE sluice.payload SET body = NULL, erased_at = clock_timestamp() WHERE id = $1",
      [erased],
    );
    await database.pool.query("DELETE FROM sluice.payload WHERE id = $1", [missing]);
    const ids = [erased, missing, empty].map(String);
    const read = await readClaimed(database.pool, ids, await leaseRows(database.pool, ids));
    const byId = new Map(read.map((row) => [row.id, row]));
    expect(byId.get(String(erased))).toMatchObject({ body: null, contentType: "application/json" });
    expect(byId.get(String(missing))).toMatchObject({ body: null, contentType: null });
    expect(byId.get(String(empty))?.body).toEqual(Buffer.alloc(0));
  });
});

describe("LEASE-6 a claim whose answer was lost", () => {
  const lease = async (own: Place, workerId: string, count = 2) => {
    const entry = { ...own, lane: "first" as const, wanted: count };
    return claim(database.pool, request([entry], { workerId }));
  };
  const states = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await readRow(database.pool, "delivery", id))?.state));

  it("gives back what that claim leased, and nothing of any other, however late it is asked for", async () => {
    const own = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...own, count: 8 });
    const workerId = randomUUID();
    const heard = await lease(own, workerId);
    const lost = await lease(own, workerId);
    const others = await lease(own, randomUUID());
    expect(await releaseUnanswered(database.pool, lost.token)).toBe(2);
    expect(await states(lost.ids)).toEqual(["ready", "ready"]);
    // The same rows, claimed again and heard: out of reach for a call that comes twice.
    const again = await lease(own, workerId);
    expect([...again.ids].sort()).toEqual([...lost.ids].sort());
    expect(await releaseUnanswered(database.pool, lost.token)).toBe(0);
    expect(await states([...heard.ids, ...again.ids, ...others.ids])).toEqual(Array(6).fill("leased"));
    expect(await releaseUnanswered(database.pool, randomUUID())).toBe(0);
  });

  it("waits until that claim has ended when it is still open, so that it cannot come afterwards", async () => {
    const own = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...own, count: 1 });
    const open = await openTransaction(database.pool);
    const lost = await claim(open.client, request([{ ...own, lane: "first", wanted: 1 }]));
    const released = releaseUnanswered(database.pool, lost.token);
    await waitUntilBlocked(database.pool, "release_unanswered");
    await open.commit();
    expect(await released).toBe(1);
    expect(await states(lost.ids)).toEqual(["ready"]);
  });
});
