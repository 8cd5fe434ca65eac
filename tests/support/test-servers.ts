/**
 * Vitest's global set-up for every group whose tests need Postgres: finds or starts a server, makes one migrated
 * template database per region, and removes every database of this run at the end.
 * It must never touch a database that it did not make: all its names carry this run's prefix.
 */

import type { TestProject } from "vitest/node";
import { createMigrated, openScratchServers } from "#scripts/lib/scratch-databases.ts";
import type { TestServerVersion } from "#scripts/lib/test-server.ts";

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
  project.provide("testServers", running.servers);
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
    const known = { prefix, serverUrls, templates: { us: us.name, eu: eu.name } };
    return { servers: known, users: 0, stop: () => servers.stop() };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}
