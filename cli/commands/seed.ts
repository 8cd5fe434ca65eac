/** `sluice seed`: writes the demo's merchants and support desk into one region's database or into both. */
import { parseArgs } from "node:util";
import { readRegionUrl } from "#db/config.ts";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { assertRegion } from "#db/regions.ts";
import type { Keyring } from "#db/secrets.ts";
import { readKeyring } from "#db/secrets-config.ts";
import { readSendingRules } from "#db/sending-rules-config.ts";
import { readReceiverUrl, readSupportUrl } from "#demo/config.ts";
import { seedSupport } from "#demo/support/seed.ts";
import { checkDestinationUrl } from "#domain/destination-url.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { isRegion, parseRegion, REGIONS, type Region } from "#domain/region.ts";
import { seedRegion } from "#prisma/seed.ts";
import { UsageError } from "../command.ts";

export const help = `Usage: sluice seed [--region us|eu]

Writes the demo's tenants and destinations (default: both regions). A second run changes nothing, except that it follows
the receiver when SLUICE_RECEIVER_URL names another address, and the support desk's endpoint when SLUICE_SUPPORT_URL
does. Needs migrated databases (DATABASE_URL_US, DATABASE_URL_EU) and SLUICE_SECRET_KEYS, which seals signing secrets.`;

/** Seeds and prints one line per region. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { region: { type: "string" } } });
  if (values.region !== undefined && !isRegion(values.region.toLowerCase())) {
    throw new UsageError("--region must be us or eu");
  }
  const regions = values.region === undefined ? REGIONS : [parseRegion(values.region)];
  const keyring = readKeyring();
  const urls = { receiverUrl: readReceiverUrl(), supportUrl: readSupportUrl() };
  checkReachable(Object.values(urls));
  for (const region of regions) console.log(await seedOne(region, keyring, urls));
  return 0;
}

/** A worker with the same settings would refuse to send there: better said now than in 10,000 dead letters. */
function checkReachable(urls: readonly string[]): void {
  const rules = readSendingRules();
  for (const url of urls) {
    try {
      checkDestinationUrl(url, rules);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      const settings = "SLUICE_ALLOW_ADDRESSES=loopback and SLUICE_PLAIN_HTTP=true open this machine";
      throw new SluiceError(
        error.code,
        `the demo's receivers cannot be sent to: ${error.detail} (${settings})`,
      );
    }
  }
}

async function seedOne(
  region: Region,
  keyring: Keyring,
  { receiverUrl, supportUrl }: { receiverUrl: string; supportUrl: string },
): Promise<string> {
  const pool = createPool({
    connectionString: readRegionUrl(region),
    max: 1,
    applicationName: `sluice-seed-${region}`,
  });
  try {
    await assertRegion(pool, region);
    const prisma = createPrisma(pool);
    const merchants = await seedRegion({ prisma, region, keyring, receiverUrl });
    const desk = await seedSupport({ prisma, region, keyring, supportUrl });
    await prisma.$disconnect();
    const tenants = merchants.tenants + desk.tenants;
    const destinations = merchants.destinations + desk.destinations;
    const moved = merchants.moved + desk.moved;
    if (tenants + destinations + moved === 0) return `${region}: the demo's tenants are there already`;
    const follows = moved === 0 ? "" : `, ${moved} follow their receiver to another address`;
    return `${region}: ${tenants} tenants and ${destinations} destinations written${follows}`;
  } finally {
    await pool.end();
  }
}
