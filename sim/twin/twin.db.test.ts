/**
 * The simulated store is Postgres's twin: random scripts of store operations, controls and passing time get the same
 * answers from both, to the microsecond, and leave the same rows. What the simulation proves about the worker is worth as much as this.
 */
import { runMigrations } from "graphile-worker";
import type { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { SeededRandom } from "#sim/random.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { runScript } from "./script.ts";
import { installTwin, withTwinSession } from "./sql.ts";
import { Twin } from "./twin.ts";

const SCRIPTS = 40;
const OPERATIONS = 60;
/** Every answer that an entry of a claim can get. */
const ANSWERS = [
  ...[
    "adaptive_limit",
    "breaker",
    "deferred",
    "deleted",
    "destination_cap",
    "destination_disabled",
    "destination_paused",
  ],
  ...[
    "gate",
    "other_owner",
    "ran dry",
    "rate",
    "region_draining",
    "resume_ramp",
    "taken",
    "tenant_cap",
    "tenant_paused",
  ],
];
const TIMEOUT_MS = 300_000;

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  await runMigrations({ pgPool: database.pool });
  await installTwin(database.pool);
  // One session, so that its moment holds for every statement.
  pool = createPool({
    connectionString: withTwinSession(database.connectionString),
    max: 1,
    applicationName: "twin",
    idleTimeoutMs: TIMEOUT_MS,
  });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe("the simulated store", () => {
  it(
    "answers and stores the same as Postgres, whatever is asked in whatever order",
    async () => {
      const met = new Set<string>();
      for (let seed = 1; seed <= SCRIPTS; seed++) {
        const twin = new Twin(pool, new SeededRandom(seed));
        await runScript(twin, OPERATIONS).catch((error: unknown) => {
          throw new Error(`script ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
            cause: error,
          });
        });
        for (const answer of twin.met) met.add(answer);
      }
      expect([...met].sort()).toEqual(ANSWERS);
    },
    TIMEOUT_MS,
  );

  it("is compared with a database whose clock the test holds", async () => {
    const twin = new Twin(pool, new SeededRandom(1));
    await twin.begin();
    const { nowMs } = await twin.both("nextDue", []);
    await twin.tick(3_600_000_001);
    expect((await twin.both("nextDue", [])).nowMs - nowMs).toBeCloseTo(3_600_000.001, 2);
  });
});
