/** The keys with which the console seals a new signing secret; it never opens one. */
import type { Keyring } from "../secrets.ts";
import { readKeyring } from "../secrets-config.ts";

/** @throws SluiceError `bad_config` when this process was given no keys: then secrets are rotated elsewhere */
export function consoleKeyring(): Keyring {
  return readKeyring();
}
