/**
 * Opaque cursors for keyset paging: the sort key of the last row shown, with the name of the list and order that made it. A
 * cursor says where to go on and nothing else; it is checked for its shape, because it comes back from outside, and no list
 * goes on from another one's place.
 */
import { SluiceError } from "#domain/errors.ts";
import { isUuid } from "#domain/ids.ts";
import { isUsableMoment } from "#domain/moment.ts";

const MAX_CURSOR_CHARS = 200;
/** As the statements write it: what merely looks like a time to JavaScript is none to PostgreSQL. */
const AT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/;

/** Where a list goes on. `at` is the time part of the key, for lists that are not sorted by id alone. */
export interface Position {
  id: string;
  at?: string;
}

/** Text that can stand in a URL. */
export function writeCursor(list: string, position: Position): string {
  return Buffer.from(JSON.stringify({ l: list, ...position })).toString("base64url");
}

/**
 * @throws SluiceError `bad_cursor` when the text was not made by `writeCursor` for this list.
 */
export function readCursor(list: string, text: string): Position {
  const parsed = text.length <= MAX_CURSOR_CHARS ? parse(text) : null;
  if (parsed === null || typeof parsed !== "object") throw badCursor();
  const { l, id, at } = parsed as { l?: unknown; id?: unknown; at?: unknown };
  if (l !== list) throw badCursor();
  if (typeof id !== "string" || !isUuid(id)) throw badCursor();
  if (at === undefined) return { id };
  if (typeof at !== "string" || !AT.test(at) || !isUsableMoment(at)) throw badCursor();
  return { id, at };
}

/**
 * The place in a list that is sorted by time.
 * @throws SluiceError `bad_cursor` also when it has no time
 */
export function readTimedCursor(list: string, text: string): Required<Position> {
  const { id, at } = readCursor(list, text);
  if (at === undefined) throw badCursor();
  return { id, at };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}

function badCursor(): SluiceError {
  return new SluiceError("bad_cursor", "The cursor was not made by this list.");
}
