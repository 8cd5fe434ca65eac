/**
 * What is different between two sets that were put before a second person: words, plan and entries. Pure. Equal values
 * never stand in it, and a value is shown as it was stored.
 */
import { canonicalJson } from "./replay-freeze.ts";

/** What a person reads of a set beside its entries. Names are those of the API. */
export type ReviewFacts = Readonly<Record<string, unknown>>;

export interface FieldChange {
  /** `rootCause`, `plan.stop.dueLagMs`, `lanes.dst_...`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface SetChange {
  readonly added: number;
  readonly removed: number;
  /** At most MAX_NAMED_ENTRIES. */
  readonly addedIds: readonly string[];
  readonly removedIds: readonly string[];
}

export const MAX_NAMED_ENTRIES = 20;
/** Fields of one comparison; a batch of very many destinations may have more. */
export const MAX_FIELD_CHANGES = 200;
/** Members of facts that are looked into; everything below is one value. */
const MAX_DEPTH = 2;

/** The fields that differ, by name. A field that only one side has is null on the other. */
export function diffFacts(before: ReviewFacts, after: ReviewFacts): FieldChange[] {
  const [old, now] = [flat(before), flat(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names
    .map((field) => ({ field, before: old.get(field) ?? null, after: now.get(field) ?? null }))
    .filter((change) => canonicalJson(change.before) !== canonicalJson(change.after))
    .slice(0, MAX_FIELD_CHANGES);
}

/** Which entries came and went. */
export function diffSet(before: readonly string[], after: readonly string[]): SetChange {
  const [old, now] = [new Set(before), new Set(after)];
  const added = after.filter((id) => !old.has(id)).sort();
  const removed = before.filter((id) => !now.has(id)).sort();
  return {
    added: added.length,
    removed: removed.length,
    addedIds: added.slice(0, MAX_NAMED_ENTRIES),
    removedIds: removed.slice(0, MAX_NAMED_ENTRIES),
  };
}

function flat(value: ReviewFacts, prefix = "", depth = 0): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const [name, member] of Object.entries(value)) {
    const field = prefix === "" ? name : `${prefix}.${name}`;
    if (depth < MAX_DEPTH && isRecord(member)) {
      for (const [inner, each] of flat(member, field, depth + 1)) found.set(inner, each);
    } else if (member !== undefined) found.set(field, member);
  }
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
