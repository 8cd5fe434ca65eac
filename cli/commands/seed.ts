/** `sluice seed`: writes the demo's merchants into one region's database or into both. */
import { parseArgs } from "node:util";
import { readRegionUrl } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { assertRegion } from "#db/regions.ts";
import type { Keyring } from "#db/secrets.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readReceiverUrl } from "#demo/config.ts";
import { isRegion, parseRegion, REGIONS, type Region } from "#domain/region.ts";
import { seedRegion } from "#prisma/seed.ts";
import { UsageError } from "../command.ts";

export const help = `Usage: sluice seed [--region us|eu]

Writes the demo's tenants and destinations (default: both regions). A second run changes nothing, except that it follows
the receiver when SLUICE_RECEIVER_URL names another address. Needs migrated databases (DATABASE_URL_US, DATABASE_URL_EU)
and SLUICE_SECRET_KEYS, which seals the signing secrets.`;

/** Seeds and prints one line per region. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { region: { type: "string" } } });
  if (values.region !== undefined && !isRegion(values.region.toLowerCase())) {
    throw new UsageError("--region must be us or eu");
  }
  const regions = values.region === undefined ? REGIONS : [parseRegion(values.region)];
  const keyring = readKeyring();
  const receiverUrl = readReceiverUrl();
  for (const region of regions) console.log(await seedOne(region, keyring, receiverUrl));
  return 0;
}

async function seedOne(region: Region, keyring: Keyring, receiverUrl: string): Promise<string> {
  const pool = createPool({
    connectionString: readRegionUrl(region),
    max: 1,
    applicationName: `sluice-seed-${region}`,
  });
  try {
    await assertRegion(pool, region);
    const prisma = createPrisma(pool);
    const { tenants, destinations, moved } = await seedRegion({ prisma, region, keyring, receiverUrl });
    await prisma.$disconnect();
    if (tenants + destinations + moved === 0) return `${region}: the demo's merchants are there already`;
    const follows = moved === 0 ? "" : `, ${moved} follow the receiver to ${receiverUrl}`;
    return `${region}: ${tenants} tenants and ${destinations} destinations written${follows}`;
  } finally {
    await pool.end();
  }
}
