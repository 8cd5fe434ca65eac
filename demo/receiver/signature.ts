/**
 * Checks a signature as a customer would, from the public Standard Webhooks text and node:crypto alone.
 * Must not use the sender's own signing code: a mistake there has to be seen here.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { KnownSecret, SignatureResult } from "./types.ts";

const TOLERANCE_MS = 300_000;
const MAX_SIGNATURES = 8;
const MAX_CACHED_KEYS = 20_000;
const SECRET_PREFIX = "whsec_";

// An HMAC with a Buffer key costs several times one with a KeyObject.
const cachedKeys = new Map<string, KeyObject>();

function keyOf(secret: string): KeyObject {
  const known = cachedKeys.get(secret);
  if (known !== undefined) return known;
  // Standard Webhooks: base64, with or without its prefix.
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  const bytes = Buffer.from(text, "base64");
  const key = createSecretKey(bytes);
  if (cachedKeys.size >= MAX_CACHED_KEYS) cachedKeys.clear();
  cachedKeys.set(secret, key);
  return key;
}

function equal(expected: Buffer, given: Buffer): boolean {
  return expected.length === given.length && timingSafeEqual(expected, given);
}

function matches(
  secrets: readonly string[],
  prefix: string,
  body: Buffer,
  given: readonly Buffer[],
): boolean {
  return secrets.some((secret) => {
    const expected = createHmac("sha256", keyOf(secret)).update(prefix).update(body).digest();
    return given.some((signature) => equal(expected, signature));
  });
}

function isStale(timestamp: string, nowMs: number): boolean {
  return !/^\d{1,12}$/.test(timestamp) || Math.abs(Number(timestamp) * 1000 - nowMs) > TOLERANCE_MS;
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The header that carries the signature in the destination's form, as sent. */
export function signatureHeaderOf(
  known: KnownSecret | undefined,
  headers: IncomingHttpHeaders,
): string | undefined {
  return one(headers[known?.header?.toLowerCase() ?? "webhook-signature"]);
}

/**
 * Checks the request against every live secret of its destination.
 * @param nowMs milliseconds since 1970; a timestamp further away than 5 minutes is `stale` whatever its signature.
 */
export function checkSignature(
  known: KnownSecret,
  headers: IncomingHttpHeaders,
  body: Buffer,
  nowMs: number,
): SignatureResult {
  const header = signatureHeaderOf(known, headers);
  if (header === undefined) return "absent";
  if (known.header !== undefined) {
    const dot = header.indexOf(".");
    const timestamp = header.slice(0, Math.max(dot, 0));
    const given = Buffer.from(header.slice(dot + 1), "hex");
    if (!matches(known.secrets, `${timestamp}.`, body, [given])) return "invalid";
    return isStale(timestamp, nowMs) ? "stale" : "valid";
  }
  const id = one(headers["webhook-id"]);
  const timestamp = one(headers["webhook-timestamp"]);
  if (id === undefined || timestamp === undefined) return "absent";
  const given = header
    .split(" ", MAX_SIGNATURES)
    .filter((part) => part.startsWith("v1,"))
    .map((part) => Buffer.from(part.slice(3), "base64"));
  if (!matches(known.secrets, `${id}.${timestamp}.`, body, given)) return "invalid";
  return isStale(timestamp, nowMs) ? "stale" : "valid";
}
