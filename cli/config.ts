/**
 * Every setting of the command line and of `sluice up`, read from the environment in one place and checked.
 * It is the only file of this room that looks at the environment. No message of it may hold the value of a URL.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type Environment, isPostgresUrl, type RegionUrls, readRegionUrls } from "#db/config.ts";
import { newSecretKeys } from "#db/secrets-config.ts";
import { LOCAL_SENDING_SETTINGS } from "#db/sending-rules-config.ts";
import { SluiceError } from "#domain/errors.ts";

/** Folder of the clone. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** The setting that names each port, for messages. */
export const PORT_SETTINGS = {
  console: "SLUICE_CONSOLE_PORT",
  receiver: "SLUICE_RECEIVER_PORT",
  postgres: "SLUICE_POSTGRES_PORT",
  workerUs: "SLUICE_WORKER_US_HEALTH_PORT",
  workerEu: "SLUICE_WORKER_EU_HEALTH_PORT",
} as const;

export type PortName = keyof typeof PORT_SETTINGS;

export interface UpConfig {
  ports: Readonly<Record<PortName, number>>;
  /** Where the embedded server's data, the logs and the marks of `up` live. */
  dataDir: string;
  /** The two databases of the caller, or null when `up` runs its own server. */
  givenUrls: RegionUrls | null;
  /** How long the packages took before this process started; null when it was started directly. */
  installMs: number | null;
}

const DEFAULT_PORTS: Readonly<Record<PortName, number>> = {
  console: 3000,
  receiver: 4400,
  postgres: 54_329,
  workerUs: 4501,
  workerEu: 4502,
};

const portSchema = z.coerce.number().int().min(1).max(65_535);

/**
 * Reads the settings of `sluice up`.
 * @throws SluiceError `bad_config` naming the setting: a port that is none or is named twice, only one of the two
 *   database URLs, or a URL that is not Postgres's.
 */
export function readUpConfig(env: Environment = process.env): UpConfig {
  const ports = readPorts(env);
  return {
    ports,
    dataDir: path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice"),
    givenUrls: readGivenUrls(env),
    installMs: env.SLUICE_INSTALL_MS ? Number(env.SLUICE_INSTALL_MS) : null,
  };
}

/**
 * The databases for a command that runs beside `sluice up` or without it: those of the environment, else those that
 * the running `up` of this clone has noted.
 * @throws SluiceError `bad_config` when there are none.
 */
export function readCommandUrls(env: Environment = process.env): RegionUrls {
  const given = readGivenUrls(env);
  if (given) return given;
  const noted = readNotedUrls(path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice"));
  return noted ?? readRegionUrls(env);
}

/** The same, or null where none are set and no `up` of this clone has noted any. */
export function readCommandUrlsIfAny(env: NodeJS.ProcessEnv = process.env): RegionUrls | null {
  if (env.DATABASE_URL_US || env.DATABASE_URL_EU) return readCommandUrls(env);
  return readNotedUrls(path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice"));
}

/**
 * Gives this process the databases and the key of the running `up` when its own environment has none, so that a
 * command beside it (one more worker, say) works on the same rows.
 */
export function adoptRunningSystem(env: NodeJS.ProcessEnv = process.env): void {
  if (env.DATABASE_URL_US || env.DATABASE_URL_EU) return;
  const dataDir = path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice");
  const noted = readNotedUrls(dataDir);
  if (noted === null) return;
  const urls = { DATABASE_URL_US: noted.us, DATABASE_URL_EU: noted.eu };
  Object.assign(env, urls, keySetting(dataDir, env), localSendingSettings(env));
}

/**
 * The setting that names the key which seals signing secrets: the caller's own, else a file that is made once per data
 * folder. Nothing of it is ever printed.
 */
export function keySetting(dataDir: string, env: Environment = process.env): Record<string, string> {
  if (env.SLUICE_SECRET_KEYS || env.SLUICE_SECRET_KEYS_FILE) return {};
  const file = path.join(dataDir, "secret-keys");
  if (!existsSync(file)) writeFileSync(file, newSecretKeys(), { mode: 0o600 });
  return { SLUICE_SECRET_KEYS_FILE: file };
}

/**
 * Lets requests of the demo reach the receivers on this machine, which a worker otherwise refuses. What the caller has
 * set stands.
 */
export function localSendingSettings(env: Environment = process.env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(LOCAL_SENDING_SETTINGS).filter(([setting]) => env[setting] === undefined),
  );
}

/** Settings that only a console may know. */
export const CONSOLE_ONLY_SETTINGS = [
  "CONSOLE_DATABASE_URL",
  "SLUICE_AUTH_SECRET",
  "SLUICE_AUTH_SECRET_FILE",
  "SLUICE_OIDC_CLIENT_SECRET",
  "SLUICE_OIDC_CLIENT_SECRET_FILE",
] as const;

/** The environment of a child: this one's, without database URLs and secrets of the console, plus what it is meant to have. */
export function childEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, SLUICE_INSTALL_MS: _ms, ...rest } = process.env;
  for (const name of CONSOLE_ONLY_SETTINGS) delete rest[name];
  return { ...rest, ...extra };
}

/** Where `up` notes the URLs of its databases while it runs. */
export function notedUrlsFile(dataDir: string): string {
  return path.join(dataDir, "databases.json");
}

function readNotedUrls(dataDir: string): RegionUrls | null {
  const file = notedUrlsFile(dataDir);
  if (!existsSync(file)) return null;
  const parsed = z
    .object({ us: z.string(), eu: z.string() })
    .safeParse(JSON.parse(readFileSync(file, "utf8")));
  return parsed.success ? parsed.data : null;
}

function readPorts(env: Environment): Record<PortName, number> {
  const ports = { ...DEFAULT_PORTS };
  const owners = new Map<number, string>();
  for (const name of Object.keys(PORT_SETTINGS) as PortName[]) {
    const setting = PORT_SETTINGS[name];
    const parsed = portSchema.safeParse(env[setting] || DEFAULT_PORTS[name]);
    if (!parsed.success) throw new SluiceError("bad_config", `${setting} must be a port from 1 to 65535.`);
    const other = owners.get(parsed.data);
    if (other) throw new SluiceError("bad_config", `${setting} and ${other} are the same port: change one.`);
    owners.set(parsed.data, setting);
    ports[name] = parsed.data;
  }
  return ports;
}

function readGivenUrls(env: Environment): RegionUrls | null {
  const us = env.DATABASE_URL_US || null;
  const eu = env.DATABASE_URL_EU || null;
  if (us === null && eu === null) return null;
  if (us === null || eu === null) {
    const [set, missing] = us === null ? ["EU", "US"] : ["US", "EU"];
    throw new SluiceError(
      "bad_config",
      `DATABASE_URL_${set} is set but DATABASE_URL_${missing} is not: set both, or neither for the embedded server.`,
    );
  }
  for (const [setting, url] of [
    ["DATABASE_URL_US", us],
    ["DATABASE_URL_EU", eu],
  ] as const) {
    if (!isPostgresUrl(url)) {
      throw new SluiceError(
        "bad_config",
        `${setting} is not a Postgres URL (postgres://user:password@host:5432/database).`,
      );
    }
  }
  return { us, eu };
}
