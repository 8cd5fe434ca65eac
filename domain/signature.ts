/**
 * Webhook signatures: Standard Webhooks (`v1,<base64>`), and the plain form `ts.hex(hmac(ts.body))` for
 * receivers that cannot take it. Secrets become KeyObjects once (a cached key costs 6 us per HMAC, raw bytes 39)
 * and are never put in a message. The timestamp is that of this attempt; it is passed in.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { SluiceError } from "./errors.ts";

export const SECRET_PREFIX = "whsec_";
/** Bounds of the Standard Webhooks specification, in bytes. */
export const MIN_SECRET_BYTES = 24;
export const MAX_SECRET_BYTES = 64;
/** Secrets that may be live at once, the current one first: two during a rotation. */
export const MAX_LIVE_SECRETS = 2;
/** How far a timestamp may be from now, either way, unless the receiver says otherwise. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/** Signatures that are looked at in one header; a sender has no reason for more. */
const MAX_SIGNATURES = 16;
const MAX_HEADER_CHARS = 4096;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const UNIX_SECONDS = /^\d{1,12}$/;

/**
 * `whsec_<base64>` (the prefix may be missing) -> a key to sign with. Keep the result: making it is the dear part.
 * @throws SluiceError `bad_secret`; the secret is not in the message
 */
export function prepareSecret(secret: string): KeyObject {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const bytes = Buffer.from(text, "base64");
  // Buffer skips what is not base64, so a damaged secret would sign with a shorter key without a word.
  if (!BASE64.test(text) || bytes.toString("base64").replace(/=+$/, "") !== text.replace(/=+$/, "")) {
    throw new SluiceError("bad_secret", "the secret is not base64");
  }
  if (bytes.length < MIN_SECRET_BYTES || bytes.length > MAX_SECRET_BYTES) {
    throw new SluiceError(
      "bad_secret",
      `the secret has ${bytes.length} bytes, between ${MIN_SECRET_BYTES} and ${MAX_SECRET_BYTES} are allowed`,
    );
  }
  return createSecretKey(bytes);
}

export interface SignInput {
  /** The `webhook-id` header: the delivery's public id. */
  readonly id: string;
  /** The `webhook-timestamp` header: whole seconds since 1970, of this attempt. */
  readonly timestampSeconds: number;
  /** The body bytes exactly as they are sent. */
  readonly body: Uint8Array;
  /** Live secrets, the current one first. */
  readonly secrets: readonly KeyObject[];
}

/**
 * The `webhook-signature` header: one `v1,<base64>` per live secret, separated by a space.
 * @throws SluiceError `bad_secret` without a secret or with too many
 */
export function signWebhook(input: SignInput): string {
  checkSecretCount(input.secrets);
  const head = `${input.id}.${wholeSeconds(input.timestampSeconds)}.`;
  return input.secrets.map((key) => `v1,${hmac(key, head, input.body).toString("base64")}`).join(" ");
}

/**
 * The plain form: `<timestamp>.<hex>`, the HMAC-SHA-256 of `<timestamp>.` and the body. It has room for one
 * signature only, so a rotation needs a moment at which both sides change.
 */
export function signPlain(input: {
  readonly timestampSeconds: number;
  readonly body: Uint8Array;
  readonly secret: KeyObject;
}): string {
  const timestamp = wholeSeconds(input.timestampSeconds);
  return `${timestamp}.${hmac(input.secret, `${timestamp}.`, input.body).toString("hex")}`;
}

export type Verification =
  | { readonly ok: true; readonly timestampSeconds: number }
  | { readonly ok: false; readonly why: "missing" | "bad_timestamp" | "too_old" | "too_new" | "no_match" };

export interface VerifyInput {
  readonly id: string | null | undefined;
  readonly timestamp: string | null | undefined;
  readonly signature: string | null | undefined;
  readonly body: Uint8Array;
  readonly secrets: readonly KeyObject[];
  readonly nowSeconds: number;
  readonly toleranceSeconds?: number;
}

/**
 * Checks a Standard Webhooks request, for receivers. Any live secret may match any `v1` signature; the comparison
 * takes the same time whether it matches or not.
 * @throws SluiceError `bad_secret` when no secret is given: a receiver without one must not accept anything
 */
export function verifyWebhook(input: VerifyInput): Verification {
  checkSecretCount(input.secrets);
  if (!input.id || !input.timestamp || !input.signature) {
    return { ok: false, why: "missing" };
  }
  const checked = checkTimestamp(input.timestamp, input.nowSeconds, input.toleranceSeconds);
  if (!checked.ok) {
    return checked;
  }
  const given = input.signature
    .slice(0, MAX_HEADER_CHARS)
    .split(" ", MAX_SIGNATURES)
    .filter((part) => part.startsWith("v1,"))
    .map((part) => Buffer.from(part.slice("v1,".length), "base64"));
  const head = `${input.id}.${input.timestamp}.`;
  return matches(input.secrets, head, input.body, given) ? checked : { ok: false, why: "no_match" };
}

/** Checks the plain form `<timestamp>.<hex>`. */
export function verifyPlain(input: {
  readonly header: string | null | undefined;
  readonly body: Uint8Array;
  readonly secrets: readonly KeyObject[];
  readonly nowSeconds: number;
  readonly toleranceSeconds?: number;
}): Verification {
  checkSecretCount(input.secrets);
  if (!input.header) {
    return { ok: false, why: "missing" };
  }
  const [timestamp = "", hex = ""] = input.header.slice(0, MAX_HEADER_CHARS).split(".", 2);
  const checked = checkTimestamp(timestamp, input.nowSeconds, input.toleranceSeconds);
  if (!checked.ok) {
    return checked;
  }
  const given = [Buffer.from(hex, "hex")];
  return matches(input.secrets, `${timestamp}.`, input.body, given)
    ? checked
    : { ok: false, why: "no_match" };
}

function hmac(key: KeyObject, head: string, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(head).update(body).digest();
}

function matches(
  secrets: readonly KeyObject[],
  head: string,
  body: Uint8Array,
  given: readonly Buffer[],
): boolean {
  let found = false;
  for (const key of secrets) {
    const expected = hmac(key, head, body);
    for (const candidate of given) {
      // No early return: which secret matched, and where, must not show in the time taken.
      const same = candidate.length === expected.length && timingSafeEqual(candidate, expected);
      found = same || found;
    }
  }
  return found;
}

function checkTimestamp(
  text: string,
  nowSeconds: number,
  toleranceSeconds: number = DEFAULT_TOLERANCE_SECONDS,
): Verification {
  if (!UNIX_SECONDS.test(text)) {
    return { ok: false, why: "bad_timestamp" };
  }
  const timestampSeconds = Number(text);
  if (timestampSeconds < nowSeconds - toleranceSeconds) {
    return { ok: false, why: "too_old" };
  }
  if (timestampSeconds > nowSeconds + toleranceSeconds) {
    return { ok: false, why: "too_new" };
  }
  return { ok: true, timestampSeconds };
}

function checkSecretCount(secrets: readonly KeyObject[]): void {
  if (secrets.length === 0 || secrets.length > MAX_LIVE_SECRETS) {
    throw new SluiceError(
      "bad_secret",
      `${secrets.length} live secrets, between 1 and ${MAX_LIVE_SECRETS} are allowed`,
    );
  }
}

function wholeSeconds(seconds: number): number {
  if (!Number.isSafeInteger(Math.floor(seconds)) || seconds < 0) {
    throw new RangeError(`${seconds} is no time in seconds`);
  }
  return Math.floor(seconds);
}
