/**
 * What a console process needs beside the regions' databases: the key of its cookies, its own address, and where its
 * accounts are. Nothing of it is ever printed, and no other child gets it.
 */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import path from "node:path";
import { type Environment, type RegionUrls, urlSetting } from "#db/config.ts";
import { readConsoleUrl, readSignInSettings } from "#db/console/console-config.ts";
import { REGIONS } from "#domain/region.ts";
import { CONSOLE_ONLY_SETTINGS, ROOT } from "./config.ts";

const SECRET_BYTES = 32;

/**
 * The environment of a console on this port: the caller's own settings, else a secret that is made once per data folder
 * and the loopback address.
 * @throws SluiceError `bad_config` for a setting that cannot be used, before anything is started
 */
export function consoleEnvironment(
  port: number,
  dataDir: string,
  env: Environment = process.env,
): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const name of CONSOLE_ONLY_SETTINGS) if (env[name]) settings[name] = env[name];
  if (!env.SLUICE_AUTH_SECRET && !env.SLUICE_AUTH_SECRET_FILE) {
    settings.SLUICE_AUTH_SECRET_FILE = secretFile(dataDir);
  }
  if (!env.SLUICE_CONSOLE_URL) settings.SLUICE_CONSOLE_URL = `http://127.0.0.1:${port}`;
  readSignInSettings({ ...env, ...settings });
  return settings;
}

/** The same for a console that is started by hand. */
export function ownConsoleEnvironment(port: number, env: Environment = process.env): Record<string, string> {
  return consoleEnvironment(port, path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice"), env);
}

/** Where the accounts are: the console's own database when it has one, else the first region's. */
export function consoleUrlOf(urls: RegionUrls, env: Environment = process.env): string {
  const first = REGIONS[0];
  return readConsoleUrl({ CONSOLE_DATABASE_URL: env.CONSOLE_DATABASE_URL, [urlSetting(first)]: urls[first] });
}

/** True when the console has a database of its own, which is migrated like a region's. */
export function hasOwnConsoleDatabase(env: Environment = process.env): boolean {
  return Boolean(env.CONSOLE_DATABASE_URL);
}

/** Who the audit names for a change on the command line. */
export function commandActor(env: Environment = process.env): string {
  return `cli:${(env.SUDO_USER || userInfo().username).slice(0, 100)}`;
}

function secretFile(dataDir: string): string {
  const file = path.join(dataDir, "auth-secret");
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(SECRET_BYTES).toString("base64url"), { mode: 0o600 });
  }
  return file;
}
