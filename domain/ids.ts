/**
 * Identifiers: UUIDv7 in the database, `dlv_` plus 32 hex digits at every edge.
 * Pure: the time and the random bytes are passed in. Must run in a browser too, so nothing of Node here.
 * No code path may mint a second id for a delivery that exists.
 */
import { SluiceError } from "./errors.ts";

/** Prefixes of public ids: delivery, destination, tenant, attempt, payload, replay batch, audit row, user, service token, group of dead letters, grant, saved view. */
export const PUBLIC_ID_PREFIXES = [
  "dlv",
  "dst",
  "ten",
  "att",
  "pay",
  "rpl",
  "aud",
  "usr",
  "tok",
  "dlg",
  "grt",
  "viw",
] as const;

export type PublicIdPrefix = (typeof PUBLIC_ID_PREFIXES)[number];

const MAX_UUID_TIME_MS = 2 ** 48 - 1;
const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SHOWN_TEXT_CHARS = 60;

/** True for a UUID of any version in the form Postgres prints: lower case with dashes. */
export function isUuid(text: string): boolean {
  return UUID_SHAPE.test(text);
}

/**
 * Makes a UUIDv7. Ids of the same millisecond are not ordered among themselves.
 * @param nowMs milliseconds since 1970, 0 to 2^48 - 1; a fraction is dropped
 * @param randomBytes must return n bytes that nobody can guess (node:crypto in the product)
 * @throws RangeError when the time cannot stand in an id
 */
export function uuidV7(nowMs: number, randomBytes: (n: number) => Uint8Array): string {
  const bytes = new Uint8Array(16);
  bytes.set(randomBytes(10).subarray(0, 10), 6);
  writeTime(bytes, nowMs);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return formatUuid(bytes);
}

/**
 * The lowest UUIDv7 of a millisecond: a partition bound and a lower bound for pruning. Every UUIDv7 made at
 * `ms` or later sorts at or after it, every one made earlier sorts before it.
 * @throws RangeError when the time cannot stand in an id
 */
export function uuidV7Floor(ms: number): string {
  const bytes = new Uint8Array(16);
  writeTime(bytes, ms);
  bytes[6] = 0x70;
  bytes[8] = 0x80;
  return formatUuid(bytes);
}

/**
 * The millisecond at which a UUIDv7 was made.
 * @throws SluiceError `bad_id` when the text is no UUIDv7
 */
export function uuidV7TimeMs(uuid: string): number {
  if (!isUuid(uuid) || uuid[14] !== "7") {
    throw badId("a UUID of version 7", uuid);
  }
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/**
 * `dlv` and a UUID -> `dlv_` + 32 hex digits.
 * @throws SluiceError `bad_id` when `uuid` is no UUID
 */
export function toPublicId(prefix: PublicIdPrefix, uuid: string): string {
  const lower = uuid.toLowerCase();
  if (!isUuid(lower)) {
    throw badId("a UUID", uuid);
  }
  return `${prefix}_${lower.replaceAll("-", "")}`;
}

/**
 * `dlv_` + 32 hex digits -> the UUID as Postgres prints it. One id has one text: upper case, dashes and
 * another prefix are refused.
 * @throws SluiceError `bad_id`
 */
export function fromPublicId(prefix: PublicIdPrefix, text: string): string {
  const hex = text.slice(prefix.length + 1);
  if (!text.startsWith(`${prefix}_`) || !/^[0-9a-f]{32}$/.test(hex)) {
    throw badId(`${prefix}_ and 32 hex digits`, text);
  }
  return dashed(hex);
}

function writeTime(bytes: Uint8Array, ms: number): void {
  const whole = Math.floor(ms);
  if (!(whole >= 0 && whole <= MAX_UUID_TIME_MS)) {
    throw new RangeError(`a UUIDv7 cannot hold the time ${ms} ms`);
  }
  // Six bytes, most significant first. Division, because bit operators would cut the number to 32 bits.
  let rest = whole;
  for (let index = 5; index >= 0; index -= 1) {
    bytes[index] = rest % 256;
    rest = Math.floor(rest / 256);
  }
}

function formatUuid(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) {
    hex += byte.toString(16).padStart(2, "0");
  }
  return dashed(hex);
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function badId(expected: string, text: string): SluiceError {
  return new SluiceError("bad_id", `expected ${expected}, got "${text.slice(0, SHOWN_TEXT_CHARS)}"`);
}
