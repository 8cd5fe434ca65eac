/**
 * Databases that live as long as one test run: on a throw-away server, or on the servers of DATABASE_URL_US and
 * DATABASE_URL_EU when both are set. All names carry the run's prefix; no other database is ever touched.
 */
import { createDatabase, dropDatabase, listDatabases, withDatabase } from "#db/admin.ts";
import { readRegionUrls } from "#db/config.ts";
import { migrate } from "#prisma/migrate.ts";
import { startTestServer, type TestServerVersion } from "./test-server.ts";

export interface ScratchServers {
  /** Every database of this run starts with it. */
  prefix: string;
  /** URL of an administration database on the server of each region. */
  serverUrls: { us: string; eu: string };
  /** Stops the throw-away server, or drops this run's databases on the given ones. */
  stop(): Promise<void>;
}

/** True when the tests should run on the caller's servers. */
export function hasGivenServers(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean(env.DATABASE_URL_US && env.DATABASE_URL_EU);
}

/** Opens the servers of a run. Version 15 is always a throw-away server. */
export async function openScratchServers(version: TestServerVersion): Promise<ScratchServers> {
  const prefix = `sluice_test_${process.pid}_${Date.now().toString(36)}_`;
  if (version === 18 && hasGivenServers()) {
    const serverUrls = readRegionUrls();
    return { prefix, serverUrls, stop: () => dropAll(serverUrls, prefix) };
  }
  const server = await startTestServer(version);
  return { prefix, serverUrls: { us: server.url, eu: server.url }, stop: () => server.stop() };
}

/** Makes and migrates one database of the run and returns its name. */
export async function createMigrated(
  servers: ScratchServers,
  region: "us" | "eu",
  suffix: string,
): Promise<{ name: string; url: string }> {
  const name = `${servers.prefix}${suffix}_${region}`;
  const url = withDatabase(servers.serverUrls[region], name);
  await createDatabase(servers.serverUrls[region], name);
  await migrate({ connectionString: url, region });
  return { name, url };
}

async function dropAll(serverUrls: ScratchServers["serverUrls"], prefix: string): Promise<void> {
  for (const url of new Set([serverUrls.us, serverUrls.eu])) {
    for (const database of await listDatabases(url, prefix)) await dropDatabase(url, database);
  }
}
