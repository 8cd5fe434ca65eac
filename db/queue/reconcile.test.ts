/** What the reconciler brings back, ends and cancels, and what it leaves alone. On a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  leaseRows,
  makeBatch,
  makePlace,
  makeReplayRows,
  openTransaction,
  type Place,
  readAttempts,
  readRow,
} from "#tests/support/queue-rows/sql.ts";
import { cancelDeleted, returnExpiredLeases } from "./reconcile.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.delivery");
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

const EXPIRED = { untilInMs: -1, leasedAgoMs: 30_000 };

async function expiredRow(
  options: Partial<Parameters<typeof makeDeliveries>[1]> = {},
): Promise<[string, string]> {
  const [id] = await makeDeliveries(database.pool, { ...place, ...options });
  return [String(id), await leaseRows(database.pool, [String(id)], EXPIRED)];
}

describe("LEASE-3 expired leases", () => {
  it("go back to delayed with the same id, key, lane and due time, one attempt more, and leave an attempt row", async () => {
    const [id, token] = await expiredRow({ dueInMs: -90_000 });
    const before = await readRow(database.pool, "delivery", id);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    const after = await readRow(database.pool, "delivery", id);
    const cleared = { lease_token: null, lease_until: null, leased_at: null, leased_by: null };
    const changed = {
      state: "delayed",
      attempts: 1,
      lost_leases: 1,
      last_outcome: "lease_expired",
      last_status: null,
    };
    expect(after).toEqual({ ...before, ...changed, ...cleared });
    expect(after).toMatchObject({ lane: "first", first_attempt_at: null, failures: 0 });
    const attempts = await readAttempts(database.pool, id);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      kind: "lease_expired",
      number: 1,
      lane: "first",
      lease_token: token,
      worker_id: before?.leased_by,
      outcome: "lease_expired",
      decision: "delayed",
      started_at: before?.leased_at,
      due_at: before?.due_at,
      next_due_at: before?.due_at,
      counted_failure: false,
    });
    expect(attempts[0]?.duration_ms).toBeGreaterThanOrEqual(30_000);
  });

  it("keep the retry and the replay lane", async () => {
    const [retry] = await expiredRow({ lane: "retry" });
    const batchId = await makeBatch(database.pool, "running");
    const [replay] = await makeReplayRows(database.pool, place, batchId);
    await leaseRows(database.pool, [String(replay)], EXPIRED);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 2, dead: 0 });
    expect(await readRow(database.pool, "delivery", retry)).toMatchObject({
      lane: "retry",
      attempts: 2,
      failures: 1,
    });
    const back = { lane: "replay", attempts: 4, replay_batch_id: batchId };
    expect(await readRow(database.pool, "delivery", String(replay))).toMatchObject(back);
  });

  it("live leases are never touched, however old the row is (fault 58)", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 3, dueInMs: -3_600_000 });
    await leaseRows(database.pool, ids, { untilInMs: 60_000, leasedAgoMs: 3_600_000 });
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 0 });
    expect(await countRows(database.pool, "delivery WHERE state = 'leased'")).toBe(3);
  });

  it("a lease that is replaced while the reconciler looks is not taken back: rechecked at the update (fault 58)", async () => {
    const [id] = await expiredRow();
    const other = await openTransaction(database.pool);
    await other.client.query(
      "UPDATE sluice.delivery SET lease_until = clock_timestamp() + interval '1 minute' WHERE id = $1",
      [id],
    );
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 0 });
    await other.commit();
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 0 });
    expect(await readRow(database.pool, "delivery", id)).toMatchObject({ state: "leased", attempts: 0 });
  });

  it("two reconcilers at once bring each row back once", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 200 });
    await leaseRows(database.pool, ids, EXPIRED);
    const results = await Promise.all(
      Array.from({ length: 4 }, () => returnExpiredLeases(database.pool, 80)),
    );
    const rest = await returnExpiredLeases(database.pool);
    expect([...results, rest].reduce((sum, { returned }) => sum + returned, 0)).toBe(200);
    expect(await countRows(database.pool, "attempt WHERE delivery_id = ANY($1)", [ids])).toBe(200);
    expect(await countRows(database.pool, "delivery WHERE state = 'delayed' AND attempts = 1")).toBe(200);
  });

  it("are taken at most a limit at a time, the longest expired first", async () => {
    const old = await makeDeliveries(database.pool, { ...place, count: 2 });
    const young = await makeDeliveries(database.pool, { ...place, count: 2 });
    await leaseRows(database.pool, young, EXPIRED);
    await leaseRows(database.pool, old, { untilInMs: -60_000 });
    expect(await returnExpiredLeases(database.pool, 2)).toEqual({ returned: 2, dead: 0 });
    expect(await countRows(database.pool, "delivery WHERE state = 'delayed' AND id = ANY($1)", [old])).toBe(
      2,
    );
  });

  it("also of a region that stood still for a month", async () => {
    const [id] = await makeDeliveries(database.pool, place);
    const month = 31 * 86_400_000;
    await leaseRows(database.pool, [String(id)], { untilInMs: -month, leasedAgoMs: month });
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
  });
});

describe("LEASE-5 the third lost lease in a row", () => {
  it("ends the delivery as worker_lost, with envelope, counters, group and attempt", async () => {
    const [id, token] = await expiredRow({ lane: "retry", lostLeases: 2 });
    const before = await readRow(database.pool, "delivery", id);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 1 });
    expect(await readRow(database.pool, "delivery", id)).toBeUndefined();
    const dead = await readRow(database.pool, "dead_letter", id);
    const same = [
      "tenant_id",
      "destination_id",
      "payload_id",
      "payload_bytes",
      "event_type",
      "idempotency_key",
      "service_class",
    ];
    for (const column of [
      ...same,
      "created_at",
      "first_due_at",
      "due_at",
      "cycle",
      "failures",
      "throttles",
    ]) {
      expect(dead?.[column], column).toEqual(before?.[column]);
    }
    expect(dead).toMatchObject({
      reason: "worker_lost",
      reason_class: "system",
      fingerprint: `worker_lost:${place.destinationId}`,
      attempts: 2,
      lost_leases: 3,
      last_outcome: "lease_expired",
    });
    expect(
      await countRows(database.pool, "dead_letter_group WHERE fingerprint = $1", [dead?.fingerprint]),
    ).toBe(1);
    const attempt = {
      kind: "lease_expired",
      number: 2,
      decision: "dead",
      reason: "worker_lost",
      lease_token: token,
    };
    expect(await readAttempts(database.pool, id)).toMatchObject([attempt]);
  });

  it("counts in a row only: first, second, third", async () => {
    const [id] = await expiredRow();
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    await leaseRows(database.pool, [id], EXPIRED);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    await leaseRows(database.pool, [id], EXPIRED);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 1 });
    expect((await readAttempts(database.pool, id)).map(({ number }) => number)).toEqual([1, 2, 3]);
  });
});

async function softDelete(table: "destination" | "tenant", id: string): Promise<void> {
  await database.pool.query(`UPDATE sluice.${table} SET deleted_at = now() WHERE id = $1`, [id]);
}

describe("deliveries of a deleted destination", () => {
  it("become cancelled in chunks, with their whole envelope in the archive; leased ones are left to their outcome", async () => {
    const ids = [
      ...(await makeDeliveries(database.pool, { ...place, count: 3 })),
      ...(await makeDeliveries(database.pool, { ...place, lane: "retry", count: 2 })),
      ...(await makeDeliveries(database.pool, { ...place, dueInMs: 3_600_000 })),
    ];
    const [leased] = await makeDeliveries(database.pool, place);
    await leaseRows(database.pool, [String(leased)]);
    const before = await readRow(database.pool, "delivery", String(ids[4]));
    await softDelete("destination", place.destinationId);
    expect([
      await cancelDeleted(database.pool, 4),
      await cancelDeleted(database.pool, 4),
      await cancelDeleted(database.pool, 4),
    ]).toEqual([4, 2, 0]);
    expect(
      await countRows(
        database.pool,
        "delivery_archive WHERE id = ANY($1) AND state = 'cancelled' AND reason = 'destination_deleted'",
        [ids],
      ),
    ).toBe(6);
    const archived = await readRow(database.pool, "delivery_archive", String(ids[4]));
    for (const column of [
      "tenant_id",
      "payload_id",
      "idempotency_key",
      "created_at",
      "due_at",
      "attempts",
      "failures",
      "cycle",
    ]) {
      expect(archived?.[column], column).toEqual(before?.[column]);
    }
    expect(await readRow(database.pool, "delivery", String(leased))).toMatchObject({ state: "leased" });
  });

  it("also of a deleted tenant, and nobody else's", async () => {
    const other = await makePlace(database.pool);
    for (const each of [place, other]) await makeDeliveries(database.pool, each);
    await softDelete("tenant", place.tenantId);
    expect(await cancelDeleted(database.pool)).toBe(1);
    expect(await countRows(database.pool, "delivery WHERE destination_id = $1", [other.destinationId])).toBe(
      1,
    );
  });

  it("passes over a locked row, and two reconcilers cancel each row once", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 100 });
    await softDelete("destination", place.destinationId);
    const other = await openTransaction(database.pool);
    await other.client.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [ids[0]]);
    const counts = await Promise.all([cancelDeleted(database.pool), cancelDeleted(database.pool)]);
    expect(counts[0] + counts[1]).toBe(99);
    await other.commit();
    expect(await cancelDeleted(database.pool)).toBe(1);
    expect(await countRows(database.pool, "delivery_archive WHERE id = ANY($1)", [ids])).toBe(100);
  });
});
