/** The limits that a claim keeps exactly: caps by destination and tenant, and rates. On a real server. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RATE_AHEAD_MS, takeTokens } from "#domain/rate.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  leaseRows,
  makePlace,
  openTransaction,
  type Place,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { claim } from "./claim.ts";

let database: TestDatabase;
/** One process: what a change of process costs a rate is in rate-handover.test.ts. */
const SAME = { workerId: randomUUID() };

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

async function takes(entries: Parameters<typeof request>[0]): Promise<number[]> {
  return (await claim(database.pool, request(entries, SAME))).entries.map(({ taken }) => taken);
}

/** The same for one of many claimers: who has waited a second for the others took nothing and asks again. */
async function takesInTheEnd(entries: Parameters<typeof request>[0]): Promise<number[]> {
  for (;;) {
    const taken = await takes(entries).catch((error: { code?: string }) => {
      if (error.code !== "55P03") throw error;
      return null;
    });
    if (taken !== null) return taken;
  }
}

async function leased(place: Place): Promise<number> {
  return countRows(database.pool, "delivery WHERE state = 'leased' AND destination_id = $1", [
    place.destinationId,
  ]);
}

describe("FAIR-1 the cap of a destination", () => {
  it("is exact over calls, and has room again when a lease ends or is finished (fault 61)", async () => {
    const place = await makePlace(database.pool, { destinationCap: 3 });
    const ids = await makeDeliveries(database.pool, { ...place, count: 10 });
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([2]);
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([1]);
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([0]);
    await database.pool.query("UPDATE sluice.delivery SET lease_until = clock_timestamp() WHERE id = $1", [
      ids[0],
    ]);
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([1]);
    await database.pool.query("DELETE FROM sluice.delivery WHERE id = $1", [ids[1]]);
    expect(await takes([{ ...place, wanted: 9 }])).toEqual([1]);
  });

  it("is shared by all lanes and classes of one call", async () => {
    const place = await makePlace(database.pool, { destinationCap: 5 });
    for (const lane of ["first", "retry"] as const) {
      for (const serviceClass of ["urgent", "routine"] as const) {
        await makeDeliveries(database.pool, { ...place, lane, serviceClass, count: 4 });
      }
    }
    const entries = (["first", "retry"] as const).flatMap((lane) =>
      (["urgent", "routine"] as const).map((serviceClass) => ({ ...place, lane, serviceClass, wanted: 2 })),
    );
    expect(await takes(entries)).toEqual([2, 2, 1, 0]);
    expect(await leased(place)).toBe(5);
  });

  it("leaves room for the second lane of a call when there is room for both", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await makeDeliveries(database.pool, { ...place, count: 5 });
    await makeDeliveries(database.pool, { ...place, lane: "retry", count: 5 });
    const taken = await claim(
      database.pool,
      request([
        { ...place, wanted: 5 },
        { ...place, lane: "retry", wanted: 3 },
      ]),
    );
    expect(taken.entries).toEqual([
      { taken: 5, blocker: null, untilMs: null },
      { taken: 3, blocker: null, untilMs: null },
    ]);
  });

  it("is kept when a lane stands twice in a call", async () => {
    const place = await makePlace(database.pool, { destinationCap: 4, ratePerSecond: 0.001, rateBurst: 5 });
    await makeDeliveries(database.pool, { ...place, count: 10 });
    await takes([
      { ...place, wanted: 3 },
      { ...place, wanted: 3 },
    ]);
    expect(await leased(place)).toBeLessThanOrEqual(4);
    await takes([
      { ...place, wanted: 3 },
      { ...place, wanted: 3 },
    ]);
    expect(await leased(place)).toBe(4);
  });

  it("falls back to the region's default, and obeys a lower adaptive limit", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, count: 30 });
    await database.pool.query("UPDATE sluice.destination SET concurrency_limit = NULL WHERE id = $1", [
      place.destinationId,
    ]);
    await database.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit) VALUES ($1, 'us', 4)",
      [place.destinationId],
    );
    expect(await takes([{ ...place, wanted: 30 }])).toEqual([4]);
    await database.pool.query(
      "UPDATE sluice.destination_state SET adaptive_limit = 50 WHERE destination_id = $1",
      [place.destinationId],
    );
    expect(await takes([{ ...place, wanted: 30 }])).toEqual([6]);
  });
});

