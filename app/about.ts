/** What this console is: its build, the schema of each region, and its settings without a secret. */
import "server-only";
import type { About } from "#components/queries/shell.ts";
import { readSchemaVersions } from "#db/console/read-schema-versions.ts";
import type { AccessScope } from "#domain/permissions.ts";
import { VERSION } from "#domain/version.ts";
import { isProduction, readEnvironmentName, readShownSettings } from "./config.ts";

/** Asks every region in scope for its schema. */
export async function readAbout(scope: AccessScope): Promise<About> {
  return {
    version: VERSION,
    environment: readEnvironmentName(),
    node: process.version,
    build: isProduction() ? "production" : "development",
    regions: await readSchemaVersions(scope),
    settings: readShownSettings(),
  };
}
