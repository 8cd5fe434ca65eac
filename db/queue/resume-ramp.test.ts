/** CTL-1 behind a resume: what was due before it leaves slowly at first, what became due after it passes freely. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { HOUR_MS, makePlace, type Place, request } from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const MINUTE_S = 60;

async function resumed(
  table: "tenant" | "destination",
  place: Place,
  agoSeconds: number,
  share: number | null,
): Promise<void> {
  const id = table === "tenant" ? place.tenantId : place.destinationId;
  await database.pool.query(
    `UPDATE sluice.${table} SET resumed_at = clock_timestamp() - $2::float8 * interval '1 second', resume_share = $3 WHERE id = $1`,
    [id, agoSeconds, share],
  );
}

/** Rows due an hour before now, which is before any resume of these tests. */
const old = (place: Place, count: number) =>
  makeDeliveries(database.pool, { ...place, count, dueInMs: -HOUR_MS });
const fresh = (place: Place, count: number) => makeDeliveries(database.pool, { ...place, count });

/** One process. */
const SAME = { workerId: randomUUID() };
const ask = (place: Place, wanted: number) => claim(database.pool, request([{ ...place, wanted }], SAME));

async function taken(place: Place, wanted: number): Promise<number> {
  return (await ask(place, wanted)).ids.length;
}

describe("CTL-1 the resume ramp of a destination", () => {
  it("lets old rows use the share of the cap, in all and not for each claim", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    await old(place, 50);
    await resumed("destination", place, 1, 0.2);
    const first = await ask(place, 10);
    expect(first.entries).toEqual([{ taken: 4, blocker: "resume_ramp", untilMs: null }]);
    expect((await ask(place, 10)).entries).toEqual([{ taken: 0, blocker: "resume_ramp", untilMs: null }]);
    await database.pool.query("DELETE FROM sluice.delivery WHERE id = $1", [first.ids[0]]);
    expect(await taken(place, 10)).toBe(1);
  });

  it("doubles every minute, up to everything", async () => {
    const shares: number[] = [];
    // Six seconds before the next step at the least: a machine that stands still may come too late for less.
    for (const minutes of [0, 0.9, 1, 2, 2.9, 3, 60]) {
      const place = await makePlace(database.pool, { destinationCap: 100 });
      await old(place, 120);
      await resumed("destination", place, minutes * MINUTE_S + 0.001, 0.2);
      shares.push(await taken(place, 120));
    }
    expect(shares).toEqual([20, 20, 40, 80, 80, 100, 100]);
  });

  it("lets rows that became due after the resume pass freely, before the old ones", async () => {
    const place = await makePlace(database.pool, { destinationCap: 10 });
    const oldIds = await old(place, 50);
    await resumed("destination", place, 0.001, 0.2);
    const freshIds = await fresh(place, 6);
    const first = await ask(place, 10);
    expect([...first.ids].sort()).toEqual([...freshIds, ...oldIds.slice(0, 2)].sort());
    expect(first.entries[0]).toMatchObject({ taken: 8, blocker: "resume_ramp" });
    // The cap still counts them all.
    await fresh(place, 6);
    expect(await taken(place, 10)).toBe(2);
  });

  it("never lets the share come to nothing, and a share of 1 or no resume is no ramp", async () => {
    const small = await makePlace(database.pool, { destinationCap: 2 });
    await old(small, 5);
    await resumed("destination", small, 1, 0.001);
    expect(await taken(small, 2)).toBe(1);
    const whole = await makePlace(database.pool, { destinationCap: 2 });
    await old(whole, 5);
    await resumed("destination", whole, 1, 1);
    expect((await ask(whole, 2)).entries).toEqual([{ taken: 2, blocker: null, untilMs: null }]);
  });

  it("counts from the end of a pause that nobody has ended yet, with a share of 20 %", async () => {
    const place = await makePlace(database.pool, { destinationCap: 10 });
    await old(place, 20);
    await database.pool.query(
      `UPDATE sluice.destination SET paused_at = now() - interval '1 day', pause_until = now() - interval '1 second', pause_reason = 'test'
        WHERE id = $1`,
      [place.destinationId],
    );
    expect(await taken(place, 10)).toBe(2);
  });

  it("says that the lane ran dry when it did", async () => {
    const place = await makePlace(database.pool, { destinationCap: 10 });
    await old(place, 2);
    await resumed("destination", place, 1, 0.2);
    expect((await ask(place, 10)).entries).toEqual([{ taken: 2, blocker: null, untilMs: null }]);
  });

  it("is shared by all lanes and classes of one call", async () => {
    const place = await makePlace(database.pool, { destinationCap: 20 });
    const lanes = (["urgent", "routine"] as const).map((serviceClass) => ({ ...place, serviceClass }));
    for (const lane of lanes) await makeDeliveries(database.pool, { ...lane, count: 20, dueInMs: -HOUR_MS });
    await resumed("destination", place, 1, 0.2);
    const { entries } = await claim(database.pool, request(lanes.map((lane) => ({ ...lane, wanted: 3 }))));
    expect(entries.map((entry) => entry.taken)).toEqual([3, 1]);
  });
});

