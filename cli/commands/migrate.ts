/** `sluice migrate`: applies the migrations to one region's database or to both. */
import { parseArgs } from "node:util";
import { readRegionUrl } from "#db/config.ts";
import { readConsoleUrl } from "#db/console/console-config.ts";
import { isRegion, parseRegion, REGIONS } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import { UsageError } from "../command.ts";
import { hasOwnConsoleDatabase } from "../console-config.ts";

export const help = `Usage: sluice migrate [--region us|eu]

Applies prisma/migrations to the database of each region (default: both). Safe to run twice and at the same time.
A database of the console's own (CONSOLE_DATABASE_URL) is migrated with them, as one of the first region.
Reads DATABASE_URL_US and DATABASE_URL_EU, or the databases of the running "sluice up".`;

/** Migrates and prints what was applied, one line per region. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { region: { type: "string" } } });
  if (values.region !== undefined && !isRegion(values.region.toLowerCase())) {
    throw new UsageError("--region must be us or eu");
  }
  const regions = values.region === undefined ? REGIONS : [parseRegion(values.region)];
  for (const region of regions) {
    const { applied } = await migrate({
      connectionString: readRegionUrl(region),
      region,
      onWarning: (message) => console.error(`sluice: ${region}: ${message}`),
    });
    console.log(`${region}: ${applied.length === 0 ? "up to date" : `applied ${applied.join(", ")}`}`);
  }
  if (values.region === undefined && hasOwnConsoleDatabase()) {
    const { applied } = await migrate({ connectionString: readConsoleUrl(), region: REGIONS[0] });
    console.log(`console: ${applied.length === 0 ? "up to date" : `applied ${applied.join(", ")}`}`);
  }
  return 0;
}
