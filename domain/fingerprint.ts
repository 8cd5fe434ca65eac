/**
 * The cause of a death as one short text: entries with the same reason, status, destination and normalised message
 * share it, so that hundreds of unreadable bodies and one destination that is down look different. Neither an id nor an
 * amount of a single entry may make a cause of its own, and nothing of the message may be read back from the result.
 */
import { createHash } from "node:crypto";
import type { DeadReason } from "./delivery.ts";

/** Longest part of a message that is looked at. */
export const MAX_MESSAGE_CHARS = 500;
/**
 * Longest part of the normalised message that takes part. Messages are cut by bytes before they come here, so their last
 * words shift with the length of the ids before them.
 */
export const MAX_NORMALISED_CHARS = 120;
/** A longer word is an id, a token or a checksum. */
const LONGEST_WORD_CHARS = 24;
const HASH_CHARS = 16;

const LOOKS_LIKE_JSON = /^\s*[[{]/;
const QUOTED = /"[^"]*"|'[^']*'/g;
/** Quoted inside of a JSON string. */
const QUOTED_INSIDE = /\\"[^"\\]*\\"|'[^']*'/g;

/**
 * Numbers, ids and quoted parts differ between entries of one cause; they are taken out. The strings of a JSON answer are
 * its message, so there only what is quoted inside of them goes.
 */
export function normaliseMessage(message: string): string {
  const text = message.slice(0, MAX_MESSAGE_CHARS).toLowerCase();
  const unquoted = LOOKS_LIKE_JSON.test(text)
    ? text.replace(QUOTED_INSIDE, "#").replaceAll('"', "")
    : text.replace(QUOTED, "#");
  return unquoted
    .replace(/[\w-]+/g, (word) => (/\d/.test(word) || word.length > LONGEST_WORD_CHARS ? "#" : word))
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_NORMALISED_CHARS);
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
