/**
 * The cause of a death as one short text: entries with the same reason, status, destination and normalised message
 * share it, so that hundreds of unreadable bodies and one destination that is down look different.
 */
import { createHash } from "node:crypto";
import type { DeadReason } from "./delivery.ts";

/** Longest part of a message that takes part. */
export const MAX_MESSAGE_CHARS = 500;
const HASH_CHARS = 16;

/** Numbers, ids and quoted parts differ between entries of one cause; they are taken out. */
export function normaliseMessage(message: string): string {
  return message
    .slice(0, MAX_MESSAGE_CHARS)
    .toLowerCase()
    .replace(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g, "#")
    .replace(/"[^"]*"|'[^']*'/g, "#")
    .replace(/\d+/g, "#")
    .replace(/\s+/g, " ")
    .trim();
}

/** `<reason>:<status or ->:<hash of destination and message>`, at most 64 characters. */
export function fingerprintOf(cause: {
  readonly reason: DeadReason;
  readonly status: number | null;
  readonly destinationId: string;
  /** Free text of the last outcome, such as an error code or the start of an answer; "" when there is none. */
  readonly message: string;
}): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([cause.destinationId, normaliseMessage(cause.message)]))
    .digest("hex")
    .slice(0, HASH_CHARS);
  return `${cause.reason}:${cause.status ?? "-"}:${hash}`;
}