describe("CTL-1 the resume ramp and the rate", () => {
  it("gives old rows their share of the tokens, fresh ones all of them, and never more than the rate in all", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: 0.1, rateBurst: 10 });
    await old(place, 50);
    await resumed("destination", place, 1, 0.2);
    const first = await ask(place, 10);
    expect(first.entries[0]).toMatchObject({ taken: 2, blocker: "resume_ramp" });
    // Two tokens a fifth as often: one in 50 s.
    expect((first.entries[0]?.untilMs ?? 0) - first.claimedAtMs).toBeGreaterThan(45_000);
    expect((first.entries[0]?.untilMs ?? 0) - first.claimedAtMs).toBeLessThan(55_000);
    await fresh(place, 20);
    expect((await ask(place, 20)).entries[0]).toMatchObject({ taken: 8, blocker: "rate" });
  });

  it("is over with its time, whatever was spent meanwhile", async () => {
    const place = await makePlace(database.pool, { ratePerSecond: 0.1, rateBurst: 10 });
    await old(place, 50);
    await resumed("destination", place, 1, 0.2);
    expect(await taken(place, 10)).toBe(2);
    await resumed("destination", place, 10 * MINUTE_S, 0.2);
    expect(await taken(place, 10)).toBe(8);
  });
});

/** A claim gives up after waiting a second for a lock; a machine that stalls here asks again. */
const TRIES = 20;
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * What a claim takes when `then` is committed while it waits for `table`: the region's row, which it reads after it has noted
 * the time; a destination's state, which only its last statement reads.
 */
async function takenAcross(
  table: "region_control" | "destination_state",
  place: Place,
  then: () => Promise<void>,
): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const holder = await database.pool.connect();
    try {
      await holder.query("BEGIN");
      await holder.query(`LOCK TABLE sluice.${table} IN ACCESS EXCLUSIVE MODE`);
      let isOver = false;
      const asked = taken(place, 10)
        .catch((error: unknown) => {
          if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return null;
          throw error;
        })
        .finally(() => {
          isOver = true;
        });
      while (!isOver && !(await isWaitedFor(table))) await setTimeout(1);
      await then();
      await holder.query("COMMIT");
      const rows = await asked;
      if (rows !== null) return rows;
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
  }
  throw new Error(`no claim got through in ${TRIES} tries`);
}

async function isWaitedFor(table: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = $1::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [`sluice.${table}`],
  );
  return rowCount !== 0;
}

describe("CTL-1 a resume that is committed while a claim is on its way", () => {
  it.each(["region_control", "destination_state"] as const)(
    "has its ramp from that claim on: %s",
    async (table) => {
      const place = await makePlace(database.pool, { destinationCap: 10 });
      await old(place, 50);
      await database.pool.query(
        `UPDATE sluice.destination SET paused_at = now(), pause_until = now() + interval '1 hour', pause_reason = 'test' WHERE id = $1`,
        [place.destinationId],
      );
      const resume = () =>
        database.pool
          .query(
            `UPDATE sluice.destination SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, resumed_at = clock_timestamp(), resume_share = 0.1
            WHERE id = $1`,
            [place.destinationId],
          )
          .then(() => undefined);
      expect(await takenAcross(table, place, resume)).toBe(1);
    },
  );
});

describe("CTL-1 the resume ramp of a tenant", () => {
  it("limits the tenant's old rows over all destinations, and each destination to its part", async () => {
    const one = await makePlace(database.pool, { tenantCap: 20, destinationCap: 10 });
    const two = await makePlace(database.pool, { tenantId: one.tenantId, destinationCap: 10 });
    const three = await makePlace(database.pool, { tenantId: one.tenantId, destinationCap: 10 });
    const stranger = await makePlace(database.pool, { destinationCap: 10 });
    for (const place of [one, two, three, stranger]) await old(place, 20);
    await resumed("tenant", one, 1, 0.2);
    const asked = await claim(
      database.pool,
      request([one, two, three, stranger].map((place) => ({ ...place, wanted: 2 }))),
    );
    expect(asked.entries.map((entry) => entry.taken)).toEqual([2, 2, 0, 2]);
    // Fresh rows of the same tenant do not wait for it.
    await fresh(three, 3);
    expect(await taken(three, 3)).toBe(3);
  });
});
