/**
 * Idempotency keys. A key comes from business facts, so that the same fact gives the same key in every process,
 * on every attempt and in every later run. Never feed it an attempt number, a run id or the clock.
 */
import { createHash } from "node:crypto";
import { SluiceError } from "./errors.ts";

/** Longest key that is stored and sent, in characters. */
export const MAX_KEY_CHARS = 255;

const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

export interface KeyFacts {
  /** What happened, e.g. `hold.released`. */
  readonly event: string;
  /** To which business entity. */
  readonly entityId: string;
  /** Which version of it, e.g. the expiry that was reached. */
  readonly version: string;
}

/**
 * SHA-256 (64 hex digits) over the JSON array `[event, entityId, version]` in UTF-8. JSON quotes and escapes, so
 * no two different triples share an encoding, as they would with a plain separator. Half a character has no UTF-8: here
 * JSON would escape it, another program may replace it, and then two facts share a key or one fact has two.
 * @throws SluiceError `bad_fact` when a fact is not text, is empty or holds half a character
 */
export function keyFromFacts(facts: KeyFacts): string {
  const parts = [facts.event, facts.entityId, facts.version];
  const names = ["event", "entityId", "version"];
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "string" || part === "") {
      throw new SluiceError("bad_fact", `${names[index]} must be text that is not empty`);
    }
    if (!part.isWellFormed()) throw new SluiceError("bad_fact", `${names[index]} holds half a character`);
  }
  return createHash("sha256").update(JSON.stringify(parts), "utf8").digest("hex");
}

/**
 * Checks that a key can stand in a header byte for byte: 1 to 255 visible ASCII characters, no space.
 * @returns the key unchanged
 * @throws SluiceError `bad_key`
 */
export function validateKey(key: string): string {
  if (typeof key !== "string" || key === "") {
    throw new SluiceError("bad_key", "the key is empty");
  }
  if (key.length > MAX_KEY_CHARS) {
    throw new SluiceError(
      "bad_key",
      `the key has ${key.length} characters, at most ${MAX_KEY_CHARS} are allowed`,
    );
  }
  if (!VISIBLE_ASCII.test(key)) {
    throw new SluiceError("bad_key", "the key holds a space, a control character or something outside ASCII");
  }
  return key;
}
