/**
 * The connections by which the console writes deliveries for programs. They are apart from those of the pages: a burst of
 * programs must never take the connections from somebody who looks why it is late. Nothing is read through them.
 */
import type { Pool } from "pg";
import type { Region } from "#domain/region.ts";
import { readRegionUrl } from "../config.ts";
import { createPool } from "../pool.ts";
import { createPrisma, type PrismaClient, type PrismaSettings } from "../prisma.ts";

const POOL_MAX = 4;
const STATEMENT_TIMEOUT_MS = 5_000;
const CONNECTION_TIMEOUT_MS = 2_000;
/** A caller that dies in the middle of its transaction holds its keys, and whoever waits for them, no longer. */
const IDLE_TIMEOUT_MS = 5_000;

export interface EnqueueDatabase {
  readonly prisma: PrismaClient;
  /** For the hint after the commit, which has a connection of its own. */
  readonly connectionString: string;
}

/** Next loads modules more than once per process, so the pools live on globalThis. */
const shared = globalThis as typeof globalThis & {
  sluiceEnqueueDatabases?: Map<Region, EnqueueDatabase & { readonly pool: Pool }>;
};

/**
 * Made on first use and kept for the process.
 * @param settings of the first call of a region
 * @throws SluiceError `bad_config` when the region's URL is missing or wrong
 */
export function enqueueDatabase(region: Region, settings: PrismaSettings = {}): EnqueueDatabase {
  shared.sluiceEnqueueDatabases ??= new Map();
  const known = shared.sluiceEnqueueDatabases.get(region);
  if (known) return known;
  const connectionString = readRegionUrl(region);
  const pool = createPool({
    connectionString,
    max: POOL_MAX,
    applicationName: `sluice-enqueue-${region}`,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
    idleInTransactionTimeoutMs: IDLE_TIMEOUT_MS,
  });
  const opened = { pool, prisma: createPrisma(pool, settings), connectionString };
  shared.sluiceEnqueueDatabases.set(region, opened);
  return opened;
}

/** Closes the pools. A later call opens new ones. */
export async function closeEnqueueDatabases(): Promise<void> {
  const opened = [...(shared.sluiceEnqueueDatabases?.values() ?? [])];
  shared.sluiceEnqueueDatabases?.clear();
  await Promise.all(
    opened.map(async ({ prisma, pool }) => {
      await prisma.$disconnect();
      await pool.end();
    }),
  );
}
