/** How many there are of what a list shows: exact to a limit, and never a number that is too large. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { type DeliveryFilter, type DeliveryPage, listDeliveries } from "./list-deliveries.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDestination, addTenant } from "./test-rows.ts";

let regions: TestRegions;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function page(filter: Partial<DeliveryFilter>): Promise<DeliveryPage> {
  const answer = await listDeliveries(EVERYWHERE, { region: "us", limit: 100, ...filter });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

describe("the total of a tenant's delivered ones", () => {
  test("is exact to 10,000, without the cancelled ones, also for an acceptance time, and at least that much beyond", async () => {
    const { pool } = regions.us;
    const tenant = await addTenant(pool, "us", "many-delivered");
    const place = await addDestination(pool, "us", tenant);
    const archive = (count: number, state: "delivered" | "cancelled") =>
      pool.query(
        `INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
                service_class, created_at, first_due_at, due_at, state, reason, attempts, failures, throttles, cycle)
         SELECT (left(sluice.uuid_floor(m.at)::text, 13) || right(gen_random_uuid()::text, 23))::uuid, 'us', $1, $2, gen_random_uuid(), 2,
                'hold.released', 'd-' || n, 'routine', m.at, m.at, m.at, $3, CASE WHEN $3 = 'cancelled' THEN 'staff_cancel' END, 1, 0, 0, 1
           FROM generate_series(1, $4::integer) n
          CROSS JOIN LATERAL (SELECT clock_timestamp() - CASE WHEN n <= 40 THEN 120 ELSE 5 END * interval '1 minute' AS at) m`,
        [tenant, place, state, count],
      );
    const total = async (more: Partial<DeliveryFilter> = {}) =>
      (await page({ tenant: "many-delivered", state: "delivered", limit: 2, ...more })).total;
    await archive(9_990, "delivered");
    await archive(60, "cancelled");
    expect(await total()).toEqual({ count: 9_990, atLeast: false });
    expect(await total({ age: "1h.." })).toEqual({ count: 40, atLeast: false });
    expect(await total({ destination: toPublicId("dst", place) })).toEqual({ count: 9_990, atLeast: false });
    await archive(11, "delivered");
    expect(await total()).toEqual({ count: 10_000, atLeast: true });
    // More cancelled ones than the count may leave out: the rows themselves are counted.
    await archive(1_100, "cancelled");
    expect(await total({ age: "1h.." })).toEqual({ count: 51, atLeast: false });
    expect(await total()).toEqual({ count: 10_000, atLeast: true });
  });
});
