/** FAIR-5: what a worker asks of the queue has one plan, made once: planning a claim takes several times as long as the claim. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { makePlace, outcomeOf, request } from "#tests/support/queue-rows/sql.ts";
import { WALK_START } from "./discover.ts";
import { withQueueSession } from "./session.ts";
import { postgresStore } from "./store.ts";

/** Left to itself Postgres plans anew five times before it thinks of keeping a plan. */
const CALLS = 3;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

describe("plans of the queue's statements", () => {
  it("are made once in a worker's session, whatever is asked", async () => {
    const pool = createPool({
      connectionString: withQueueSession(database.connectionString),
      max: 1,
      applicationName: "sluice-test",
    });
    const store = postgresStore(pool);
    const place = await makePlace(database.pool);
    try {
      for (let call = 0; call < CALLS; call++) {
        await makeDeliveries(database.pool, { ...place, count: 2 });
        await store.recentLanes(Date.now() - 1_000);
        await store.walkAllLanes();
        await store.walkLanes("first", "routine", WALK_START);
        await store.nextDue();
        await store.changedLimits(Date.now());
        await store.readLimits([place.destinationId]);
        await store.readDestinations([place.destinationId]);
        const { ids, token } = await store.claim(request([{ ...place, lane: "first", wanted: 2 }]));
        expect(await store.readClaimed(ids, token)).toHaveLength(2);
        const [sent, unsent] = ids as [string, string];
        expect([...(await store.finish([outcomeOf(sent, token)])).keys()]).toEqual([sent]);
        expect(await store.release([unsent], token)).toBe(1);
        await store.returnExpiredLeases();
        await store.cancelDeleted();
        await store.heartbeat({ id: randomUUID(), inFlight: 0, state: "running" });
      }
      const { rows } = await pool.query<{ name: string; planned: number; kept: number }>(
        `SELECT name, custom_plans::integer AS planned, generic_plans::integer AS kept FROM pg_prepared_statements WHERE starts_with(name, 'sluice-')`,
      );
      expect(rows.length).toBeGreaterThanOrEqual(12);
      expect(rows.filter(({ planned, kept }) => planned > 0 || kept < CALLS)).toEqual([]);
    } finally {
      await pool.end();
    }
  });

  it("are made once in any session inside claim and finish, which other programs call too", async () => {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc
        WHERE pronamespace = 'sluice'::regnamespace AND 'plan_cache_mode=force_generic_plan' = ANY (proconfig) ORDER BY 1`,
    );
    expect(rows.map(({ name }) => name)).toEqual(["claim", "finish"]);
  });
});
