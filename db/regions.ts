/**
 * Which database belongs to which region, and the check that it really does.
 * Nothing here joins, copies or moves rows between regions.
 */
import type { Pool } from "pg";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { readConsolePoolMax, readRegionUrl } from "./config.ts";
import { createPool } from "./pool.ts";

const CONSOLE_STATEMENT_TIMEOUT_MS = 5_000;
const CONSOLE_CONNECTION_TIMEOUT_MS = 2_000;
const UNDEFINED_TABLE = "42P01";
const INVALID_SCHEMA = "3F000";

/** Next loads modules more than once per process, so the pools live on globalThis. */
const shared = globalThis as typeof globalThis & { sluiceRegionPools?: Map<Region, Pool> };

/**
 * The console's pool of a region, made on first use and kept for the process. Statements end after 5 s, so that a
 * region that does not answer cannot hold a page.
 * @throws SluiceError `bad_config` when the region's URL is missing or wrong.
 */
export function regionPool(region: Region): Pool {
  shared.sluiceRegionPools ??= new Map();
  const known = shared.sluiceRegionPools.get(region);
  if (known) return known;
  const pool = createPool({
    connectionString: readRegionUrl(region),
    max: readConsolePoolMax(),
    applicationName: `sluice-console-${region}`,
    statementTimeoutMs: CONSOLE_STATEMENT_TIMEOUT_MS,
    connectionTimeoutMs: CONSOLE_CONNECTION_TIMEOUT_MS,
  });
  shared.sluiceRegionPools.set(region, pool);
  return pool;
}

/** Closes the console's pools. A later `regionPool` opens new ones. */
export async function closeRegionPools(): Promise<void> {
  const pools = [...(shared.sluiceRegionPools?.values() ?? [])];
  shared.sluiceRegionPools?.clear();
  await Promise.all(pools.map((pool) => pool.end()));
}

/**
 * Asks the database which region it is.
 * @returns null when it has not been migrated.
 */
export async function readDatabaseRegion(pool: Pick<Pool, "query">): Promise<string | null> {
  try {
    const result = await pool.query<{ region: string }>("SELECT region FROM sluice.region_control");
    return result.rows[0]?.region ?? null;
  } catch (error) {
    if (isMissingTable(error)) return null;
    throw error;
  }
}

/**
 * Refuses to go on when the database is not the given region's.
 * @throws SluiceError `region_mismatch`, with `expected` and `actual` in its data, when it says another or none.
 */
export async function assertRegion(pool: Pick<Pool, "query">, region: Region): Promise<void> {
  const actual = await readDatabaseRegion(pool);
  if (actual === region) return;
  const detail =
    actual === null
      ? `The database was not migrated for any region (expected ${region}): run "sluice migrate" first.`
      : `The database belongs to region ${actual}, but region ${region} was expected: check the database URL.`;
  throw new SluiceError("region_mismatch", detail, { expected: region, actual });
}

function isMissingTable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === UNDEFINED_TABLE || code === INVALID_SCHEMA;
}
