/**
 * What of a JSON body no database of ours can store: NUL, halves of a character, and nesting without end. Every edge that
 * takes a person's words asks here first, so that no statement fails over a text. Pure.
 */

/** No body of the API is nested as deep. */
export const MAX_BODY_DEPTH = 32;

export interface Unstorable {
  /** Where it stands: `/`-separated, empty for the whole. */
  readonly pointer: string;
  readonly detail: string;
}

/** True for a text that PostgreSQL takes as it is. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

/** The first value of a JSON body that cannot be stored; null when all can. Names are the schemas' to check. */
export function findUnstorable(value: unknown, path: readonly string[] = []): Unstorable | null {
  const pointer = path.join("/");
  if (typeof value === "string") {
    return isStorableText(value) ? null : { pointer, detail: "holds a character that cannot be stored" };
  }
  if (typeof value !== "object" || value === null) return null;
  if (path.length >= MAX_BODY_DEPTH) return { pointer: path[0] ?? "", detail: "is nested too deep" };
  for (const [name, member] of Object.entries(value)) {
    const found = findUnstorable(member, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}
