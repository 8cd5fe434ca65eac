/**
 * Settings of the console's own database and of its sign-in, read from the environment and checked.
 * It must never print a secret or a URL, and never fall back to a secret that somebody else could know.
 */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { SluiceError } from "#domain/errors.ts";
import { REGIONS } from "#domain/region.ts";
import { type Environment, isPostgresUrl, readRegionUrl } from "../config.ts";

const DEFAULT_CONSOLE_PORT = "3000";
const LEAST_SECRET_CHARS = 32;
const MAX_DOMAINS = 50;
const DEFAULT_SCOPES = "openid profile email";
const DEFAULT_SESSION_HOURS = 12;
const MAX_SESSION_HOURS = 168;

/** The identity provider, when there is one. */
export interface OidcSettings {
  /** Shown on the button: "Continue with <name>". */
  readonly name: string;
  /** `https://idp.example.com`; its discovery document is read below `/.well-known/`. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** Mail domains that may sign in, lower case. Empty: all that the provider lets in. */
  readonly domains: readonly string[];
}

export interface SignInSettings {
  /** Origin under which people reach the console. */
  readonly consoleUrl: string;
  /** Signs cookies. */
  readonly secret: string;
  /** Passwords kept here: for the demo and for installations without an identity provider. */
  readonly localAccounts: boolean;
  readonly oidc: OidcSettings | null;
  /** A session ends this long after its sign-in, whatever happens in it. */
  readonly sessionSeconds: number;
  /** The header in which a trusted proxy writes the caller's address; null: no address is known. */
  readonly addressHeader: string | null;
}

/**
 * `CONSOLE_DATABASE_URL`, or the first region's database: accounts, sessions, grants, service tokens.
 * @throws SluiceError `bad_config`
 */
export function readConsoleUrl(env: Environment = process.env): string {
  const value = env.CONSOLE_DATABASE_URL;
  if (value === undefined || value === "") return readRegionUrl(REGIONS[0], env);
  if (!isPostgresUrl(value)) {
    throw bad("CONSOLE_DATABASE_URL is not a Postgres URL (postgres://user:password@host:5432/database).");
  }
  return value;
}

/**
 * Everything that signing in needs.
 * @throws SluiceError `bad_config` naming the setting.
 */
export function readSignInSettings(env: Environment = process.env): SignInSettings {
  const oidc = readOidc(env);
  return {
    consoleUrl: readConsoleOrigin(env),
    secret: readSecret(env),
    localAccounts: readSwitch(env, "SLUICE_LOCAL_ACCOUNTS") ?? oidc === null,
    oidc,
    sessionSeconds: readSessionHours(env) * 3_600,
    addressHeader: readAddressHeader(env),
  };
}

/** `SLUICE_CONSOLE_URL` as an origin, by default the loopback port. */
function readConsoleOrigin(env: Environment): string {
  const text =
    env.SLUICE_CONSOLE_URL || `http://127.0.0.1:${env.SLUICE_CONSOLE_PORT || DEFAULT_CONSOLE_PORT}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.pathname !== "/") {
    throw bad("SLUICE_CONSOLE_URL must be an origin such as https://sluice.example.com, without a path.");
  }
  return url.origin;
}

function readSecret(env: Environment): string {
  const secret = readTextOrFile(env, "SLUICE_AUTH_SECRET");
  if (secret === null || secret.length < LEAST_SECRET_CHARS) {
    throw bad(
      `SLUICE_AUTH_SECRET (or SLUICE_AUTH_SECRET_FILE) must hold at least ${LEAST_SECRET_CHARS} random characters.`,
    );
  }
  return secret;
}

const oidcSchema = z.object({
  issuer: z.url({ protocol: /^https?$/ }),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1),
});

function readOidc(env: Environment): OidcSettings | null {
  if (!env.SLUICE_OIDC_ISSUER) return null;
  const parsed = oidcSchema.safeParse({
    issuer: env.SLUICE_OIDC_ISSUER,
    clientId: env.SLUICE_OIDC_CLIENT_ID,
    clientSecret: readTextOrFile(env, "SLUICE_OIDC_CLIENT_SECRET"),
  });
  if (!parsed.success) {
    throw bad(
      "SLUICE_OIDC_ISSUER needs to be a URL, with SLUICE_OIDC_CLIENT_ID and SLUICE_OIDC_CLIENT_SECRET (or _FILE) beside it.",
    );
  }
  return {
    ...parsed.data,
    issuer: parsed.data.issuer.replace(/\/+$/, ""),
    name: env.SLUICE_OIDC_NAME || "single sign-on",
    scopes: (env.SLUICE_OIDC_SCOPES || DEFAULT_SCOPES).split(/\s+/).filter(Boolean),
    domains: (env.SLUICE_OIDC_DOMAINS ?? "")
      .toLowerCase()
      .split(/[\s,]+/)
      .filter(Boolean)
      .slice(0, MAX_DOMAINS),
  };
}

function readSessionHours(env: Environment): number {
  const parsed = z.coerce
    .number()
    .positive()
    .max(MAX_SESSION_HOURS)
    .default(DEFAULT_SESSION_HOURS)
    .safeParse(env.SLUICE_SESSION_HOURS || undefined);
  if (!parsed.success) throw bad(`SLUICE_SESSION_HOURS must be a number from 0 to ${MAX_SESSION_HOURS}.`);
  return parsed.data;
}

function readAddressHeader(env: Environment): string | null {
  const name = env.SLUICE_ADDRESS_HEADER;
  if (!name) return null;
  if (!/^[A-Za-z0-9-]{1,64}$/.test(name)) throw bad("SLUICE_ADDRESS_HEADER must be the name of a header.");
  return name.toLowerCase();
}

function readSwitch(env: Environment, setting: string): boolean | null {
  const text = env[setting];
  if (!text) return null;
  if (text !== "on" && text !== "off") throw bad(`${setting} must be on or off.`);
  return text === "on";
}

/** The setting's own text, or what the file named by `<setting>_FILE` holds. */
function readTextOrFile(env: Environment, setting: string): string | null {
  const text = env[setting];
  if (text) return text;
  const file = env[`${setting}_FILE`];
  if (!file) return null;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new SluiceError("bad_config", `The file of ${setting}_FILE cannot be read.`, undefined, { cause });
  }
}

function bad(detail: string): SluiceError {
  return new SluiceError("bad_config", detail);
}
