/**
 * Where a rehearsal finds the console, the demo's receiver, its two people and the folder of its results, from the environment.
 * The only file of this folder that looks at it. No message of it may hold a token or a password.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { readReceiverUrl } from "#demo/config.ts";
import { SluiceError } from "#domain/errors.ts";
import { ROOT } from "../config.ts";

const DEFAULT_CONSOLE_PORT = "3000";
const DEFAULT_RECEIVER_PORT = "4400";
/** Demo accounts: who writes the batch (and makes its scene), and who is the second person. */
const AUTHOR = "admin@sluice.demo";
const REVIEWER = "operator@sluice.demo";

/** How a person proves who they are. */
export type Credential = { readonly token: string } | { readonly email: string; readonly password: string };

export interface RehearseSettings {
  /** Without a slash at its end. */
  readonly consoleUrl: string;
  readonly receiverUrl: string;
  /** Results are written below `rehearsals` in it. */
  readonly dataDir: string;
  readonly author: Credential;
  readonly reviewer: Credential;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Two service tokens when they are given, else two of the demo's accounts.
 * @throws SluiceError `bad_config` for one token only, and when there is neither
 */
export function readRehearseSettings(env: Environment = process.env): RehearseSettings {
  const consoleUrl =
    env.SLUICE_CONSOLE_URL || `http://127.0.0.1:${env.SLUICE_CONSOLE_PORT || DEFAULT_CONSOLE_PORT}`;
  if (!URL.canParse(consoleUrl)) throw new SluiceError("bad_config", "SLUICE_CONSOLE_URL is no address");
  const receiverPort = env.SLUICE_RECEIVER_PORT || DEFAULT_RECEIVER_PORT;
  const dataDir = path.resolve(ROOT, env.SLUICE_DATA_DIR || ".sluice");
  return {
    consoleUrl: consoleUrl.replace(/\/+$/, ""),
    receiverUrl: readReceiverUrl({ SLUICE_RECEIVER_URL: `http://127.0.0.1:${receiverPort}`, ...env }),
    dataDir,
    ...readPeople(env, path.join(dataDir, "demo-accounts.txt")),
  };
}

function readPeople(env: Environment, file: string): { author: Credential; reviewer: Credential } {
  const author = env.SLUICE_TOKEN;
  const reviewer = env.SLUICE_REVIEWER_TOKEN;
  if (author && reviewer) return { author: { token: author }, reviewer: { token: reviewer } };
  if (author || reviewer) {
    const missing = author ? "SLUICE_REVIEWER_TOKEN" : "SLUICE_TOKEN";
    throw new SluiceError("bad_config", `${missing} is missing: a rehearsal needs two people`);
  }
  if (!existsSync(file)) {
    throw new SluiceError(
      "bad_config",
      "there are no demo accounts here: set SLUICE_TOKEN (author) and SLUICE_REVIEWER_TOKEN (second person)",
    );
  }
  const lines = readFileSync(file, "utf8").split("\n");
  return { author: accountOf(lines, AUTHOR), reviewer: accountOf(lines, REVIEWER) };
}

/** A line of the file: e-mail, password, what it may. @throws SluiceError `bad_config` */
function accountOf(lines: readonly string[], email: string): Credential {
  const password = lines.map((line) => line.split(/\s+/)).find(([name]) => name === email)?.[1];
  if (!password) throw new SluiceError("bad_config", `the demo's accounts have no ${email}`);
  return { email, password };
}
