/** Where the API is and as whom the command line calls it, from the environment. No message of it may hold the token. */
import { SluiceError } from "#domain/errors.ts";

const DEFAULT_URL = "http://127.0.0.1:3000";
const DEFAULT_TIMEOUT_MS = 15_000;

export interface ApiSettings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly timeoutMs: number;
}

/** @throws SluiceError `bad_config` without a token, or for an address that is none */
export function readApiSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ApiSettings {
  const url = env.SLUICE_CONSOLE_URL || DEFAULT_URL;
  if (!URL.canParse(url)) throw new SluiceError("bad_config", "SLUICE_CONSOLE_URL is no address");
  const token = env.SLUICE_TOKEN;
  if (!token) {
    throw new SluiceError(
      "bad_config",
      'SLUICE_TOKEN is missing: a service token, from "sluice token create"',
    );
  }
  return { url: url.replace(/\/+$/, ""), token, timeoutMs: DEFAULT_TIMEOUT_MS };
}
