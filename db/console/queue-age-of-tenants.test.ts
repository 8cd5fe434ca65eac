/** SIG-8: ages and counts of the named tenants, or of one destination, are those of everybody's, however they are read. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { leaseRows, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";

const TENANTS = 4;
const MINUTE_MS = 60_000;

let database: TestDatabase;
const places: Place[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  for (let number = 0; number < TENANTS; number++) {
    const place = await makePlace(pool);
    places.push(place, await makePlace(pool, { tenantId: place.tenantId }));
  }
  for (const [index, place] of places.entries()) {
    await makeDeliveries(pool, { ...place, count: index + 1, dueInMs: -index * MINUTE_MS });
    await makeDeliveries(pool, { ...place, count: 2, dueInMs: MINUTE_MS, serviceClass: "urgent" });
    await makeDeliveries(pool, { ...place, dueInMs: -30 * MINUTE_MS, lane: "retry" });
    await makeDeliveries(pool, { ...place, dueInMs: -5 * MINUTE_MS, lostLeases: 1 });
    await leaseRows(pool, await makeDeliveries(pool, { ...place, dueInMs: -20 * MINUTE_MS }));
  }
  await pool.query(
    `UPDATE sluice.tenant SET paused_at = now(), pause_reason = 'test', pause_until = now() + interval '1 hour' WHERE id = $1`,
    [places[2]?.tenantId],
  );
  await pool.query(
    "INSERT INTO sluice.destination_state (destination_id, region, hold_until) VALUES ($1, 'us', now() + interval '1 hour')",
    [places[5]?.destinationId],
  );
  await pool.query("ANALYZE");
});

afterAll(() => database.drop());

/** Rows of `sluice.queue_age` at one moment, in a fixed order. */
async function rows(call: string, where: string, values: unknown[]): Promise<unknown[]> {
  const result = await database.pool.query(
    `SELECT a.* FROM sluice.queue_age(${call}) a WHERE ${where} ORDER BY tenant_id, destination_id, service_class`,
    values,
  );
  return result.rows;
}

const NOW = "date_trunc('second', $1::timestamptz)";

test("named tenants have the rows that they have among all, each once", async () => {
  const now = new Date();
  const named = [places[0], places[2], places[2], places[4]].map((place) => place?.tenantId);
  const all = await rows(NOW, "a.tenant_id = ANY ($2::uuid[])", [now, named]);
  expect(all).toHaveLength(12);
  expect(await rows(`${NOW}, $2::uuid[]`, "true", [now, named])).toEqual(all);
  expect(await rows(`${NOW}, $2::uuid[]`, "true", [now, []])).toEqual([]);
  expect(await rows(`${NOW}, $2::uuid[]`, "true", [now, null])).toHaveLength(4 * TENANTS);
});

test("one destination of a named tenant has the rows that it has among all; beside another tenant it has none", async () => {
  const now = new Date();
  const { tenantId, destinationId } = places[5] ?? {};
  const call = `${NOW}, $2::uuid[], $3::uuid`;
  const own = await rows(NOW, "a.destination_id = $2", [now, destinationId]);
  expect(own).toHaveLength(2);
  expect(await rows(call, "true", [now, [tenantId], destinationId])).toEqual(own);
  expect(await rows(call, "true", [now, [places[0]?.tenantId], destinationId])).toEqual([]);
});
