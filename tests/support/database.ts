/**
 * A migrated database of its own for a test file, cloned from the run's template in some 50 ms.
 * Tests must never share one between files, and must drop it when they are done.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { inject } from "vitest";
import { createDatabase, dropDatabase, storeDatabaseRegion, withClient, withDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import type { Region } from "#domain/region.ts";

export interface TestDatabase {
  region: Region;
  connectionString: string;
  /** Ten connections, UTC, the project's own pool. */
  pool: Pool;
  /** Closes the pool and drops the database, also while others are still connected to it. */
  drop(): Promise<void>;
}

const POOL_MAX = 10;

/** Clones the template of a region (default us). Call `drop` in afterAll. */
export async function createTestDatabase(options: { region?: Region } = {}): Promise<TestDatabase> {
  const region = options.region ?? "us";
  const { prefix, serverUrls, templates } = inject("testServers");
  const name = `${prefix}${region}_${randomBytes(5).toString("hex")}`;
  await createDatabase(serverUrls[region], name, { template: templates[region] });
  // A database's own settings are not part of its template.
  await withClient(serverUrls[region], (client) => storeDatabaseRegion(client, name, region));
  return openTestDatabase(region, name, serverUrls[region]);
}

/** An empty database without any table of ours, for tests of the migration itself. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const { prefix, serverUrls } = inject("testServers");
  const name = `${prefix}empty_${randomBytes(5).toString("hex")}`;
  await createDatabase(serverUrls.us, name);
  return openTestDatabase("us", name, serverUrls.us);
}

function openTestDatabase(region: Region, name: string, serverUrl: string): TestDatabase {
  const connectionString = withDatabase(serverUrl, name);
  const pool = createPool({ connectionString, max: POOL_MAX, applicationName: "sluice-test" });
  return {
    region,
    connectionString,
    pool,
    drop: async () => {
      await pool.end();
      await dropDatabase(serverUrl, name);
    },
  };
}