describe("FAIR-2 the cap of a tenant", () => {
  it("is exact over destinations, entries and calls", async () => {
    const one = await makePlace(database.pool, { tenantCap: 5 });
    const two = await makePlace(database.pool, { tenantId: one.tenantId });
    const stranger = await makePlace(database.pool);
    for (const place of [one, two, stranger]) await makeDeliveries(database.pool, { ...place, count: 10 });
    const entries = [one, stranger, two].map((place) => ({ ...place, wanted: 3 }));
    expect(await takes(entries)).toEqual([3, 3, 2]);
    expect(await takes(entries)).toEqual([0, 3, 0]);
    expect((await leased(one)) + (await leased(two))).toBe(5);
  });

  it("holds for a thousand rows of many destinations that are asked for at once", async () => {
    const first = await makePlace(database.pool, { tenantCap: 17 });
    const places = [first];
    for (let n = 0; n < 9; n++)
      places.push(await makePlace(database.pool, { tenantId: first.tenantId, destinationCap: 4 }));
    for (const place of places) await makeDeliveries(database.pool, { ...place, count: 20 });
    const counts = await takes(places.slice(1).map((place) => ({ ...place, wanted: 20 })));
    expect(counts).toEqual([4, 4, 4, 4, 1, 0, 0, 0, 0]);
  });
});

describe("FAIR-1 two claimers at once (fault 2)", () => {
  it("the second waits for the open claim of the first, sees its leases and takes none over a cap of 2", async () => {
    const place = await makePlace(database.pool, { destinationCap: 2 });
    await makeDeliveries(database.pool, { ...place, count: 10 });
    const first = await openTransaction(database.pool);
    const taken = await claim(first.client, request([{ ...place, wanted: 2 }]));
    const second = claim(database.pool, request([{ ...place, wanted: 2 }]));
    await waitUntilBlocked(database.pool, "sluice.claim");
    await first.commit();
    expect(taken.ids).toHaveLength(2);
    expect(await second).toMatchObject({ ids: [], entries: [{ taken: 0, blocker: "destination_cap" }] });
    expect(await leased(place)).toBe(2);
  });

  it("the second takes what the first gives up by a rollback", async () => {
    const place = await makePlace(database.pool, { destinationCap: 2 });
    await makeDeliveries(database.pool, { ...place, count: 10 });
    const first = await openTransaction(database.pool);
    await claim(first.client, request([{ ...place, wanted: 2 }]));
    const second = claim(database.pool, request([{ ...place, wanted: 2 }]));
    await waitUntilBlocked(database.pool, "sluice.claim");
    await first.rollback();
    expect((await second).ids).toHaveLength(2);
    expect(await leased(place)).toBe(2);
  });

  it("a claim gives up with 55P03 when the lock stays held for a second, and takes nothing", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...place, count: 2 });
    const holder = await openTransaction(database.pool);
    await holder.client.query("SELECT sluice.barrier()");
    await expect(claim(database.pool, request([{ ...place, wanted: 2 }]))).rejects.toMatchObject({
      code: "55P03",
    });
    await holder.commit();
    expect(await leased(place)).toBe(0);
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([2]);
  });

  it("CTL-3 a barrier waits for the open claim and returns after its commit", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, place);
    const first = await openTransaction(database.pool);
    await claim(first.client, request([{ ...place, wanted: 1 }]));
    const barrier = database.pool.query("SELECT sluice.barrier()").then(() => leased(place));
    await waitUntilBlocked(database.pool, "sluice.barrier");
    await first.commit();
    expect(await barrier).toBe(1);
  });

  it("refuses a transaction whose snapshot would be older than the lock", async () => {
    const place = await makePlace(database.pool, { destinationCap: 2 });
    await makeDeliveries(database.pool, { ...place, count: 10 });
    await makeDeliveries(database.pool, { ...place, lane: "retry", count: 10 });
    const stale = await openTransaction(database.pool);
    await stale.client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await stale.client.query("SELECT 1 FROM sluice.region_control");
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([2]);
    const late = claim(stale.client, request([{ ...place, lane: "retry", wanted: 2 }]));
    await expect(late).rejects.toMatchObject({ code: "25000" });
    await stale.rollback();
    expect(await leased(place)).toBe(2);
  });

  it("ten claimers with small claims never exceed either cap", async () => {
    const one = await makePlace(database.pool, { tenantCap: 7, destinationCap: 4 });
    const two = await makePlace(database.pool, { tenantId: one.tenantId, destinationCap: 4 });
    for (const place of [one, two]) await makeDeliveries(database.pool, { ...place, count: 20 });
    const calls = Array.from({ length: 10 }, () =>
      takesInTheEnd([one, two].map((place) => ({ ...place, wanted: 2 }))),
    );
    const total = (await Promise.all(calls)).flat().reduce((sum, n) => sum + n, 0);
    expect(total).toBe(7);
    expect(await leased(one)).toBeLessThanOrEqual(4);
    expect(await leased(two)).toBeLessThanOrEqual(4);
  });
});

