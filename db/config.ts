/**
 * The database settings of this process, read once from its environment and checked.
 * It is the only file of this room that looks at the environment, and it never keeps a URL in a log or an error.
 */
import { z } from "zod";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";

/** Where settings are read from: this process's environment, or what a test makes up. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One connection URL per region. */
export type RegionUrls = Readonly<Record<Region, string>>;

const DEFAULT_POOL_MAX = 8;
const POOL_MAX_LIMIT = 200;

const postgresUrl = z.string().refine(isPostgresUrl);

/** True when the text is a postgres:// or postgresql:// URL that names a host and a database. */
export function isPostgresUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (url.protocol === "postgres:" || url.protocol === "postgresql:") && url.pathname.length > 1;
}

/**
 * Reads `DATABASE_URL_US` and `DATABASE_URL_EU`.
 * @throws SluiceError `bad_config` when one of them is missing or is not a Postgres URL.
 */
export function readRegionUrls(env: Environment = process.env): RegionUrls {
  return { us: readRegionUrl("us", env), eu: readRegionUrl("eu", env) };
}

/**
 * Reads the URL of one region, so that a worker needs no credentials of the other.
 * @throws SluiceError `bad_config` when it is missing or is not a Postgres URL.
 */
export function readRegionUrl(region: Region, env: Environment = process.env): string {
  const setting = urlSetting(region);
  const value = env[setting];
  if (value === undefined || value === "") {
    throw new SluiceError("bad_config", `${setting} is not set: give the Postgres URL of region ${region}.`);
  }
  if (!postgresUrl.safeParse(value).success) {
    throw new SluiceError(
      "bad_config",
      `${setting} is not a Postgres URL (postgres://user:password@host:5432/database).`,
    );
  }
  return value;
}

/** The name of the environment variable that holds a region's URL. */
export function urlSetting(region: Region): "DATABASE_URL_US" | "DATABASE_URL_EU" {
  return region === "us" ? "DATABASE_URL_US" : "DATABASE_URL_EU";
}

/**
 * Connections that the console keeps per region (`CONSOLE_POOL_MAX`, default 8).
 * @throws SluiceError `bad_config` when it is not a whole number between 1 and 200.
 */
export function readConsolePoolMax(env: Environment = process.env): number {
  const parsed = z.coerce
    .number()
    .int()
    .min(1)
    .max(POOL_MAX_LIMIT)
    .default(DEFAULT_POOL_MAX)
    .safeParse(env.CONSOLE_POOL_MAX || undefined);
  if (!parsed.success) {
    throw new SluiceError(
      "bad_config",
      `CONSOLE_POOL_MAX must be a whole number from 1 to ${POOL_MAX_LIMIT}.`,
    );
  }
  return parsed.data;
}
