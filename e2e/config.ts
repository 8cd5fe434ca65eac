/** Where the browser tests find their databases and the built console. The only file of this room that reads the environment. */
import { readRegionUrls } from "#db/config.ts";
import type { Region } from "#domain/region.ts";

export interface E2eConfig {
  /** Two migrated databases that nobody else uses. */
  urls: Readonly<Record<Region, string>>;
  /** Folder of the built console. */
  distDir: string;
  /** Null: take a free one. */
  consolePort: number | null;
}

/** @throws DatabaseConfigError when DATABASE_URL_US or DATABASE_URL_EU is missing. */
export function readE2eConfig(env: NodeJS.ProcessEnv = process.env): E2eConfig {
  return {
    urls: readRegionUrls(env),
    distDir: env.SLUICE_NEXT_DIST || ".next",
    consolePort: env.SLUICE_CONSOLE_PORT ? Number(env.SLUICE_CONSOLE_PORT) : null,
  };
}

/** The environment of a child process: this one's without the databases, plus what the child is meant to have. */
export function childEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL_US: _us,
    DATABASE_URL_EU: _eu,
    CONSOLE_DATABASE_URL: _console,
    SLUICE_OIDC_ISSUER: _issuer,
    ...rest
  } = process.env;
  return { ...rest, NODE_ENV: "production", ...extra };
}
