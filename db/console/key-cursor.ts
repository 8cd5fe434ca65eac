/**
 * Opaque cursors of lists whose place is more than an id and a time: the sort key of the last row shown, with the name of
 * the list that made it. It comes back from outside, so it is checked for its shape; it says where to go on and nothing
 * else: what it names is never read without the scope.
 */
import { SluiceError } from "#domain/errors.ts";

const MAX_CURSOR_CHARS = 300;

/** Sort keys and sample times: short texts, numbers or nothing. */
export type Key = Readonly<Record<string, string | number | null>>;

/** Text that can stand in a URL. */
export function writeKey(list: string, key: Key): string {
  return Buffer.from(JSON.stringify({ l: list, ...key })).toString("base64url");
}

/**
 * @param fields the members that must be there, each with the test of its value
 * @throws SluiceError `bad_cursor` when the text was not made by this list.
 */
export function readKey<Fields extends Readonly<Record<string, (value: unknown) => boolean>>>(
  list: string,
  text: string,
  fields: Fields,
): Readonly<Record<keyof Fields, unknown>> {
  const parsed = text.length <= MAX_CURSOR_CHARS ? parse(text) : null;
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) throw badCursor();
  const key = parsed as Record<string, unknown>;
  const names = Object.keys(fields);
  if (key.l !== list || Object.keys(key).length !== names.length + 1) throw badCursor();
  if (!names.every((name) => Object.hasOwn(key, name) && fields[name]?.(key[name]))) throw badCursor();
  return key as Record<keyof Fields, unknown>;
}

export function badCursor(): SluiceError {
  return new SluiceError("bad_cursor", "The cursor was not made by this list.");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}
