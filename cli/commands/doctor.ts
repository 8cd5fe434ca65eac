/** `sluice doctor`: looks at this machine and at both databases and says what is wrong. It changes nothing. */
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Pool } from "pg";
import { pingDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import { readPartitionHealth } from "#db/queue/partition-health.ts";
import { describeHolder, MAX_HORIZON_AGE_MS, readHorizonHolders } from "#db/queue/xmin-horizon.ts";
import { assertRegion } from "#db/regions.ts";
import { isSluiceError } from "#domain/errors.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { embeddedNativeDir } from "#scripts/lib/embedded-postgres.ts";
import { ROOT, readCommandUrlsIfAny } from "../config.ts";

export const help = `Usage: sluice doctor

Checks Node, the packages, the built console and both region databases. Exit code 1 when something is wrong.`;

interface Check {
  name: string;
  /** Returns what is fine; throws what is not. */
  look(): Promise<string>;
}

/** Prints one line per check. */
export async function run(args: string[]): Promise<number> {
  parseArgs({ args, options: {} });
  let wrong = 0;
  for (const { name, look } of checks()) {
    try {
      console.log(`ok     ${name}: ${await look()}`);
    } catch (error) {
      wrong += 1;
      console.log(`wrong  ${name}: ${reasonOf(error)}`);
    }
  }
  return wrong === 0 ? 0 : 1;
}

function checks(): Check[] {
  const files = (name: string, file: string, repair: string): Check => ({
    name,
    look: async () => {
      if (!existsSync(path.join(ROOT, file))) throw new Error(`${file} is missing: ${repair}`);
      return "there";
    },
  });
  return [
    { name: "node", look: async () => process.version },
    files("packages", "node_modules/.package-lock.json", "run npm start"),
    files("prisma client", "db/generated/client.ts", "run npm start"),
    files("console build", ".next/BUILD_ID", "run npm start once, it builds the console"),
    { name: "embedded postgres", look: async () => path.relative(ROOT, embeddedNativeDir()) },
    ...REGIONS.map((region) => ({ name: `database ${region}`, look: () => checkDatabase(region) })),
    ...REGIONS.map((region) => ({ name: `partitions ${region}`, look: () => checkPartitions(region) })),
    ...REGIONS.map((region) => ({ name: `old snapshots ${region}`, look: () => checkHorizon(region) })),
  ];
}

async function checkDatabase(region: Region): Promise<string> {
  const urls = readCommandUrlsIfAny();
  if (urls === null) return "none yet: npm start makes them, or set DATABASE_URL_US and DATABASE_URL_EU";
  const connectionString = urls[region];
  const version = await pingDatabase(connectionString);
  const pool = createPool({ connectionString, max: 1, applicationName: "sluice-doctor" });
  try {
    await assertRegion(pool, region);
  } finally {
    await pool.end();
  }
  return `Postgres ${Math.floor(version / 10_000)} at ${new URL(connectionString).host}, region ${region}`;
}

/** Daily partitions and the nets below them: nothing shows their loss until a row fits nowhere. */
function checkPartitions(region: Region): Promise<string> {
  return withRegion(region, async (pool) => {
    const { alarms, notes } = await readPartitionHealth(pool);
    if (alarms.length > 0) throw new Error(alarms.join("; "));
    return ["a day ahead and more, nets empty", ...notes].join("; ");
  });
}

/** Dead rows stay for as long as somebody may still want to see them, and claims walk over them. */
function checkHorizon(region: Region): Promise<string> {
  return withRegion(region, async (pool) => {
    const holders = await readHorizonHolders(pool);
    if (holders.length > 0) throw new Error(holders.map(describeHolder).join("; "));
    return `none older than ${MAX_HORIZON_AGE_MS / 60_000} minutes`;
  });
}

async function withRegion(region: Region, look: (pool: Pool) => Promise<string>): Promise<string> {
  const urls = readCommandUrlsIfAny();
  if (urls === null) return "none yet";
  const pool = createPool({ connectionString: urls[region], max: 1, applicationName: "sluice-doctor" });
  try {
    await assertRegion(pool, region);
    return await look(pool);
  } finally {
    await pool.end();
  }
}

function reasonOf(error: unknown): string {
  if (isSluiceError(error)) return error.detail;
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
