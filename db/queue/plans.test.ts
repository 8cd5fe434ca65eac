/**
 * What the statements read of the delivery table, counted by the transaction itself: never the whole table, whether the
 * plan was cached while the table was empty, made right after ANALYZE, or made beside 100,000 rows planned for later.
 */
import { randomUUID } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  fillRows,
  HOUR_MS,
  leaseRows,
  makePlace,
  outcomeOf,
  type Place,
  readsOf,
  request,
  type TableReads,
} from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { nextDue, recentLanes, WALK_START, walkAllLanes, walkLanes } from "./discover.ts";
import { finish, MAX_FINISH_ROWS } from "./finish.ts";
import { readClaimed } from "./read-claimed.ts";
import { cancelDeleted, returnExpiredLeases } from "./reconcile.ts";
import { release } from "./release.ts";
import { withQueueSession } from "./session.ts";
import { shutGate } from "./shut-gate.ts";

const DUE_ROWS = 20_000;
const LATER_ROWS = 100_000;
const PLACES = 100;
/** A named statement gets its lasting plan at the sixth call. */
const CALLS_UNTIL_CACHED = 7;

type Work = (client: PoolClient, places: readonly Place[]) => Promise<unknown>;

/** Each statement, doing about the most that a worker asks of it in one call, and the most rows it may fetch for that. */
const STATEMENTS: Readonly<Record<string, { work: Work; mostRows: number }>> = {
  claim: {
    work: (client, places) =>
      claim(client, request(places.slice(0, 64).map((place) => ({ ...place, wanted: 2 })))),
    // The rows, the same again for their update, and the leases of the region.
    mostRows: 1_500,
  },
  readClaimed: {
    work: async (client, places) => {
      const taken = await claim(
        client,
        request(places.slice(0, 64).map((place) => ({ ...place, wanted: 1 }))),
      );
      await readClaimed(client, taken.ids, taken.token);
      await release(client, taken.ids, taken.token);
    },
    mostRows: 1_500,
  },
  finish: {
    work: async (client, places) => {
      const taken = await claim(
        client,
        request(places.slice(0, 84).map((place) => ({ ...place, wanted: 3 }))),
      );
      const rows = taken.ids
        .slice(0, MAX_FINISH_ROWS)
        .map((id, n) =>
          outcomeOf(
            id,
            taken.token,
            n % 2 ? { decision: "delayed", outcome: "network", delay_ms: HOUR_MS } : {},
          ),
        );
      await finish(client, rows);
    },
    mostRows: 2_000,
  },
  shutGate: {
    work: (client) =>
      shutGate(client, {
        destinationId: randomUUID(),
        deliveryId: randomUUID(),
        delayMs: 0,
        startedMs: Date.now(),
        why: "retry_after",
        status: 429,
        retryAfter: "1",
      }),
    // The leases of the region: how many of them are in flight to the destination.
    mostRows: 2_000,
  },
  returnExpiredLeases: { work: (client) => returnExpiredLeases(client), mostRows: 2_000 },
  "cancelDeleted with nothing to cancel": { work: (client) => cancelDeleted(client), mostRows: 100 },
  recentLanes: { work: (client) => recentLanes(client, 0), mostRows: 6 * 512 },
  walkLanes: {
    work: (client) => walkLanes(client, "first", "routine", WALK_START),
    mostRows: 3 * PLACES + 10,
  },
  walkAllLanes: { work: (client) => walkAllLanes(client), mostRows: 3 * PLACES + 60 },
  nextDue: { work: (client) => nextDue(client), mostRows: 100 },
};

interface Opened {
  database: TestDatabase;
  places: Place[];
  pool: Pool;
  client: PoolClient;
}

async function closeDatabase({ database, pool, client }: Opened): Promise<void> {
  client.release();
  await pool.end();
  await database.drop();
}

async function openDatabase(): Promise<Opened> {
  const database = await createTestDatabase();
  const places: Place[] = [];
  for (let n = 0; n < PLACES; n++) places.push(await makePlace(database.pool));
  // Autovacuum might come in between and hide a bad plan by a better one.
  for (const table of ["delivery", "destination_state"]) {
    await database.pool.query(`ALTER TABLE sluice.${table} SET (autovacuum_enabled = false)`);
  }
  // As a worker's connections are.
  const pool = createPool({
    connectionString: withQueueSession(database.connectionString),
    max: 1,
    applicationName: "sluice-test",
  });
  return { database, places, pool, client: await pool.connect() };
}