/** One token in ten seconds, so that the test's own seconds do not matter; time passes by moving the stored time back. */
const SLOW = 0.1;
async function passSeconds(place: Place, seconds: number): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.destination_rate SET rate_tat = rate_tat - $2::float8 * interval '1 second' WHERE destination_id = $1",
    [place.destinationId, seconds],
  );
}

describe("FAIR-1 the rate of a destination", () => {
  it("gives the burst at once and then one request per interval, never more", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: SLOW, rateBurst: 3 });
    await makeDeliveries(database.pool, { ...place, count: 30 });
    const ask = async () => (await takes([{ ...place, wanted: 10 }]))[0];
    expect(await ask()).toBe(3);
    expect(await ask()).toBe(0);
    const series: unknown[] = [];
    for (const seconds of [9, 1, 10, 10, 5, 5, 25, 0, 100]) {
      await passSeconds(place, seconds);
      series.push(await ask());
    }
    expect(series).toEqual([0, 1, 1, 1, 0, 1, 2, 0, 3]);
    expect(await leased(place)).toBe(12);
  });

  it("spends tokens only for rows that were taken", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: SLOW, rateBurst: 5 });
    await makeDeliveries(database.pool, { ...place, count: 2 });
    const taken = await claim(database.pool, request([{ ...place, wanted: 5 }], SAME));
    expect(taken.ids).toHaveLength(2);
    const state = await database.pool.query<{ ahead: number }>(
      "SELECT extract(epoch FROM rate_tat - $2)::float8 AS ahead FROM sluice.destination_rate WHERE destination_id = $1",
      [place.destinationId, new Date(taken.claimedAtMs)],
    );
    expect(state.rows[0]?.ahead).toBeCloseTo(20, 1);
    await makeDeliveries(database.pool, { ...place, count: 9 });
    expect(await takes([{ ...place, wanted: 9 }])).toEqual([3]);
  });

  it("is shared by the entries of one call, and says when the next token is there", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: SLOW, rateBurst: 5 });
    await makeDeliveries(database.pool, { ...place, count: 9 });
    await makeDeliveries(database.pool, { ...place, lane: "retry", count: 9 });
    const lanes = (["first", "retry", "replay"] as const).map((lane, n) => ({
      ...place,
      lane,
      wanted: [3, 4, 1][n] ?? 0,
    }));
    const taken = await claim(database.pool, request(lanes, SAME));
    const seen = taken.entries.map((entry) => `${entry.taken} ${entry.blocker}`);
    expect(seen).toEqual(["3 null", "2 rate", "0 rate"]);
    // Five of five spent: the next one comes an interval after the claim.
    expect(taken.entries[1]?.untilMs).toBeCloseTo(taken.claimedAtMs + 10_000, -1);
    const again = await claim(database.pool, request([{ ...place, wanted: 1 }], SAME));
    expect(again.entries[0]?.blocker).toBe("rate");
    expect(again.entries[0]?.untilMs).toBeCloseTo(taken.claimedAtMs + 10_000, -1);
  });

  it("FAIR-10 a claim that takes nothing spends nothing", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: SLOW, rateBurst: 1, destinationCap: 1 });
    const [busy] = await makeDeliveries(database.pool, { ...place, count: 2 });
    await leaseRows(database.pool, [String(busy)]);
    expect(await takes([{ ...place, wanted: 1 }])).toEqual([0]);
    expect(
      await countRows(database.pool, "destination_state WHERE destination_id = $1", [place.destinationId]),
    ).toBe(0);
  });

  it("is the limit of domain/rate.ts for any stored time, rate and burst", async () => {
    const tenant = await makePlace(database.pool);
    const anyCase = fc.record({
      ratePerSecond: fc.integer({ min: 1, max: 100_000_000 }).map((thousandths) => thousandths / 1_000),
      burst: fc.integer({ min: 1, max: 50 }),
      aheadMs: fc.integer({ min: -10_000, max: 600_000 }),
    });
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ ratePerSecond, burst, aheadMs }) => {
        const destinationId = await makeDestination(database.pool, tenant.tenantId, {
          ratePerSecond,
          rateBurst: burst,
          concurrencyLimit: 1_000,
        });
        const place = { ...tenant, destinationId };
        await makeDeliveries(database.pool, { ...place, count: burst + 1 });
        const tatMs = Math.floor(await databaseNowMs(database.pool)) + aheadMs;
        await database.pool.query(
          "INSERT INTO sluice.destination_rate (destination_id, region, rate_tat) VALUES ($1, 'us', to_timestamp($2::float8 / 1000))",
          [destinationId, tatMs],
        );
        const taken = await claim(database.pool, request([{ ...place, wanted: burst + 1 }]));
        const answer = (nowMs: number) => takeTokens(tatMs, { ratePerSecond, burst }, nowMs, burst + 1);
        // The claim's time is known to the millisecond.
        const [least, most] = [answer(taken.claimedAtMs), answer(taken.claimedAtMs + 1)];
        expect(taken.ids.length).toBeGreaterThanOrEqual(least.taken);
        expect(taken.ids.length).toBeLessThanOrEqual(most.taken);
        const pace = taken.paces[0];
        if (!pace) return void expect(taken.ids).toEqual([]);
        expect(pace.gapMs).toBeCloseTo(1000 / ratePerSecond, 6);
        expect(pace.startMs).toBeGreaterThanOrEqual(least.firstTokenMs - 0.01);
        expect(pace.startMs).toBeLessThanOrEqual(most.firstTokenMs + 0.01);
      }),
      { numRuns: 60 },
    );
  });

  it("FAIR-7 counts at once when it is raised: what the slower one had spent ahead does not hold it", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: 0.001, rateBurst: 2 });
    await makeDeliveries(database.pool, { ...place, count: 9 });
    expect(await takes([{ ...place, wanted: 2 }])).toEqual([2]);
    await database.pool.query("UPDATE sluice.destination SET rate_per_second = 20 WHERE id = $1", [
      place.destinationId,
    ]);
    const raised = await claim(database.pool, request([{ ...place, wanted: 2 }], SAME));
    expect(raised.entries).toMatchObject([{ taken: 0, blocker: "rate" }]);
    expect(raised.entries[0]?.untilMs).toBeLessThanOrEqual(raised.claimedAtMs + 51 + RATE_AHEAD_MS);
    await waitFor(async () => (await takes([{ ...place, wanted: 1 }]))[0] === 1, {
      what: "a token at the new rate",
    });
  });

  it("survives a stored time that lies years ahead: that entry waits, the others do not", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: 100_000, rateBurst: 1 });
    const other = await makePlace(database.pool);
    for (const each of [place, other]) await makeDeliveries(database.pool, each);
    await database.pool.query(
      "INSERT INTO sluice.destination_rate (destination_id, region, rate_tat) VALUES ($1, 'us', clock_timestamp() + interval '3 years')",
      [place.destinationId],
    );
    const entries = [place, other].map((each) => ({ ...each, wanted: 1 }));
    expect((await takes(entries))[1]).toBe(1);
  });

  it("does not wait for somebody who holds the destination's state row: the claim lock is in its hand", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: 10, rateBurst: 2 });
    await makeDeliveries(database.pool, { ...place, count: 2 });
    await database.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region) VALUES ($1, 'us')",
      [place.destinationId],
    );
    const holder = await database.pool.connect();
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT 1 FROM sluice.destination_state WHERE destination_id = $1 FOR UPDATE", [
        place.destinationId,
      ]);
      expect(await takes([{ ...place, wanted: 2 }])).toEqual([2]);
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
  });
});
