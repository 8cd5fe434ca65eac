/** What a claim selects before any limit counts. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { makePlace, request } from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

describe("FAIR-5 selection before limits", () => {
  it("50,000 due rows of one destination do not hide the single row of another", async () => {
    const crowd = await makePlace(database.pool, { destinationCap: 10 });
    const lone = await makePlace(database.pool);
    await database.pool.query(
      `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, due_at)
       SELECT gen_random_uuid(), 'us', $1, $2, gen_random_uuid(), 7, 'test.event', 'crowd-' || n, 'routine', clock_timestamp() - interval '1 hour'
         FROM generate_series(1, 50000) n`,
      [crowd.tenantId, crowd.destinationId],
    );
    const [id] = await makeDeliveries(database.pool, lone);
    const taken = await claim(
      database.pool,
      request(
        [crowd, lone].map((place) => ({ ...place, wanted: 20 })),
        { workerId: randomUUID() },
      ),
    );
    expect(taken.entries.map((entry) => entry.taken)).toEqual([10, 1]);
    expect(taken.ids).toContain(id);
  });
});
