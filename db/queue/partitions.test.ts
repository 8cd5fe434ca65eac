/**
 * DEFAULT partitions: the net under the daily ones. Missing, nothing stops; full, the day that it blocks is reported and
 * everything else of retention goes on.
 */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { makePlace, openTransaction, outcomeOf, request } from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { finish } from "./finish.ts";
import { applyRetention } from "./retention.ts";
import type { LaneKey } from "./types.ts";

const DAY_MS = 86_400_000;
const PARENTS = ["payload", "attempt", "delivery_archive"] as const;

let database: TestDatabase;
let place: LaneKey;

beforeEach(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});
afterEach(() => database.drop());

async function exists(name: string): Promise<boolean> {
  const { rows } = await database.pool.query<{ there: boolean }>(
    "SELECT to_regclass('sluice.' || $1) IS NOT NULL AS there",
    [name],
  );
  return rows[0]?.there === true;
}

const dayName = (daysAhead: number) =>
  new Date(Date.now() + daysAhead * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");

/** From the outbox to the archive. */
async function deliverOne(): Promise<void> {
  const [id] = await makeDeliveries(database.pool, place);
  const claimed = await claim(database.pool, request([{ ...place, wanted: 1 }]));
  expect(claimed.ids).toEqual([id]);
  const recorded = await finish(database.pool, [outcomeOf(String(id), claimed.token)]);
  expect([...recorded.keys()]).toEqual([id]);
}

describe("a missing DEFAULT partition", () => {
  it.each(PARENTS)("of %s stops nothing, and is put back by the next retention", async (parent) => {
    await database.pool.query(`DROP TABLE sluice.${parent}_default`);
    await deliverOne();
    const result = await applyRetention(database.pool);
    expect(result).toMatchObject({ created: [`${parent}_default`], defaultInUse: [] });
    expect(await exists(`${parent}_default`)).toBe(true);
    await deliverOne();
  });
});

describe("a full DEFAULT partition", () => {
  /** A row of the last day ahead, whose own partition is gone. */
  async function fill(): Promise<string> {
    const name = `payload_${dayName(7)}`;
    await database.pool.query(`DROP TABLE sluice.${name}`);
    await database.pool.query(
      "INSERT INTO sluice.payload (id, region, body, content_type, size_bytes) VALUES ($1, 'us', 'x', 'a/b', 1)",
      [
        uuidV7(
          Date.parse(`${new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10)}T12:00:00Z`),
          randomBytes,
        ),
      ],
    );
    return name;
  }

  it("is reported; the other days' partitions are made, old ones go, and deliveries go on", async () => {
    const blocked = await fill();
    const others = [`attempt_${dayName(7)}`, `delivery_archive_${dayName(7)}`];
    for (const name of others) await database.pool.query(`DROP TABLE sluice.${name}`);
    const old = `attempt_${dayName(-40)}`;
    await database.pool.query(
      `CREATE TABLE sluice.${old} PARTITION OF sluice.attempt FOR VALUES
         FROM ('${new Date(Date.now() - 40 * DAY_MS).toISOString().slice(0, 10)}') TO ('${new Date(Date.now() - 39 * DAY_MS).toISOString().slice(0, 10)}')`,
    );
    const result = await applyRetention(database.pool);
    expect(result.defaultInUse).toEqual(["payload_default"]);
    expect(result.created.sort()).toEqual(others.sort());
    expect(result.dropped).toEqual([old]);
    expect(await exists(blocked)).toBe(false);
    await deliverOne();
    // Once it is empty again, the day gets its own.
    await database.pool.query("DELETE FROM sluice.payload_default");
    expect(await applyRetention(database.pool)).toMatchObject({ created: [blocked], defaultInUse: [] });
  });

  it("that somebody reads holds up nobody: what cannot be locked waits for the next retention", async () => {
    await database.pool.query("DROP TABLE sluice.payload_default");
    const reader = await openTransaction(database.pool);
    await reader.client.query("SELECT count(*) FROM sluice.payload");
    const running = applyRetention(database.pool);
    await deliverOne();
    expect((await running).created).toEqual([]);
    await reader.commit();
    expect((await applyRetention(database.pool)).created).toEqual(["payload_default"]);
  });
});
