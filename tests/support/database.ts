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
/** Far longer than a test holds a transaction open or waits for a connection, also on a machine that stands still at times. */
const PATIENT_MS = 300_000;

export interface TestDatabaseOptions {
  /** Default us. */
  readonly region?: Region;
  /** Without graphile-worker's schema also where tests start workers. */
  readonly bare?: boolean;
}

/** Clones the template of a region. Call `drop` in afterAll. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const region = options.region ?? "us";
  const { prefix, serverUrls, templates, bareTemplates, isThrowaway } = inject("testServers");
  const name = `${prefix}${region}_${randomBytes(5).toString("hex")}`;
  const template = (options.bare ? bareTemplates : templates)[region];
  await createDatabase(serverUrls[region], name, {
    template,
    strategy: isThrowaway ? "file_copy" : "wal_log",
  });
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
  const pool = createPool({
    connectionString,
    max: POOL_MAX,
    applicationName: "sluice-test",
    connectionTimeoutMs: PATIENT_MS,
    idleInTransactionTimeoutMs: PATIENT_MS,
  });
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
