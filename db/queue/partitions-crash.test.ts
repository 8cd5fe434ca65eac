/**
 * Partitions that are missing or full while deliveries go on: whatever is wrong with them, an outcome is recorded once,
 * nothing is refused for a day's sake, and retention puts right what it can.
 */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  leaseRows,
  makePlace,
  openTransaction,
  outcomeOf,
  readAttempts,
  readRow,
  request,
} from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { finish } from "./finish.ts";
import { readPartitionHealth } from "./partition-health.ts";
import { returnExpiredLeases } from "./reconcile.ts";
import { applyRetention } from "./retention.ts";
import type { LaneKey } from "./types.ts";

const DAY_MS = 86_400_000;
const PARENTS = ["payload", "attempt", "delivery_archive"] as const;
type Parent = (typeof PARENTS)[number];

let database: TestDatabase;
let place: LaneKey;
let target: { tenantId: string; destinationId: string };

beforeEach(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
  target = { tenantId: place.tenantId, destinationId: place.destinationId };
});
afterEach(() => database.drop());

const drop = (name: string) => database.pool.query(`DROP TABLE sluice.${name}`);

const dayName = (parent: Parent, daysAhead: number) =>
  `${parent}_${new Date(Date.now() + daysAhead * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

const alarms = async () => (await readPartitionHealth(database.pool)).alarms;

/** A claimed delivery and how it is recorded. */
async function claimOne(): Promise<{ id: string; record(): Promise<void> }> {
  const [id = ""] = await makeDeliveries(database.pool, target);
  const claimed = await claim(database.pool, request([{ ...place, wanted: 1 }]));
  expect(claimed.ids).toEqual([id]);
  const outcome = outcomeOf(id, claimed.token);
  return {
    id,
    async record() {
      expect([...(await finish(database.pool, [outcome])).keys()]).toEqual([id]);
      expect(await readRow(database.pool, "delivery_all", id)).toMatchObject({
        state: "delivered",
        attempts: 1,
      });
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
    },
  };
}

const deliverOne = async () => (await claimOne()).record();

describe("a missing DEFAULT partition", () => {
  it.each(PARENTS)("of %s stops nothing, and is put back by retention", async (parent) => {
    await drop(`${parent}_default`);
    await deliverOne();
    expect(await alarms()).toHaveLength(1);
    expect((await applyRetention(database.pool)).created).toEqual([`${parent}_default`]);
    expect(await alarms()).toEqual([]);
    await deliverOne();
  });

  it.each(["attempt", "delivery_archive"] as const)(
    "of %s, and today's with it: the outcome is recorded all the same, once, and both are there again",
    async (parent) => {
      const { record } = await claimOne();
      // Midnight may lie between this and the finish.
      for (const name of [`${parent}_default`, ...[-1, 0, 1].map((day) => dayName(parent, day))])
        await drop(name);
      await record();
      expect(await alarms()).toEqual([]);
    },
  );

  it("does not refuse the end of a delivery whose own day has left the archive long ago", async () => {
    await drop("delivery_archive_default");
    const id = uuidV7(Date.now() - 60 * DAY_MS, randomBytes);
    const [template = ""] = await makeDeliveries(database.pool, target);
    await database.pool.query(
      `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class)
       SELECT $1, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, 'old', service_class
         FROM sluice.delivery WHERE id = $2`,
      [id, template],
    );
    const token = await leaseRows(database.pool, [id, template]);
    const recorded = await finish(database.pool, [outcomeOf(id, token), outcomeOf(template, token)]);
    expect([...recorded.keys()].sort()).toEqual([id, template].sort());
  });

  it("does not keep a lost lease from coming back", async () => {
    const [id = ""] = await makeDeliveries(database.pool, target);
    await leaseRows(database.pool, [id], { untilInMs: -1_000 });
    for (const name of ["attempt_default", ...[-1, 0, 1].map((day) => dayName("attempt", day))])
      await drop(name);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    expect(await readAttempts(database.pool, id)).toHaveLength(1);
  });
});

describe("a full DEFAULT partition", () => {
  it("of every table takes the rows of days that are missing; retention moves them to their own", async () => {
    for (const parent of PARENTS) for (const day of [-1, 0, 1]) await drop(dayName(parent, day));
    await deliverOne();
    await deliverOne();
    expect((await alarms()).length).toBeGreaterThanOrEqual(PARENTS.length);
    expect((await applyRetention(database.pool)).tidied.sort()).toEqual(
      PARENTS.map((parent) => `${parent}_default`).sort(),
    );
    expect(await alarms()).toEqual([]);
    const { rows } = await database.pool.query<{ n: number }>(
      "SELECT (SELECT count(*) FROM sluice.attempt)::integer + (SELECT count(*) FROM sluice.delivery_archive)::integer AS n",
    );
    expect(rows[0]?.n).toBe(4);
    await deliverOne();
  });

  it("that somebody reads holds up no delivery while retention waits for it", async () => {
    for (const day of [-1, 0, 1]) await drop(dayName("attempt", day));
    await deliverOne();
    const reader = await openTransaction(database.pool);
    await reader.client.query("SELECT count(*) FROM sluice.attempt_default");
    const running = applyRetention(database.pool);
    await deliverOne();
    expect((await running).tidied).toEqual([]);
    await reader.commit();
    expect((await applyRetention(database.pool)).tidied).toEqual(["attempt_default"]);
    expect(await alarms()).toEqual([]);
  });
});