async function fill(database: TestDatabase, places: readonly Place[]): Promise<void> {
  for (const place of places) await fillRows(database.pool, place, DUE_ROWS / PLACES, -HOUR_MS);
  const [place] = places as [Place];
  await leaseRows(database.pool, await makeDeliveries(database.pool, { ...place, count: 200 }));
  await leaseRows(database.pool, await makeDeliveries(database.pool, { ...place, count: 100 }), {
    untilInMs: -1,
  });
  await makeDeliveries(database.pool, { ...place, dueInMs: HOUR_MS });
  await database.pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, hold_until)
     SELECT id, region, now() + (row_number() OVER (ORDER BY id) - 10) * interval '1 hour' FROM sluice.destination ORDER BY id LIMIT 20`,
  );
  await database.pool.query("UPDATE sluice.destination SET deleted_at = now() WHERE id = $1", [
    await emptyDestination(database),
  ]);
}

async function emptyDestination(database: TestDatabase): Promise<string> {
  return (await makePlace(database.pool)).destinationId;
}

function expectFew(name: string, reads: TableReads): void {
  expect(reads.seqScans, `sequential scans of ${name}`).toBe(0);
  expect(reads.indexRows, `rows that ${name} fetched`).toBeLessThanOrEqual(STATEMENTS[name]?.mostRows ?? 0);
}

describe("FAIR-5 plans that were cached while the table was empty", () => {
  let opened: Opened;

  beforeAll(async () => {
    opened = await openDatabase();
    const { database, client, places } = opened;
    await database.pool.query("VACUUM ANALYZE sluice.delivery, sluice.destination_state, sluice.payload");
    for (const { work } of Object.values(STATEMENTS)) {
      for (let call = 0; call < CALLS_UNTIL_CACHED; call++) await work(client, places);
    }
    await fill(database, places);
  });

  afterAll(() => closeDatabase(opened));

  it.each(Object.keys(STATEMENTS))("%s reads by index once it is full", async (name) => {
    const { client, places } = opened;
    expectFew(name, await readsOf(client, "delivery", async () => STATEMENTS[name]?.work(client, places)));
  });
});

describe("FAIR-5 plans that are made right after ANALYZE", () => {
  let opened: Opened;

  beforeAll(async () => {
    opened = await openDatabase();
    await fill(opened.database, opened.places);
    await opened.database.pool.query("ANALYZE");
  });

  afterAll(() => closeDatabase(opened));

  it.each(Object.keys(STATEMENTS))("%s reads by index, at first and with its lasting plan", async (name) => {
    const { client, places } = opened;
    for (let call = 0; call < CALLS_UNTIL_CACHED; call++) {
      expectFew(name, await readsOf(client, "delivery", async () => STATEMENTS[name]?.work(client, places)));
    }
  });
});

describe("FAIR-5 a plan that was made for one crowded destination", () => {
  let opened: Opened;

  beforeAll(async () => {
    opened = await openDatabase();
    const { database, client, places } = opened;
    const crowd = places[0] as Place;
    await fillRows(database.pool, crowd, DUE_ROWS, -HOUR_MS);
    await database.pool.query("ANALYZE sluice.delivery");
    for (let call = 0; call < CALLS_UNTIL_CACHED; call++)
      await claim(client, request([{ ...crowd, wanted: 2 }]));
  });

  afterAll(() => closeDatabase(opened));

  it("serves a single row of each of the others without reading the crowd", async () => {
    const { database, client, places } = opened;
    const others = places.slice(1, 31);
    for (const place of others) await makeDeliveries(database.pool, place);
    const reads = await readsOf(client, "delivery", async () => {
      const taken = await claim(client, request(others.map((place) => ({ ...place, wanted: 5 }))));
      expect(taken.ids).toHaveLength(others.length);
    });
    expect(reads.seqScans).toBe(0);
    expect(reads.indexRows).toBeLessThan(300);
  });
});

describe("fault 54: 100,000 rows that are planned for later", () => {
  let opened: Opened;

  beforeAll(async () => {
    opened = await openDatabase();
    const { database, places } = opened;
    for (const place of places) await fillRows(database.pool, place, LATER_ROWS / PLACES, HOUR_MS);
    await makeDeliveries(database.pool, { ...(places[7] as Place), count: 3 });
    await database.pool.query("ANALYZE sluice.delivery");
  });

  afterAll(() => closeDatabase(opened));

  it("cost a claim, a look and the next due time nothing", async () => {
    const { client, places } = opened;
    const entries = places.map((place) => ({ ...place, wanted: 5 }));
    const claims = await readsOf(client, "delivery", async () => {
      expect((await claim(client, request(entries))).ids).toHaveLength(3);
    });
    expect(claims).toMatchObject({ seqScans: 0 });
    expect(claims.indexRows).toBeLessThan(50);
    const looks = await readsOf(client, "delivery", async () => {
      await recentLanes(client, 0);
      await nextDue(client);
    });
    expect(looks).toMatchObject({ seqScans: 0 });
    expect(looks.indexRows).toBeLessThan(50);
  });
});
