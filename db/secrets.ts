/**
 * Signing secrets at rest: sealed with AES-256-GCM under a key of the keyring, whose id stands in the sealed bytes, so
 * that keys can be changed one after the other. Nothing here may put a secret, or a key, into a message or a log.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { SluiceError } from "#domain/errors.ts";
import { SECRET_PREFIX } from "#domain/signature.ts";

/** Keys by id. Printing it shows no key: they are KeyObjects. */
export interface Keyring {
  /** The key that new secrets are sealed with. */
  readonly current: string;
  readonly keys: ReadonlyMap<string, KeyObject>;
}

const CIPHER = "aes-256-gcm";
const FORMAT_VERSION = 1;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SIGNING_SECRET_BYTES = 32;
const MAX_SECRET_TEXT_BYTES = 4096;
const MAX_KEYS = 16;
const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * @param settings.keys id -> base64 of exactly 32 bytes; ids are 1 to 32 letters, digits, dots, dashes, underscores
 * @throws SluiceError `bad_config`; the message names the id, never the value
 */
export function createKeyring(settings: {
  keys: Readonly<Record<string, string>>;
  current: string;
}): Keyring {
  const entries = Object.entries(settings.keys);
  if (entries.length === 0 || entries.length > MAX_KEYS) {
    throw new SluiceError("bad_config", `a keyring holds 1 to ${MAX_KEYS} keys, not ${entries.length}`);
  }
  const keys = new Map(entries.map(([id, text]) => [id, readKey(id, text)]));
  if (!keys.has(settings.current)) {
    throw new SluiceError("bad_config", "the current key is not one of the keyring");
  }
  return { current: settings.current, keys };
}

/**
 * Seals a secret with the current key. Two calls never give the same bytes.
 * Layout: version, length of the key id, key id, 12 bytes IV, 16 bytes tag, ciphertext; all before the tag is authenticated.
 * @throws SluiceError `bad_secret` when the text is empty or longer than 4096 bytes
 */
export function sealSecret(keyring: Keyring, secret: string): Buffer<ArrayBuffer> {
  const plain = Buffer.from(secret, "utf8");
  if (plain.length === 0 || plain.length > MAX_SECRET_TEXT_BYTES) {
    throw new SluiceError("bad_secret", `a secret to be sealed has 1 to ${MAX_SECRET_TEXT_BYTES} bytes`);
  }
  const head = headOf(keyring.current);
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(keyring, keyring.current), iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(head);
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([head, iv, cipher.getAuthTag(), sealed]);
}

/**
 * Opens what `sealSecret` made, with whichever key it names.
 * @throws SluiceError `bad_secret`, `data.why`: `unknown_key` (the key is not in the keyring), `unreadable` (not sealed
 *   by us, changed since, or sealed with another key of the same id)
 */
export function openSecret(keyring: Keyring, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const keyId = sealedKeyId(bytes);
  const key = keyring.keys.get(keyId);
  if (key === undefined) {
    throw new SluiceError("bad_secret", `the secret is sealed with key "${keyId}", which the keyring lacks`, {
      why: "unknown_key",
      keyId,
    });
  }
  const head = headOf(keyId);
  const ivEnd = head.length + IV_BYTES;
  const tagEnd = ivEnd + TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(head.length, ivEnd), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(head);
    decipher.setAuthTag(bytes.subarray(ivEnd, tagEnd));
    return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString("utf8");
  } catch {
    throw unreadable();
  }
}

/**
 * The id of the key that sealed it, to find what is still to be sealed anew.
 * @throws SluiceError `bad_secret` when the bytes were not sealed by us
 */
export function sealedKeyId(sealed: Uint8Array): string {
  const idBytes = sealed[1] ?? 0;
  const shortest = 2 + idBytes + IV_BYTES + TAG_BYTES + 1;
  if (sealed[0] !== FORMAT_VERSION || sealed.length < shortest) throw unreadable();
  const keyId = Buffer.from(sealed.subarray(2, 2 + idBytes)).toString("latin1");
  if (!KEY_ID.test(keyId)) throw unreadable();
  return keyId;
}

/**
 * A new signing secret in the form of Standard Webhooks, `whsec_<base64 of 32 bytes>`.
 * @param random must return n bytes that nobody can guess; default node:crypto's
 */
export function newSigningSecret(random: (n: number) => Uint8Array = randomBytes): string {
  return SECRET_PREFIX + Buffer.from(random(SIGNING_SECRET_BYTES)).toString("base64");
}

function readKey(id: string, text: string): KeyObject {
  if (!KEY_ID.test(id)) {
    throw new SluiceError("bad_config", "a key id is 1 to 32 letters, digits, dots, dashes and underscores");
  }
  const bytes = Buffer.from(text, "base64");
  if (!BASE64.test(text) || bytes.length !== KEY_BYTES) {
    throw new SluiceError("bad_config", `key "${id}" is not base64 of ${KEY_BYTES} bytes`);
  }
  return createSecretKey(bytes);
}

function keyOf(keyring: Keyring, id: string): KeyObject {
  const key = keyring.keys.get(id);
  if (key === undefined) throw new SluiceError("bad_config", `key "${id}" is not in the keyring`);
  return key;
}

function headOf(keyId: string): Buffer {
  return Buffer.concat([Buffer.from([FORMAT_VERSION, keyId.length]), Buffer.from(keyId, "latin1")]);
}

function unreadable(): SluiceError {
  return new SluiceError(
    "bad_secret",
    "the sealed secret cannot be opened: it was changed or sealed with another key",
    {
      why: "unreadable",
    },
  );
}
