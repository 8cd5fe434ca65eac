/**
 * The databases of `sluice up`: the caller's own two, or one embedded Postgres 18 server with both in it.
 * It must never change or drop a database of the caller, and never leave a server behind when the start fails.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createDatabase, pingDatabase, withDatabase } from "#db/admin.ts";
import { type RegionUrls, urlSetting } from "#db/config.ts";
import { SluiceError } from "#domain/errors.ts";
import { REGIONS } from "#domain/region.ts";
import {
  embeddedNativeDir,
  PostgresStartError,
  prepareDataDirectory,
  type RunningServer,
  type ServerSettings,
  startServer,
  stopLeftover,
} from "#scripts/lib/embedded-postgres.ts";
import {
  canReach,
  outsideDirectory,
  postgresAccount,
  reachablePrograms,
} from "#scripts/lib/postgres-account.ts";
import { ROOT, type UpConfig } from "../config.ts";
import { busyPort, requireFreePorts } from "./ports.ts";

export interface Databases {
  urls: RegionUrls;
  /** The embedded server with all that is needed to start it again, or null when the databases are the caller's. */
  embedded: { server: RunningServer; settings: ServerSettings } | null;
  /** For the step's line. */
  description: string;
}

/** Durable, as the product is meant to run; sizes fit a laptop. */
const DURABLE_SETTINGS = {
  max_connections: "200",
  shared_buffers: "256MB",
  synchronous_commit: "on",
  max_wal_size: "2GB",
} as const;

const OLDEST_SERVER = 150_000;
const LEAST_FREE_BYTES = 500_000_000;
const PASSWORD_BYTES = 18;

/**
 * Checks the caller's databases, or starts the embedded server.
 * @throws SluiceError with one line that names the setting to change.
 */
export async function openDatabases(config: UpConfig, fresh: boolean): Promise<Databases> {
  if (config.givenUrls) {
    if (fresh) {
      throw new SluiceError(
        "bad_config",
        "--fresh only drops the embedded database: unset DATABASE_URL_US and _EU.",
      );
    }
    return { urls: config.givenUrls, embedded: null, description: await checkGiven(config.givenUrls) };
  }
  const settings = serverSettings(config);
  await stopLeftover(settings.dataDir);
  if (fresh) dropData(settings.dataDir);
  requireSpace(path.dirname(settings.dataDir));
  await requireFreePorts({ postgres: config.ports.postgres }, 0);
  const server = await startEmbedded(settings);
  try {
    for (const region of REGIONS) await createDatabase(server.url, `sluice_${region}`);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    urls: { us: withDatabase(server.url, "sluice_us"), eu: withDatabase(server.url, "sluice_eu") },
    embedded: { server, settings },
    description: `Postgres 18 on 127.0.0.1:${server.port}, databases sluice_us and sluice_eu`,
  };
}

/** Starts the server on its data directory, which is made when it is missing. */
export async function startEmbedded(settings: ServerSettings): Promise<RunningServer> {
  try {
    await prepareDataDirectory(settings);
    return await startServer(settings);
  } catch (error) {
    if (!(error instanceof PostgresStartError)) throw error;
    if (error.kind === "port") throw busyPort("postgres", settings.port);
    if (error.kind === "disk") throw noSpace(path.dirname(settings.dataDir));
    throw new SluiceError("database_unreachable", error.message, undefined, { cause: error });
  }
}

function serverSettings(config: UpConfig): ServerSettings {
  const account = postgresAccount();
  mkdirSync(config.dataDir, { recursive: true });
  const outside = () => outsideDirectory(ROOT);
  const home = canReach(account, config.dataDir) ? config.dataDir : outside();
  return {
    binDir: path.join(reachablePrograms(account, embeddedNativeDir(), outside), "bin"),
    dataDir: path.join(home, "postgres-18"),
    port: config.ports.postgres,
    password: serverPassword(path.join(config.dataDir, "postgres.password")),
    settings: DURABLE_SETTINGS,
  };
}

/** Made once per data directory: other users of the machine reach the port too. */
function serverPassword(file: string): string {
  if (!existsSync(file))
    writeFileSync(file, randomBytes(PASSWORD_BYTES).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

function dropData(dataDir: string): void {
  for (const file of [dataDir, `${dataDir}.ready`, `${dataDir}.log`])
    rmSync(file, { recursive: true, force: true });
}

function requireSpace(directory: string): void {
  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < LEAST_FREE_BYTES) throw noSpace(directory);
}

function noSpace(directory: string): SluiceError {
  return new SluiceError(
    "disk_full",
    `There is too little disk space at ${directory} (500 MB are needed): free some or set SLUICE_DATA_DIR elsewhere.`,
  );
}

async function checkGiven(urls: RegionUrls): Promise<string> {
  const versions: string[] = [];
  for (const region of REGIONS) {
    const version = await pingDatabase(urls[region]).catch((error: unknown) => {
      throw unreachable(urlSetting(region), urls[region], error);
    });
    if (version < OLDEST_SERVER) {
      throw new SluiceError("bad_config", `${urlSetting(region)}: Postgres 15 or newer is needed.`);
    }
    versions.push(`${region}: Postgres ${Math.floor(version / 10_000)} at ${new URL(urls[region]).host}`);
  }
  return versions.join(", ");
}

function unreachable(setting: string, url: string, error: unknown): SluiceError {
  const { host, pathname } = new URL(url);
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  const message = reason instanceof Error ? reason.message : String(reason);
  return new SluiceError(
    "database_unreachable",
    `${setting}: no connection to ${host}${pathname} (${message}): start that server or change the setting.`,
    undefined,
    { cause: error },
  );
}
