/**
 * Fills two empty region databases to the size that the console is measured at: `us` large, `eu` with the same tenants and
 * a hundredth of the rows. It must never write into a database that has tenants already.
 */
import type { Pool } from "pg";
import { createPool } from "#db/pool.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import { vacuumAll } from "../backlog/sql.ts";
import { progress } from "../lib/progress.ts";
import { loadPiece, makePastPartitions, piecesOf } from "./history/sql.ts";
import {
  beat,
  countSeeded,
  loadPresent,
  loadSamples,
  makePlaces,
  refuseUsed,
  sampleAll,
  sumAll,
} from "./sql.ts";

export interface ConsoleSizes {
  readonly tenants: number;
  readonly destinations: number;
  readonly live: number;
  readonly archived: number;
}

export type RegionUrls = Readonly<Record<Region, string>>;

const SMALL_REGION_PART = 100;
const TELL_EVERY_PIECES = 10;

/** Rows that stand in `us` afterwards. @throws Error when a database is not empty */
export async function seedConsole(urls: RegionUrls, sizes: ConsoleSizes): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const region of REGIONS) {
    await migrate({ connectionString: urls[region], region });
    const pool = createPool({ connectionString: urls[region], max: 2, applicationName: "sluice-bench" });
    try {
      await refuseUsed(pool);
      await seedRegion(pool, region, region === "us" ? sizes : smaller(sizes));
      if (region === "us") Object.assign(counts, await countSeeded(pool));
    } finally {
      await pool.end();
    }
  }
  return counts;
}

function smaller(sizes: ConsoleSizes): ConsoleSizes {
  const part = (count: number) => Math.max(1, Math.floor(count / SMALL_REGION_PART));
  return { ...sizes, live: part(sizes.live), archived: part(sizes.archived) };
}

async function seedRegion(pool: Pool, region: Region, sizes: ConsoleSizes): Promise<void> {
  await makePastPartitions(pool);
  const places = await makePlaces(pool, sizes.tenants, sizes.destinations);
  await pool.query("ANALYZE");
  const client = await pool.connect();
  try {
    await client.query("SET synchronous_commit = off");
    // A delivery may only begin as ready; what a year of failures leaves behind is written here at once.
    await client.query("SET session_replication_role = replica");
    progress(`${region}: samples`);
    await loadSamples(client, places);
    const pieces = piecesOf(sizes.archived, Date.now());
    for (const [index, piece] of pieces.entries()) {
      if (index % TELL_EVERY_PIECES === 0)
        progress(`${region}: ${piece.first - 1} of ${sizes.archived} archived`);
      await loadPiece(pool, client, piece, places);
    }
    progress(`${region}: ${sizes.live} live`);
    await loadPresent(client, sizes.live, places);
  } finally {
    client.release(true);
  }
  await sumAll(pool);
  await beat(pool, region);
  await sampleAll(pool, region);
  progress(`${region}: vacuum`);
  await vacuumAll(pool);
}
