/**
 * Which way the command line reaches a region's controls: with a service token through the API, without one on the region's
 * own database (docs/decisions/0029-cli-through-the-api.md). It must never take the second way because the first one failed:
 * a refused token would then do what it may not.
 */
import type { Region } from "#domain/region.ts";
import { readApiSettingsIfAny } from "../api-config.ts";
import { UsageError } from "../command.ts";
import { controlsByApi } from "./by-api.ts";
import { withDatabase } from "./by-database.ts";
import type { Controls } from "./commands.ts";

export type { Controls } from "./commands.ts";

/**
 * Opens a region's controls, does the work and closes them. `anyStep` lifts the step rule of limits; the audit says so.
 * @throws UsageError for `anyStep` with a token; SluiceError `bad_config`, `region_mismatch`, `database_unreachable`; Refused
 *   for what the API says; and what the work throws
 */
export async function withControls<T>(
  region: Region,
  work: (controls: Controls) => Promise<T>,
  { anyStep = false }: { readonly anyStep?: boolean } = {},
): Promise<T> {
  const api = readApiSettingsIfAny();
  if (api === null) return withDatabase(region, work, anyStep);
  if (anyStep) throw new UsageError("--any-step works on the region's database: leave SLUICE_TOKEN out");
  return work(controlsByApi(api, region));
}
