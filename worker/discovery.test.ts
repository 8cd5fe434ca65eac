/** FAIR-5: what a process sees of the queue: new work at once whatever the depth, every lane after a while, nothing for ever. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { postgresStore } from "#db/queue/store.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  type DeliveryOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
} from "#tests/support/factories.ts";
import { DatabaseClock } from "./clock.ts";
import { Discovery } from "./discovery.ts";
import { LaneBook } from "./lane-book.ts";
import { LimitsCache } from "./limits-cache.ts";

let database: TestDatabase;
let book: LaneBook;
let discovery: Discovery;
let monotonicMs: number;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.delivery");
  monotonicMs = 1_000;
  book = new LaneBook();
  const clock = new DatabaseClock(() => monotonicMs);
  clock.sync(Date.now());
  discovery = new Discovery(postgresStore(database.pool), clock, book);
});
afterAll(() => database.drop());

async function lane(count: number, more: Partial<DeliveryOptions> = {}): Promise<string> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId);
  if (count > 0) await makeDeliveries(database.pool, { tenantId, destinationId, count, ...more });
  return destinationId;
}

const known = () => book.open(Number.POSITIVE_INFINITY).map(({ destinationId }) => destinationId);

describe("Discovery", () => {
  it("finds what is due in every lane and class at its first look, and nothing that is due later", async () => {
    const due = [
      await lane(1),
      await lane(1, { serviceClass: "urgent" }),
      await lane(1, { lane: "retry" }),
      await lane(1, { dueInMs: -86_400_000 }),
    ];
    await lane(1, { dueInMs: 60_000 });
    await discovery.refresh(true);
    expect(known().sort()).toEqual(due.sort());
  });

  it("FAIR-5 sees a new row at the next look, behind thousands of older ones that no look has read yet", async () => {
    const deep = await lane(5_000, { dueInMs: -60_000 });
    await discovery.refresh(true);
    const fresh = await lane(1);
    await discovery.refresh(true);
    await discovery.settle(false);
    expect(known().sort()).toEqual([deep, fresh].sort());
  });

  it("does not make a dispatcher with open lanes wait, and looks in the background", async () => {
    const first = await lane(1);
    await discovery.refresh(true);
    const second = await lane(1);
    await discovery.refresh(true);
    expect(known()).toEqual([first]);
    expect(await discovery.settle(false)).toBe(true);
    expect(known().sort()).toEqual([first, second].sort());
  });

  it("looks again for a dispatcher that found nothing to claim when somebody said that something is new", async () => {
    const first = await lane(1);
    await discovery.refresh(true);
    const second = await lane(1);
    expect(await discovery.settle(true)).toBe(true);
    expect(known().sort()).toEqual([first, second].sort());
    expect(await discovery.settle(false)).toBe(false);
  });

  it("asks a book of blocked lanes only after a moment, so that busy processes do not ask for nothing", async () => {
    const first = await lane(1);
    await discovery.refresh(true);
    const blocked = Date.now() + 3_600_000;
    book.block(first, blocked, blocked);
    const second = await lane(1);
    await discovery.refresh(false);
    expect(known()).toEqual([first]);
    monotonicMs += 50;
    await discovery.refresh(false);
    expect(known().sort()).toEqual([first, second].sort());
  });

  it("walks over all lanes: those that are not due any more go, those whose due time is long past are found", async () => {
    const gone = await lane(2);
    await discovery.refresh(true);
    expect(known()).toEqual([gone]);
    await database.pool.query("DELETE FROM sluice.delivery");
    // Its transaction was open for longer than any look reaches back.
    const late = await lane(1, { dueInMs: -30_000 });
    await discovery.refresh(true);
    await discovery.settle(false);
    expect(known()).toEqual([gone]);
    monotonicMs += 60_000;
    await discovery.refresh(false);
    await discovery.settle(false);
    expect(known()).toEqual([late]);
  });

  it("LEASE-4 walks again within seconds, also when the process was stopped for a minute in the middle of a walk", async () => {
    const store = postgresStore(database.pool);
    const clock = new DatabaseClock(() => monotonicMs);
    clock.sync(Date.now());
    let stoppedForMs = 60_000;
    const stopped = new Discovery(
      {
        recentLanes: (sinceMs) => store.recentLanes(sinceMs),
        walkAllLanes: () => {
          monotonicMs += stoppedForMs;
          stoppedForMs = 0;
          return store.walkAllLanes();
        },
        walkLanes: (laneKind, serviceClass, from) => store.walkLanes(laneKind, serviceClass, from),
      },
      clock,
      book,
    );
    await stopped.refresh(true);
    // Its transaction was open for longer than any look reaches back.
    const late = await lane(1, { dueInMs: -30_000 });
    await stopped.refresh(true);
    expect(known()).toEqual([]);
    monotonicMs += 10_000;
    await stopped.refresh(true);
    expect(known()).toEqual([late]);
  });

  it("walks at once when it is told to", async () => {
    await lane(1);
    await discovery.refresh(true);
    const late = await lane(1, { dueInMs: -30_000 });
    discovery.walkSoon();
    await discovery.refresh(false);
    await discovery.settle(false);
    expect(known()).toContain(late);
  });
});

describe("LimitsCache", () => {
  it("knows caps and weights with their defaults, and takes one slot for what it does not know", async () => {
    const tenantId = await makeTenant(database.pool, { weight: 7, concurrencyLimit: 9 });
    const own = await makeDestination(database.pool, tenantId, {
      concurrencyLimit: 3,
      ratePerSecond: 2.5,
      rateBurst: 4,
    });
    const inherits = await lane(0);
    const cache = new LimitsCache();
    const head = (destinationId: string) => ({
      lane: "first" as const,
      serviceClass: "routine" as const,
      tenantId,
      destinationId,
      dueMs: 0,
    });
    await cache.load(postgresStore(database.pool), [head(own), head(inherits)], 0);
    expect(cache.destination(own)).toEqual({ concurrency: 3, ratePerSecond: 2.5, rateBurst: 4 });
    expect(cache.destination(inherits)).toEqual({ concurrency: 10, ratePerSecond: null, rateBurst: 1 });
    expect(cache.tenant(tenantId)).toEqual({ weight: 7, concurrency: 9 });
    expect(cache.destination("unknown").concurrency).toBe(1);
    expect(cache.tenant("unknown")).toEqual({ weight: 1, concurrency: 1 });
  });

  it("FAIR-7 follows changed limits of destination, tenant and region, and names what they concern, once", async () => {
    const tenantId = await makeTenant(database.pool);
    const destinationId = await makeDestination(database.pool, tenantId, { concurrencyLimit: 3 });
    const heads = [
      { lane: "first" as const, serviceClass: "routine" as const, tenantId, destinationId, dueMs: 0 },
    ];
    const cache = new LimitsCache();
    await cache.load(postgresStore(database.pool), heads, 0);
    const store = postgresStore(database.pool);
    await cache.follow(store, Date.now());
    const set = (text: string, id: string) =>
      database.pool.query(`UPDATE sluice.${text} WHERE id = $1`, [id]);
    const known = async () => {
      await cache.load(store, heads, 500);
      return [cache.destination(destinationId).concurrency, cache.tenant(tenantId).weight];
    };
    expect(await known()).toEqual([3, 1]);
    await set("destination SET concurrency_limit = 5", destinationId);
    expect(await known()).toEqual([3, 1]);
    expect(await cache.follow(store, Date.now())).toEqual([destinationId]);
    expect(await known()).toEqual([5, 1]);
    expect(await cache.follow(store, Date.now())).toEqual([]);
    await set("tenant SET weight = 4", tenantId);
    expect(await cache.follow(store, Date.now())).toEqual([destinationId]);
    expect(await known()).toEqual([5, 4]);
    // What is no limit is no change of one.
    await set("destination SET name = 'renamed'", destinationId);
    expect(await cache.follow(store, Date.now())).toEqual([]);
    await database.pool.query("UPDATE sluice.region_control SET default_destination_concurrency = 11");
    expect(await cache.follow(store, Date.now())).toBe("all");
    // And without any of it, everything is read again after a while.
    await set("destination SET concurrency_limit = 6", destinationId);
    await cache.load(store, heads, 31_000);
    expect(cache.destination(destinationId).concurrency).toBe(6);
  });
});
