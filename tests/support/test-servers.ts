/**
 * Vitest's global set-up for every group whose tests need Postgres: finds or starts a server, makes one migrated
 * template database per region, and removes every database of this run at the end.
 * It must never touch a database that it did not make: all its names carry this run's prefix.
 */

import { runMigrations } from "graphile-worker";
import type { TestProject } from "vitest/node";
import { createDatabase, withDatabase } from "#db/admin.ts";
import type { Region } from "#domain/region.ts";
import { createMigrated, hasGivenServers, openScratchServers } from "#scripts/lib/scratch-databases.ts";
import type { TestServerVersion } from "#scripts/lib/test-server.ts";

/** What a test file needs to clone a database. Plain data: it crosses a process boundary. */
export interface TestServers {
  /** Every database of this run starts with it. */
  prefix: string;
  /** False on the servers of whoever runs the tests. */
  isThrowaway: boolean;
  /** URL of an administration database on the server of each region. */
  serverUrls: { us: string; eu: string };
  /** Name of the migrated template database of each region; for tests of workers it has graphile-worker's schema too. */
  templates: { us: string; eu: string };
  /** ... without graphile-worker's schema, whatever the group. */
  bareTemplates: { us: string; eu: string };
}

declare module "vitest" {
  interface ProvidedContext {
    testServers: TestServers;
  }
}

/** The group whose tests start workers, as vitest.config.ts names it. */
const WORKER_GROUP = "worker";

interface Running {
  servers: TestServers;
  /** Made when the first group asks for them. */
  workerTemplates: Promise<TestServers["templates"]> | null;
  users: number;
  stop(): Promise<void>;
}

/** Each group loads this module anew, so the running servers of this process stand on globalThis. */
const shared = globalThis as typeof globalThis & {
  sluiceTestServers?: Map<TestServerVersion, Promise<Running>>;
};

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
  const starting = shared.sluiceTestServers.get(version) ?? begin(version);
  shared.sluiceTestServers.set(version, starting);
  const running = await starting;
  running.users += 1;
  project.provide("testServers", await serversFor(project.name, running));
  return async () => {
    running.users -= 1;
    if (running.users > 0) return;
    shared.sluiceTestServers?.delete(version);
    await running.stop();
  };
}

async function begin(version: TestServerVersion): Promise<Running> {
  const servers = await openScratchServers(version);
  try {
    const us = await createMigrated(servers, "us", "template");
    const eu = await createMigrated(servers, "eu", "template");
    const { prefix, serverUrls } = servers;
    const templates = { us: us.name, eu: eu.name };
    const isThrowaway = version !== 18 || !hasGivenServers();
    const known = { prefix, isThrowaway, serverUrls, templates, bareTemplates: templates };
    return { servers: known, workerTemplates: null, users: 0, stop: () => servers.stop() };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

/** Every worker installs graphile-worker's schema where it is missing: half a second of each test, and no promise of it. */
async function serversFor(group: string, running: Running): Promise<TestServers> {
  if (group !== WORKER_GROUP) return running.servers;
  running.workerTemplates ??= makeWorkerTemplates(running.servers);
  return { ...running.servers, templates: await running.workerTemplates };
}

async function makeWorkerTemplates(servers: TestServers): Promise<TestServers["templates"]> {
  const make = async (region: Region) => {
    const name = `${servers.prefix}worker_template_${region}`;
    const serverUrl = servers.serverUrls[region];
    await createDatabase(serverUrl, name, { template: servers.bareTemplates[region] });
    await runMigrations({ connectionString: withDatabase(serverUrl, name) });
    return name;
  };
  return { us: await make("us"), eu: await make("eu") };
}
