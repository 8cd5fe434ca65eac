/** Which rows a claim takes, and what it writes on them. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
  openTransaction,
  readRow,
  request,
} from "#tests/support/queue-rows/sql.ts";
import { claim, MAX_CLAIM_ENTRIES } from "./claim.ts";
import { release } from "./release.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

describe("LEASE-1 exactly the rows that were asked for", () => {
  it.each([
    "SELECT 1",
    "SET LOCAL enable_nestloop = off",
    "SET LOCAL enable_sort = off",
    "SET LOCAL enable_material = off",
    "SET LOCAL enable_indexscan = off",
    "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_sort = off; SET LOCAL enable_material = off",
    "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off; SET LOCAL enable_nestloop = off; SET LOCAL enable_tidscan = off",
  ])("takes 7 of 300 with: %s", async (settings) => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, lane: "first", count: 300 });
    const { client, commit } = await openTransaction(database.pool);
    await client.query(settings);
    const taken = await claim(client, request([{ ...place, wanted: 7 }]));
    await commit();
    expect(taken.ids).toHaveLength(7);
    const where = "delivery WHERE state = 'leased' AND destination_id = $1";
    expect(await countRows(database.pool, where, [place.destinationId])).toBe(7);
  });

  it("takes due rows only, the oldest due time first, the lower id first at the same time", async () => {
    const place = await makePlace(database.pool);
    const rows = { ...place, lane: "first" as const };
    const [later] = await makeDeliveries(database.pool, { ...rows, dueInMs: HOUR_MS });
    const [young] = await makeDeliveries(database.pool, { ...rows, dueInMs: -1_000 });
    const [old] = await makeDeliveries(database.pool, { ...rows, dueInMs: -60_000 });
    const same = await makeDeliveries(database.pool, { ...rows, dueInMs: -30_000, count: 3 });
    await database.pool.query(
      "UPDATE sluice.delivery SET due_at = (SELECT min(due_at) FROM sluice.delivery WHERE id = ANY($1)) WHERE id = ANY($1)",
      [same],
    );
    const one = async () => (await claim(database.pool, request([{ ...place, wanted: 1 }]))).ids[0];
    expect([await one(), await one(), await one(), await one(), await one()]).toEqual([old, ...same, young]);
    expect(await one()).toBeUndefined();
    expect(await readRow(database.pool, "delivery", String(later))).toMatchObject({ state: "ready" });
  });

  it("takes only the lane, class, tenant and destination of its entry", async () => {
    const here = await makePlace(database.pool);
    const sibling = await makePlace(database.pool, { tenantId: here.tenantId });
    const stranger = await makePlace(database.pool);
    const mine = await makeDeliveries(database.pool, {
      ...here,
      lane: "retry",
      serviceClass: "urgent",
      count: 2,
    });
    await makeDeliveries(database.pool, { ...here, lane: "retry" });
    await makeDeliveries(database.pool, { ...here, serviceClass: "urgent" });
    await makeDeliveries(database.pool, { ...sibling, lane: "retry", serviceClass: "urgent" });
    await makeDeliveries(database.pool, { ...stranger, lane: "retry", serviceClass: "urgent" });
    const taken = await claim(
      database.pool,
      request([{ ...here, lane: "retry", serviceClass: "urgent", wanted: 9 }]),
    );
    expect([...taken.ids].sort()).toEqual(mine);
    const foreign = { ...here, tenantId: stranger.tenantId, wanted: 9 };
    expect(await claim(database.pool, request([foreign]))).toMatchObject({
      ids: [],
      entries: [{ blocker: "deleted" }],
    });
  });

  it("passes over a row that another transaction has locked, without waiting for it", async () => {
    const place = await makePlace(database.pool);
    const ids = await makeDeliveries(database.pool, { ...place, count: 3 });
    const other = await openTransaction(database.pool);
    await other.client.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [ids[0]]);
    const taken = await claim(database.pool, request([{ ...place, wanted: 2 }]));
    await other.commit();
    expect(taken.ids).toEqual(ids.slice(1));
  });

  it("takes nothing twice: a leased row is not claimed again before its lease is taken back", async () => {
    const place = await makePlace(database.pool);
    const ids = await makeDeliveries(database.pool, { ...place, count: 2 });
    await leaseRows(database.pool, [String(ids[0])], { untilInMs: -1_000 });
    const taken = await claim(database.pool, request([{ ...place, wanted: 9 }]));
    expect(taken.ids).toEqual([ids[1]]);
  });

  it("answers an empty call, and refuses a lease or a number of entries out of bounds", async () => {
    expect(await claim(database.pool, request([]))).toMatchObject({ ids: [], entries: [] });
    const place = await makePlace(database.pool);
    const entries = Array.from({ length: MAX_CLAIM_ENTRIES + 1 }, () => ({ ...place, wanted: 1 }));
    await expect(claim(database.pool, request(entries))).rejects.toMatchObject({ code: "22023" });
    await expect(claim(database.pool, request([], { leaseMs: 999 }))).rejects.toMatchObject({
      code: "22023",
    });
    await expect(claim(database.pool, request([], { leaseMs: HOUR_MS + 1 }))).rejects.toMatchObject({
      code: "22023",
    });
  });
});

describe("LEASE-2 token and deadline", () => {
  it("writes a fresh token for each claim, its worker, and a deadline by the database's clock", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, count: 2 });
    const workerId = randomUUID();
    const before = await databaseNowMs(database.pool);
    const first = await claim(
      database.pool,
      request([{ ...place, wanted: 1 }], { workerId, leaseMs: 20_000 }),
    );
    const second = await claim(
      database.pool,
      request([{ ...place, wanted: 1 }], { workerId, leaseMs: 20_000 }),
    );
    const after = await databaseNowMs(database.pool);
    expect(first.token).not.toBe(second.token);
    expect(first.claimedAtMs).toBeGreaterThanOrEqual(Math.floor(before));
    expect(second.claimedAtMs).toBeLessThanOrEqual(after);
    expect(first.leaseUntilMs - first.claimedAtMs).toBe(20_000);
    expect(await readRow(database.pool, "delivery", String(first.ids[0]))).toMatchObject({
      state: "leased",
      lease_token: first.token,
      leased_by: workerId,
      leased_at: new Date(first.claimedAtMs),
      lease_until: new Date(first.leaseUntilMs),
      attempts: 0,
    });
  });

  it("ID-8 answers with one small row that holds no body, also for 256 entries", async () => {
    const place = await makePlace(database.pool);
    const marker = "body-marker-7f3a";
    await makeDeliveries(database.pool, { ...place, count: 600, body: Buffer.from(marker.repeat(100)) });
    const others = Array.from({ length: MAX_CLAIM_ENTRIES - 1 }, () => randomUUID());
    const result = await database.pool.query<Record<string, unknown>>(
      `SELECT c.*, pg_column_size(c) AS size, position($2 IN c::text) AS body_at FROM sluice.claim('sluice', gen_random_uuid(), 30000, 33554432,
         array_fill('first'::sluice.lane, ARRAY[256]), array_fill('routine'::sluice.service_class, ARRAY[256]),
         array_fill($3::uuid, ARRAY[256]), $4::uuid[] || $1::uuid[], array_fill(512, ARRAY[256]), gen_random_uuid()) c`,
      [others, marker, place.tenantId, [place.destinationId]],
    );
    expect(result.rowCount).toBe(1);
    expect(result.rows[0]?.body_at).toBe(0);
    expect(result.rows[0]?.ids).toHaveLength(512);
    expect(result.rows[0]?.size).toBeLessThan(16 * 1024);
  });
});

describe("LEASE-5 rows that lost a lease", () => {
  it("go out one at a time per process, and take no slot from their neighbours", async () => {
    const place = await makePlace(database.pool);
    const suspects = await makeDeliveries(database.pool, {
      ...place,
      count: 3,
      lostLeases: 1,
      dueInMs: -5_000,
    });
    const clean = await makeDeliveries(database.pool, { ...place, count: 3 });
    const workerId = randomUUID();
    const first = await claim(database.pool, request([{ ...place, wanted: 10 }], { workerId }));
    expect([...first.ids].sort()).toEqual([suspects[0], ...clean].sort());
    expect(first.entries).toEqual([{ taken: 4, blocker: "deferred", untilMs: null }]);
    const again = await claim(database.pool, request([{ ...place, wanted: 10 }], { workerId }));
    expect(again.ids).toEqual([]);
    const other = await claim(database.pool, request([{ ...place, wanted: 10 }]));
    expect(other.ids).toEqual([suspects[1]]);
  });

  it("are counted over all entries of one call, and again after the lease of the one before has ended", async () => {
    const [one, two] = [await makePlace(database.pool), await makePlace(database.pool)];
    const [left] = await makeDeliveries(database.pool, { ...one, lostLeases: 1 });
    const [right] = await makeDeliveries(database.pool, { ...two, lostLeases: 2 });
    const workerId = randomUUID();
    const entries = [
      { ...one, wanted: 1 },
      { ...two, wanted: 1 },
    ];
    // Whose turn it is, chance decides.
    const first = (await claim(database.pool, request(entries, { workerId }))).ids;
    expect(first).toHaveLength(1);
    expect((await claim(database.pool, request(entries, { workerId }))).ids).toEqual([]);
    await database.pool.query(
      "UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 ms' WHERE id = $1",
      [first[0]],
    );
    const second = (await claim(database.pool, request(entries, { workerId }))).ids;
    expect([...first, ...second].sort()).toEqual([left, right].sort());
  });

  it("take turns between tenants: a tenant whose rows come first in the plan does not stand before all others", async () => {
    const [one, two] = [await makePlace(database.pool), await makePlace(database.pool)];
    for (const place of [one, two])
      await makeDeliveries(database.pool, { ...place, lostLeases: 1, count: 2 });
    const entries = [one, two].map((place) => ({ ...place, wanted: 2 }));
    const turns = [0, 0];
    for (let n = 0; n < 40; n++) {
      const taken = await claim(database.pool, request(entries, { workerId: randomUUID() }));
      taken.entries.forEach((entry, index) => {
        turns[index] = (turns[index] ?? 0) + entry.taken;
      });
      await release(database.pool, taken.ids, taken.token);
    }
    // Forty fair coins: fewer than five of a side comes once in ten million runs.
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(5);
  });
});

describe("the byte budget", () => {
  it("ends the claim before it is exceeded, in the order of entries and due times", async () => {
    const [one, two] = [await makePlace(database.pool), await makePlace(database.pool)];
    const big = await makeDeliveries(database.pool, { ...one, count: 2, body: Buffer.alloc(100) });
    await makeDeliveries(database.pool, { ...two, count: 2, body: Buffer.alloc(100) });
    const entries = [
      { ...one, wanted: 5 },
      { ...two, wanted: 5 },
    ];
    const taken = await claim(database.pool, request(entries, { maxBytes: 299 }));
    expect(taken.ids).toEqual(big);
    expect(taken.entries.map(({ taken: n, blocker }) => [n, blocker])).toEqual([
      [2, null],
      [0, "deferred"],
    ]);
  });

  it("lets one row through that is larger than the whole budget", async () => {
    const place = await makePlace(database.pool);
    const ids = await makeDeliveries(database.pool, { ...place, count: 2, body: Buffer.alloc(1_000) });
    const taken = await claim(database.pool, request([{ ...place, wanted: 2 }], { maxBytes: 10 }));
    expect(taken.ids).toEqual([ids[0]]);
    expect(taken.entries).toEqual([{ taken: 1, blocker: "deferred", untilMs: null }]);
  });
});

describe("DLQ-8 rows of a replay batch", () => {
  it.each([
    ["canary", 1],
    ["running", 1],
    ["approved", 0],
    ["canary_hold", 0],
    ["paused", 0],
    ["stopping", 0],
    ["stopped", 0],
    ["completed", 0],
    ["failed", 0],
  ])("in state %s: %i taken", async (state, expected) => {
    const place = await makePlace(database.pool);
    const batchId = await makeBatch(database.pool, state);
    await makeReplayRows(database.pool, place, batchId);
    const taken = await claim(database.pool, request([{ ...place, lane: "replay", wanted: 5 }]));
    expect(taken.ids).toHaveLength(expected);
  });

  it("leave the other lanes alone, and those leave them alone", async () => {
    const place = await makePlace(database.pool);
    const replayed = await makeReplayRows(database.pool, place, await makeBatch(database.pool, "running"));
    const [first] = await makeDeliveries(database.pool, place);
    expect((await claim(database.pool, request([{ ...place, wanted: 5 }]))).ids).toEqual([first]);
    expect((await claim(database.pool, request([{ ...place, lane: "replay", wanted: 5 }]))).ids).toEqual(
      replayed,
    );
  });
});
