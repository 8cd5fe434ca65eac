/**
 * The keys that seal signing secrets, read from the environment:
 * `SLUICE_SECRET_KEYS=id:base64[,id:base64...]`, or `SLUICE_SECRET_KEYS_FILE`, the path of a file that holds the same.
 * The first key seals, all of them open: to change keys put a new one in front. No message holds a value.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { SluiceError } from "#domain/errors.ts";
import { createKeyring, type Keyring } from "./secrets.ts";

const SETTING = "SLUICE_SECRET_KEYS";
const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;

/**
 * @throws SluiceError `bad_config` when neither setting is there, the file cannot be read, or a key is not id:base64 of
 *   32 bytes
 */
export function readKeyring(env: Readonly<Record<string, string | undefined>> = process.env): Keyring {
  const text = env[SETTING] || readFile(env[`${SETTING}_FILE`]);
  if (!text) {
    throw new SluiceError(
      "bad_config",
      `${SETTING} is not set: give id:base64, 32 random bytes, to seal signing secrets.`,
    );
  }
  return parseSecretKeys(text);
}

/**
 * @param text `id:base64[,id:base64...]`, spaces and line ends around the parts are ignored; the first is the current one
 * @throws SluiceError `bad_config`
 */
export function parseSecretKeys(text: string): Keyring {
  const entries = text.split(",").map((part): [string, string] => {
    const colon = part.indexOf(":");
    if (colon < 1) throw new SluiceError("bad_config", `${SETTING} is not a list of id:base64.`);
    return [part.slice(0, colon).trim(), part.slice(colon + 1).trim()];
  });
  const keys = Object.fromEntries(entries);
  if (Object.keys(keys).length !== entries.length) {
    throw new SluiceError("bad_config", `${SETTING} names one key id twice.`);
  }
  return createKeyring({ keys, current: entries[0]?.[0] ?? "" });
}

/** A new value for `SLUICE_SECRET_KEYS` with one key. Keep it: without it no stored secret can be opened again. */
export function newSecretKeys(): string {
  return `k${randomBytes(KEY_ID_BYTES).toString("hex")}:${randomBytes(KEY_BYTES).toString("base64")}`;
}

function readFile(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new SluiceError("bad_config", `${SETTING}_FILE cannot be read (${code}).`);
  }
}
