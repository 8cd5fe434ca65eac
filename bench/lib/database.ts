/**
 * A region's database for a bench: an embedded server of its own with durable settings, or a scratch database beside
 * the one of DATABASE_URL_US. It must never touch a database that it did not make.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Pool } from "pg";
import { createDatabase, dropDatabase, withDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import type { Region } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import {
  embeddedNativeDir,
  findFreePort,
  prepareDataDirectory,
  startServer,
} from "#scripts/lib/embedded-postgres.ts";
import { givenDatabaseUrl } from "../config.ts";
import { closeLater } from "./cleanup.ts";
import { anyWorkerSession } from "./sql.ts";
import { untilTrue } from "./wait.ts";

export interface BenchDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** For the CPU reading; null when the server is not ours. */
  readonly serverPid: number | null;
  readonly version: string;
  /** An empty database of its own on the same server, for another queue. Goes with this one. */
  makeSibling(name: string): Promise<string>;
  /** A second region database on the same server, of `us` unless said otherwise. Goes with this one. */
  openSecond(name: string, region?: Region): Promise<BenchDatabase>;
  close(): Promise<void>;
}

const POOL_MAX = 4;
const CLOSE_TIMEOUT_MS = 3_000;
/** Durable: what a commit promises is on disk. */
const SETTINGS = {
  shared_buffers: "256MB",
  max_connections: "100",
  max_wal_size: "4GB",
  jit: "off",
};

interface Server {
  readonly url: string;
  readonly pid: number | null;
}

/** Its server, where it is ours, stops when everything is closed (cleanup.ts). */
export async function openBenchDatabase(): Promise<BenchDatabase> {
  return await openOn(await openServer(), `sluice_bench_${randomBytes(4).toString("hex")}`);
}

/** A migrated database of the given name, with all that is later made beside it. */
async function openOn(server: Server, name: string, region: Region = "us"): Promise<BenchDatabase> {
  await createDatabase(server.url, name);
  const url = withDatabase(server.url, name);
  await migrate({ connectionString: url, region });
  const pool = createPool({ connectionString: url, max: POOL_MAX, applicationName: "sluice-bench" });
  const version = await pool.query<{ server_version: string }>("SHOW server_version");
  const closers: (() => Promise<void>)[] = [];
  return {
    url,
    pool,
    serverPid: server.pid,
    version: version.rows[0]?.server_version ?? "unknown",
    async makeSibling(suffix) {
      const sibling = `${name}_${suffix}`;
      await createDatabase(server.url, sibling);
      closers.push(() => dropDatabase(server.url, sibling));
      return withDatabase(server.url, sibling);
    },
    async openSecond(suffix, ofRegion) {
      const second = await openOn(server, `${name}_${suffix}`, ofRegion);
      closers.push(() => second.close());
      return second;
    },
    async close() {
      // A stopped worker's sessions may still be saying goodbye; cut off, each would say so in the log.
      await untilTrue(async () => !(await anyWorkerSession(pool)), "sessions to end", CLOSE_TIMEOUT_MS).catch(
        () => undefined,
      );
      await pool.end();
      for (const close of closers) await close();
      await dropDatabase(server.url, name);
    },
  };
}

async function openServer(): Promise<Server> {
  const given = givenDatabaseUrl();
  if (given !== null) return { url: given, pid: null };
  const dataDir = mkdtempSync(path.join(tmpdir(), "sluice-bench-"));
  rmSync(dataDir, { recursive: true });
  const settings = {
    binDir: path.join(embeddedNativeDir(), "bin"),
    dataDir,
    port: await findFreePort(),
    settings: SETTINGS,
  };
  await prepareDataDirectory(settings);
  const running = await startServer(settings);
  closeLater(async () => {
    await running.stop();
    rmSync(dataDir, { recursive: true, force: true });
    rmSync(`${dataDir}.log`, { force: true });
    rmSync(`${dataDir}.ready`, { force: true });
  });
  return { url: running.url, pid: running.pid };
}
