/** What is typed to confirm: the name of a region, the end of a delivery's id. Pure. */

/** EU and eu are the same; anything else is another region or a slip. Null when it is right. */
export function typedProblem(typed: string, region: string): string | null {
  const text = typed.trim();
  return text === region || text === region.toUpperCase()
    ? null
    : `Type ${region.toUpperCase()}, the region's name.`;
}

/** As many characters as lists show of the end of an id: what tells ids of one moment apart. */
const TAIL_CHARS = 6;

/** "976f0e" of "dlv_01a22d...976f0e". */
export function tailOf(id: string): string {
  return id.slice(-TAIL_CHARS);
}

/** Null when it is the end of this id. */
export function tailProblem(typed: string, id: string): string | null {
  const tail = tailOf(id);
  return typed.trim().toLowerCase() === tail ? null : `Type ${tail}, the end of the delivery's id.`;
}
