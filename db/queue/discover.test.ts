/** What discovery finds, in which windows, and the next moment at which the clock makes something due. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeTenant } from "#tests/support/factories.ts";
import {
  databaseNowMs,
  fillRows,
  HOUR_MS,
  leaseRows,
  makePlace,
  type Place,
} from "#tests/support/queue-rows/sql.ts";
import { nextDue, recentLanes, WALK_START, type WalkPosition, walkAllLanes, walkLanes } from "./discover.ts";
import { shutGate } from "./shut-gate.ts";
import type { LaneHead } from "./types.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.delivery, sluice.destination_state");
  await database.pool.query(
    "UPDATE sluice.tenant SET paused_at = NULL, pause_until = NULL, pause_reason = NULL",
  );
  await database.pool.query(
    "UPDATE sluice.destination SET paused_at = NULL, pause_until = NULL, pause_reason = NULL",
  );
});

afterAll(() => database.drop());

function names(heads: readonly LaneHead[]): string[] {
  return heads.map((head) => `${head.lane} ${head.serviceClass} ${head.destinationId}`).sort();
}

async function setDue(ids: readonly string[], dueMs: number): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.delivery SET due_at = to_timestamp($2::float8 / 1000) WHERE id = ANY($1::uuid[])",
    [ids, dueMs],
  );
}

describe("recentLanes", () => {
  it("finds each lane whose rows became due in the window, with the oldest of those due times", async () => {
    const place = await makePlace(database.pool);
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    const old = await makeDeliveries(database.pool, place);
    const young = await makeDeliveries(database.pool, { ...place, count: 3 });
    await setDue(old, nowMs - 10_000);
    await setDue(young, nowMs - 3_000);
    await setDue(
      await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent" }),
      nowMs - 2_000,
    );
    await makeDeliveries(database.pool, { ...(await makePlace(database.pool)), dueInMs: HOUR_MS });
    await leaseRows(database.pool, await makeDeliveries(database.pool, await makePlace(database.pool)));

    const all = await recentLanes(database.pool, 0);
    const { tenantId, destinationId } = place;
    expect([...all.heads].sort((a, b) => a.dueMs - b.dueMs)).toEqual([
      { lane: "first", serviceClass: "routine", tenantId, destinationId, dueMs: nowMs - 10_000 },
      { lane: "retry", serviceClass: "urgent", tenantId, destinationId, dueMs: nowMs - 2_000 },
    ]);
    expect(all.readUpToMs).toBe(all.nowMs);
    expect(all.nowMs).toBeGreaterThanOrEqual(nowMs);

    const later = await recentLanes(database.pool, nowMs - 10_000);
    expect(later.heads.find((head) => head.lane === "first")?.dueMs).toBe(nowMs - 3_000);
    expect((await recentLanes(database.pool, nowMs - 2_000)).heads).toEqual([]);
  });

  it("says how far it read when a limit was met; windows that follow on each other miss no lane", async () => {
    const places: Place[] = [];
    for (let n = 0; n < 12; n++) places.push(await makePlace(database.pool));
    // A microsecond apart, all over the places.
    for (const place of [...places, ...places, ...places])
      await makeDeliveries(database.pool, { ...place, count: 2 });
    await makeDeliveries(database.pool, { ...(places[3] as Place), lane: "retry", count: 2 });
    const found = new Set<string>();
    let sinceMs = 0;
    let reads = 0;
    for (; reads < 100; reads++) {
      const recent = await recentLanes(database.pool, sinceMs, 5);
      for (const name of names(recent.heads)) found.add(name);
      expect(recent.readUpToMs).toBeGreaterThanOrEqual(sinceMs);
      if (recent.readUpToMs === recent.nowMs) break;
      sinceMs = recent.readUpToMs;
    }
    expect(found.size).toBe(13);
    expect(reads).toBeGreaterThan(10);
  });

  it("reads at most its limit for each lane and class", async () => {
    const [one, two] = [await makePlace(database.pool), await makePlace(database.pool)];
    await fillRows(database.pool, one, 50, -HOUR_MS);
    await fillRows(database.pool, two, 50, -HOUR_MS / 2);
    await makeDeliveries(database.pool, { ...two, serviceClass: "urgent" });
    const recent = await recentLanes(database.pool, 0, 40);
    expect(names(recent.heads)).toEqual(
      [`first routine ${one.destinationId}`, `first urgent ${two.destinationId}`].sort(),
    );
    expect(recent.readUpToMs).toBeLessThan(recent.nowMs - HOUR_MS / 2);
  });

  it("answers the database's time also when nothing is due", async () => {
    const before = await databaseNowMs(database.pool);
    const recent = await recentLanes(database.pool, 0);
    expect(recent.heads).toEqual([]);
    expect(recent.nowMs).toBeGreaterThanOrEqual(before);
    expect(recent.readUpToMs).toBe(recent.nowMs);
  });
});

describe("FAIR-5 walkLanes", () => {
  it("sees every lane once, in pages, whatever its depth, and gives the due ones with their oldest due time", async () => {
    const tenants = [
      await makeTenant(database.pool),
      await makeTenant(database.pool),
      await makeTenant(database.pool),
    ];
    const due: Place[] = [];
    for (let n = 0; n < 21; n++) {
      const place = await makePlace(database.pool, { tenantId: tenants[n % 3] });
      await fillRows(database.pool, place, n === 0 ? 500 : 3, -HOUR_MS);
      due.push(place);
    }
    const planned = await makePlace(database.pool, { tenantId: tenants[1] });
    await makeDeliveries(database.pool, { ...planned, dueInMs: HOUR_MS });
    await leaseRows(database.pool, await makeDeliveries(database.pool, await makePlace(database.pool)));
    await makeDeliveries(database.pool, { ...(await makePlace(database.pool)), serviceClass: "urgent" });
    await makeDeliveries(database.pool, { ...(await makePlace(database.pool)), lane: "retry" });

    const heads: LaneHead[] = [];
    const sizes: number[] = [];
    let from: WalkPosition | null = WALK_START;
    while (from !== null && sizes.length < 10) {
      const page: Awaited<ReturnType<typeof walkLanes>> = await walkLanes(
        database.pool,
        "first",
        "routine",
        from,
        8,
      );
      heads.push(...page.heads);
      sizes.push(page.lanes);
      from = page.next;
    }
    expect(sizes).toEqual([8, 8, 6]);
    expect(names(heads)).toEqual(due.map((place) => `first routine ${place.destinationId}`).sort());
    const oldest = await database.pool.query<{ destination_id: string; ms: number }>(
      "SELECT destination_id, (extract(epoch FROM min(due_at)) * 1000)::float8 AS ms FROM sluice.delivery GROUP BY 1",
    );
    const expected = new Map(oldest.rows.map((row) => [row.destination_id, row.ms]));
    for (const head of heads) expect(head.dueMs).toBe(expected.get(head.destinationId));
  });

  it("gives the first page of every kind in one statement, each as a walk of its own would", async () => {
    const places: Place[] = [];
    for (let n = 0; n < 5; n++) places.push(await makePlace(database.pool));
    for (const place of places) await fillRows(database.pool, place, 2, -HOUR_MS);
    const [first, second] = places as [Place, Place];
    await makeDeliveries(database.pool, { ...first, lane: "retry", serviceClass: "urgent" });
    await makeDeliveries(database.pool, {
      ...second,
      lane: "retry",
      serviceClass: "urgent",
      dueInMs: HOUR_MS,
    });
    const pages = await walkAllLanes(database.pool, 3);
    expect(pages).toHaveLength(6);
    expect(pages.map(({ lanes }) => lanes).sort()).toEqual([0, 0, 0, 0, 2, 3]);
    for (const { lane, serviceClass, ...page } of pages) {
      expect(page).toEqual(await walkLanes(database.pool, lane, serviceClass, WALK_START, 3));
    }
  });

  it("ends at once when there is nothing, and after a full last page", async () => {
    expect(await walkLanes(database.pool, "retry", "urgent", WALK_START, 5)).toEqual({
      heads: [],
      lanes: 0,
      next: null,
    });
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, place);
    const { tenantId, destinationId } = place;
    const page = await walkLanes(database.pool, "first", "routine", WALK_START, 1);
    expect(page).toMatchObject({ lanes: 1, next: { tenantId, destinationId } });
    expect(await walkLanes(database.pool, "first", "routine", { tenantId, destinationId }, 1)).toMatchObject({
      lanes: 0,
      next: null,
    });
  });
});

async function gate(place: Place, delayMs: number): Promise<number> {
  const { holdUntilMs } = await shutGate(database.pool, {
    destinationId: place.destinationId,
    deliveryId: randomUUID(),
    delayMs,
    startedMs: Date.now(),
    why: "retry_after",
    status: 429,
    retryAfter: null,
  });
  return holdUntilMs;
}

async function breaker(place: Place, state: "open" | "closed", untilMs: number): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, breaker, breaker_until)
     SELECT $1, region, $2, to_timestamp($3::float8 / 1000) FROM sluice.region_control
     ON CONFLICT (destination_id) DO UPDATE SET breaker = EXCLUDED.breaker, breaker_until = EXCLUDED.breaker_until`,
    [place.destinationId, state, untilMs],
  );
}

async function next(): Promise<number | null> {
  return (await nextDue(database.pool)).nextMs;
}

describe("LEASE-7 nextDue, for which the wake-up is set", () => {
  it("is the earliest future due time of any lane and class; what is due already does not count", async () => {
    expect(await next()).toBeNull();
    const place = await makePlace(database.pool);
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await makeDeliveries(database.pool, { ...place, dueInMs: -HOUR_MS });
    expect(await next()).toBeNull();
    await setDue(await makeDeliveries(database.pool, place), nowMs + HOUR_MS);
    expect(await next()).toBe(nowMs + HOUR_MS);
    await setDue(
      await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent" }),
      nowMs + 120_000,
    );
    expect(await next()).toBe(nowMs + 120_000);
    const [leased] = await makeDeliveries(database.pool, place);
    await setDue([String(leased)], nowMs + 60_000);
    await leaseRows(database.pool, [String(leased)]);
    expect(await next()).toBe(nowMs + 120_000);
    expect((await nextDue(database.pool)).nowMs).toBeGreaterThanOrEqual(nowMs);
  });

  it("has no cap: a due time in 30 days is told as such", async () => {
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await setDue(await makeDeliveries(database.pool, await makePlace(database.pool)), nowMs + 720 * HOUR_MS);
    expect(await next()).toBe(nowMs + 720 * HOUR_MS);
  });

  it("counts the opening of a gate only when something waits behind it", async () => {
    const place = await makePlace(database.pool);
    const openingMs = await gate(place, 60_000);
    expect(await next()).toBeNull();
    await leaseRows(database.pool, await makeDeliveries(database.pool, place));
    expect(await next()).toBeNull();
    await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent" });
    const empty = await makePlace(database.pool);
    await gate(empty, 1_000);
    expect(await next()).toBeCloseTo(openingMs, -1);
  });

  it("counts the moment at which an open breaker may ask, only when something waits for it", async () => {
    const place = await makePlace(database.pool);
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await breaker(place, "open", nowMs + 60_000);
    expect(await next()).toBeNull();
    await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent" });
    expect(await next()).toBe(nowMs + 60_000);
    await breaker(place, "closed", nowMs + 60_000);
    expect(await next()).toBeNull();
    await breaker(place, "open", nowMs - 1_000);
    expect(await next()).toBeNull();
  });

  it("a row that is due after its gate has opened counts with its own due time", async () => {
    const place = await makePlace(database.pool);
    await gate(place, 60_000);
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await setDue(await makeDeliveries(database.pool, place), nowMs + 90_000);
    expect(await next()).toBe(nowMs + 90_000);
  });

  it("a gate that has opened is in the past, and the earliest of several counts", async () => {
    const [past, soon, late] = [
      await makePlace(database.pool),
      await makePlace(database.pool),
      await makePlace(database.pool),
    ];
    for (const place of [past, soon, late]) await makeDeliveries(database.pool, place);
    await gate(late, HOUR_MS);
    const soonMs = await gate(soon, 30_000);
    await gate(past, 0);
    expect(await next()).toBeCloseTo(soonMs, -1);
  });

  it("CTL-1 counts the end of a tenant's and of a destination's pause", async () => {
    const place = await makePlace(database.pool);
    await makeDeliveries(database.pool, place);
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    const pause = (table: string, id: string, untilMs: number) =>
      database.pool.query(
        `UPDATE sluice.${table} SET paused_at = now(), pause_reason = 'test', pause_until = to_timestamp($2::float8 / 1000) WHERE id = $1`,
        [id, untilMs],
      );
    await pause("tenant", place.tenantId, nowMs + HOUR_MS);
    expect(await next()).toBe(nowMs + HOUR_MS);
    await pause("destination", place.destinationId, nowMs + 60_000);
    expect(await next()).toBe(nowMs + 60_000);
    await pause("destination", place.destinationId, nowMs - 60_000);
    expect(await next()).toBe(nowMs + HOUR_MS);
  });
});
