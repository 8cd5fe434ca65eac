/** Where the API is and as whom the command line calls it, from the environment. No message of it may hold the token. */
import { SluiceError } from "#domain/errors.ts";

const DEFAULT_URL = "http://127.0.0.1:3000";
/** Longer than the longest command: 2 s for a row that another one holds, 5 s for its statements, 10 s for the barrier. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** What a header can hold. */
const TOKEN_SHAPE = /^[\x21-\x7e]{1,200}$/;

export interface ApiSettings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  /** Longest wait for one answer. */
  readonly timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SluiceError `bad_config` without a token, or for an address that is none */
export function readApiSettings(env: Environment = process.env): ApiSettings {
  const url = env.SLUICE_CONSOLE_URL || DEFAULT_URL;
  if (!isAddress(url)) throw new SluiceError("bad_config", "SLUICE_CONSOLE_URL is no http address");
  const token = env.SLUICE_TOKEN?.trim();
  if (!token) {
    throw new SluiceError(
      "bad_config",
      'SLUICE_TOKEN is missing: a service token, from "sluice token create"',
    );
  }
  // Else fetch would refuse it, in words that hold it.
  if (!TOKEN_SHAPE.test(token)) throw new SluiceError("bad_config", "SLUICE_TOKEN is no service token");
  return { url: url.replace(/\/+$/, ""), token, timeoutMs: DEFAULT_TIMEOUT_MS };
}

/** The same, or null without a token. An empty one is none. @throws SluiceError `bad_config` for an address that is none */
export function readApiSettingsIfAny(env: Environment = process.env): ApiSettings | null {
  return env.SLUICE_TOKEN?.trim() ? readApiSettings(env) : null;
}

/** With a password in it, it could not be called, and would stand in messages. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
