/**
 * Vitest's global set-up for every group whose tests need Postgres: finds or starts a server, makes one migrated
 * template database per region, and removes every database of this run at the end.
 * It must never touch a database that it did not make: all its names carry this run's prefix.
 */
import { createDatabase, dropDatabase, listDatabases, withDatabase } from "#db/admin.ts";
import { readRegionUrls } from "#db/config.ts";
import { migrate } from "#prisma/migrate.ts";
import { startTestServer, type TestServerVersion } from "#scripts/lib/test-server.ts";
import type { TestProject } from "vitest/node";

/** What a test file needs to clone a database. Plain data: it crosses a process boundary. */
export interface TestServers {
  /** Every database of this run starts with it. */
  prefix: string;
  /** URL of an administration database on the server of each region. */
  serverUrls: { us: string; eu: string };
  /** Name of the migrated template database of each region. */
  templates: { us: string; eu: string };
}

declare module "vitest" {
  interface ProvidedContext {
    testServers: TestServers;
  }
}

interface Running {
  servers: TestServers;
  users: number;
  stop(): Promise<void>;
}

/** Each group loads this module anew, so the running servers of this process stand on globalThis. */
const shared = globalThis as typeof globalThis & { sluiceTestServers?: Map<string, Promise<Running>> };

/** Global set-up on Postgres 18, or on the servers of DATABASE_URL_US and DATABASE_URL_EU when both are set. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return provideServers(project, 18);
}

/** Makes or shares the server of a version and tells the project's tests about it. */
export async function provideServers(
  project: TestProject,
  version: TestServerVersion,
): Promise<() => Promise<void>> {
  shared.sluiceTestServers ??= new Map();
  const key = version === 18 && hasOwnServers() ? "given" : String(version);
  const starting = shared.sluiceTestServers.get(key) ?? begin(key, version);
  shared.sluiceTestServers.set(key, starting);
  const running = await starting;
  running.users += 1;
  project.provide("testServers", running.servers);
  return async () => {
    running.users -= 1;
    if (running.users > 0) return;
    shared.sluiceTestServers?.delete(key);
    await running.stop();
  };
}

function hasOwnServers(): boolean {
  return Boolean(process.env.DATABASE_URL_US && process.env.DATABASE_URL_EU);
}

async function begin(key: string, version: TestServerVersion): Promise<Running> {
  const given = key === "given";
  const server = given ? null : await startTestServer(version);
  const serverUrls = server ? { us: server.url, eu: server.url } : readRegionUrls();
  const prefix = `sluice_test_${process.pid}_${Date.now().toString(36)}_`;
  const templates = { us: `${prefix}template_us`, eu: `${prefix}template_eu` };
  const stop = async () => {
    if (server) await server.stop();
    else await dropAll(serverUrls, prefix);
  };
  try {
    for (const region of ["us", "eu"] as const) {
      await createDatabase(serverUrls[region], templates[region]);
      await migrate({ connectionString: withDatabase(serverUrls[region], templates[region]), region });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { servers: { prefix, serverUrls, templates }, users: 0, stop };
}

async function dropAll(serverUrls: TestServers["serverUrls"], prefix: string): Promise<void> {
  for (const url of new Set([serverUrls.us, serverUrls.eu])) {
    for (const database of await listDatabases(url, prefix)) await dropDatabase(url, database);
  }
}
