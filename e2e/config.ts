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

/**
 * How many worlds run side by side. The first uses DATABASE_URL_US and _EU, the n-th those of SLUICE_E2E_WORLD_n, a JSON
 * object { "us": url, "eu": url }; without any there is one.
 */
export function countWorlds(env: NodeJS.ProcessEnv = process.env): number {
  let worlds = 1;
  while (env[worldSetting(worlds)]) worlds += 1;
  return worlds;
}

/**
 * The settings of one of the worlds, counted from 0.
 * @throws DatabaseConfigError when its database of a region is missing.
 */
export function readE2eConfig(world: number, env: NodeJS.ProcessEnv = process.env): E2eConfig {
  const { us, eu } = JSON.parse((world > 0 && env[worldSetting(world)]) || "{}") as Record<string, string>;
  return {
    urls: readRegionUrls(world === 0 ? env : { DATABASE_URL_US: us, DATABASE_URL_EU: eu }),
    distDir: env.SLUICE_NEXT_DIST || ".next",
    consolePort: world === 0 && env.SLUICE_CONSOLE_PORT ? Number(env.SLUICE_CONSOLE_PORT) : null,
  };
}

function worldSetting(world: number): string {
  return `SLUICE_E2E_WORLD_${world + 1}`;
}

/** The environment of a child process: this one's without the databases, plus what the child is meant to have. */
export function childEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const {
    DATABASE_URL_US: _us,
    DATABASE_URL_EU: _eu,
    CONSOLE_DATABASE_URL: _console,
    SLUICE_OIDC_ISSUER: _issuer,
    SLUICE_E2E_WORLD_2: _world,
    ...rest
  } = process.env;
  return { ...rest, NODE_ENV: "production", ...extra };
}
