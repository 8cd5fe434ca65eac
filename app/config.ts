/**
 * What the console reads from its environment when it runs, never when it is built.
 * It is the only file of this room that looks at the environment.
 */
import "server-only";

const DEFAULT_ENVIRONMENT = "DEMO";
const MAX_NAME_LENGTH = 24;
const MAX_URL_LENGTH = 500;
/** Stands in the address for the trace id. */
const TRACE_ID_SLOT = "{traceId}";

/** The name shown in the top bar (`SLUICE_ENVIRONMENT`, default DEMO), cut to 24 characters. */
export function readEnvironmentName(env: NodeJS.ProcessEnv = process.env): string {
  const name = env.SLUICE_ENVIRONMENT?.trim();
  return name ? name.slice(0, MAX_NAME_LENGTH) : DEFAULT_ENVIRONMENT;
}

/**
 * Where a trace id leads to (`SLUICE_TRACE_URL`, with `{traceId}` in it), or null without one. What is no http address with
 * that slot is no link: a setting must not become a script in a page.
 */
export function readTraceUrl(env: NodeJS.ProcessEnv = process.env): string | null {
  const url = env.SLUICE_TRACE_URL?.trim() ?? "";
  const usable =
    /^https?:\/\/[^\s"<>]+$/.test(url) && url.includes(TRACE_ID_SLOT) && url.length <= MAX_URL_LENGTH;
  return usable ? url : null;
}

/** True for a built console, false for a developer's run with hot reload. */
export function isProduction(env: NodeJS.ProcessEnv = process.env): boolean {
  return env.NODE_ENV === "production";
}

/** One setting as a page may show it. */
export interface ShownSetting {
  name: string;
  /** Its value, or "set" for one that is or may hold a secret; null when it is not set and its default holds. */
  value: string | null;
}

/** Settings whose values are no secret. All others are only said to be set. */
const OPEN_SETTINGS = [
  "SLUICE_ENVIRONMENT",
  "SLUICE_CONSOLE_URL",
  "SLUICE_LOCAL_ACCOUNTS",
  "SLUICE_SESSION_HOURS",
  "SLUICE_ADDRESS_HEADER",
  "SLUICE_OIDC_ISSUER",
  "SLUICE_OIDC_NAME",
  "SLUICE_OIDC_SCOPES",
  "SLUICE_OIDC_DOMAINS",
  "SLUICE_ALLOW_ADDRESSES",
  "SLUICE_PLAIN_HTTP",
  "SLUICE_DEMO_ENDPOINT",
  "SLUICE_TRACE_URL",
  "CONSOLE_POOL_MAX",
] as const;

const CLOSED_SETTINGS = [
  "DATABASE_URL_US",
  "DATABASE_URL_EU",
  "CONSOLE_DATABASE_URL",
  "SLUICE_SECRET_KEYS",
  "SLUICE_SECRET_KEYS_FILE",
  "SLUICE_AUTH_SECRET",
  "SLUICE_AUTH_SECRET_FILE",
  "SLUICE_OIDC_CLIENT_ID",
  "SLUICE_OIDC_CLIENT_SECRET",
  "SLUICE_OIDC_CLIENT_SECRET_FILE",
] as const;

const MAX_SHOWN_CHARS = 200;

/** What this process was configured with, without a secret: of what could hold one only whether it is set. */
export function readShownSettings(env: NodeJS.ProcessEnv = process.env): ShownSetting[] {
  return [
    ...OPEN_SETTINGS.map((name) => ({ name, value: withoutCredentials(env[name]) })),
    ...CLOSED_SETTINGS.map((name) => ({ name, value: env[name] ? "set" : null })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A URL may carry a password although it should not. */
function withoutCredentials(text: string | undefined): string | null {
  if (!text) return null;
  return text.replaceAll(/\/\/[^/@\s]*@/g, "//***@").slice(0, MAX_SHOWN_CHARS);
}
