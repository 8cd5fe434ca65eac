/** FAIR-5: what a process sees of the queue: new work at once whatever the depth, every lane after a while, nothing for ever. */
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { postgresStore, type QueueStore } from "#db/queue/store.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  type DeliveryOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
} from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { DatabaseClock } from "./clock.ts";
import { Discovery, type DiscoveryEvents } from "./discovery.ts";
import { LaneBook } from "./lane-book.ts";
import { LimitsCache } from "./limits-cache.ts";

let database: TestDatabase;
let book: LaneBook;
let discovery: Discovery;
let monotonicMs: number;
/** Walks that have begun and those that have ended. */
let walks: { begun: number; ended: number };

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query("TRUNCATE sluice.delivery");
  monotonicMs = 1_000;
  book = new LaneBook();
  walks = { begun: 0, ended: 0 };
  discovery = discoveryOn();
});
afterAll(() => database.drop());

type Reads = Pick<QueueStore, "recentLanes" | "walkAllLanes" | "walkLanes">;

function discoveryOn(changed: Partial<Reads> = {}, events?: DiscoveryEvents): Discovery {
  const store: Reads = { ...postgresStore(database.pool), ...changed };
  const clock = new DatabaseClock(() => monotonicMs);
  clock.sync(Date.now());
  const watched: Reads = {
    ...store,
    walkAllLanes: async () => {
      walks.begun += 1;
      try {
        return await store.walkAllLanes();
      } finally {
        walks.ended += 1;
      }
    },
  };
  return new Discovery(watched, clock, book, events);
}

/** Every walk that has begun is over and its lanes are in the book. */
async function walked(): Promise<void> {
  await waitFor(() => walks.ended === walks.begun, { what: "the walk to end" });
  await setImmediate();
}

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
    await walked();
    const second = await lane(1);
    await discovery.refresh(true);
    expect(known()).toEqual([first]);
    expect(await discovery.settle(false)).toBe(true);
    expect(known().sort()).toEqual([first, second].sort());
  });

  it("looks again for a dispatcher that found nothing to claim when somebody said that something is new", async () => {
    const first = await lane(1);
    await discovery.refresh(true);
    await walked();
    const second = await lane(1);
    expect(await discovery.settle(true)).toBe(true);
    expect(known().sort()).toEqual([first, second].sort());
    expect(await discovery.settle(false)).toBe(false);
  });

  it("asks a book of blocked lanes only after a moment, so that busy processes do not ask for nothing", async () => {
    const first = await lane(1);
    await discovery.refresh(true);
    await walked();
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
    await walked();
    expect(known()).toEqual([gone]);
    await database.pool.query("DELETE FROM sluice.delivery");
    // Its transaction was open for longer than any look reaches back.
    const late = await lane(1, { dueInMs: -30_000 });
    await discovery.refresh(true);
    await discovery.settle(false);
    expect(known()).toEqual([gone]);
    monotonicMs += 60_000;
    await discovery.refresh(false);
    await walked();
    expect(known()).toEqual([late]);
  });

  it("LEASE-4 walks again within seconds, also when the process was stopped for a minute in the middle of a walk", async () => {
    let stoppedForMs = 60_000;
    const stopped = discoveryOn({
      walkAllLanes: () => {
        monotonicMs += stoppedForMs;
        stoppedForMs = 0;
        return postgresStore(database.pool).walkAllLanes();
      },
    });
    await stopped.refresh(true);
    await walked();
    // Its transaction was open for longer than any look reaches back.
    const late = await lane(1, { dueInMs: -30_000 });
    await stopped.refresh(true);
    await walked();
    expect(known()).toEqual([]);
    monotonicMs += 10_000;
    await stopped.refresh(true);
    await walked();
    expect(known()).toEqual([late]);
  });

  it("keeps nobody waiting for a walk, and forgets nothing that was found while one went on", async () => {
    const gate = Promise.withResolvers<void>();
    let hasRead = false;
    const slow = discoveryOn({
      // What it answers is older than what is found until the answer arrives.
      walkAllLanes: async () => {
        const pages = await postgresStore(database.pool).walkAllLanes();
        hasRead = true;
        await gate.promise;
        return pages;
      },
    });
    const first = await lane(1);
    await slow.refresh(true);
    expect(known()).toEqual([first]);
    await waitFor(() => hasRead);
    const fresh = await lane(1);
    await slow.refresh(true);
    await slow.settle(false);
    expect(known().sort()).toEqual([first, fresh].sort());
    expect(walks).toEqual({ begun: 1, ended: 0 });
    gate.resolve();
    await walked();
    expect(known().sort()).toEqual([first, fresh].sort());
  });

  it("FAIR-5 tells its dispatcher what it found in the background, and when news behind a backlog has to wait", async () => {
    const events = { onFound: vi.fn(), onNewsLater: vi.fn() };
    const told = discoveryOn(
      {
        recentLanes: (sinceMs) => {
          monotonicMs += 10;
          return postgresStore(database.pool).recentLanes(sinceMs);
        },
      },
      events,
    );
    await lane(5_000, { dueInMs: -60_000 });
    await told.refresh(true);
    await walked();
    events.onFound.mockClear();
    const fresh = await lane(1);
    // The edge has been looked at just now.
    await told.refresh(true);
    expect(known()).not.toContain(fresh);
    expect(events.onNewsLater).toHaveBeenCalledOnce();
    monotonicMs += Number(events.onNewsLater.mock.calls[0]?.[0]);
    await told.refresh(false);
    await waitFor(() => known().includes(fresh), { what: "the new lane" });
    await waitFor(() => events.onFound.mock.calls.length > 0, { what: "the dispatcher to be told" });
  });

  it("lets a walk that failed be known where nothing was open, and has looked all the same", async () => {
    const failing = discoveryOn({ walkAllLanes: () => Promise.reject(new Error("no answer")) });
    const first = await lane(1);
    await expect(failing.refresh(true)).rejects.toThrow("no answer");
    expect(known()).toEqual([first]);
    expect(await failing.refresh(true)).toBe(false);
  });

  it("walks at once when it is told to", async () => {
    await lane(1);
    await discovery.refresh(true);
    const late = await lane(1, { dueInMs: -30_000 });
    await walked();
    discovery.walkSoon();
    await discovery.refresh(false);
    await walked();
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
