/**
 * What a replay batch says of itself in texts that are stored: why it paused, which lane stopped. Moments in them are UTC ISO
 * instants and destinations public ids, so that files, hooks and other programs can use them; a page takes the text apart
 * and writes both as its reader has them. Pure. It must never take apart what a person wrote into something else than was
 * written: the parts, one after the other, are the text.
 */
import { type ReplayCounts, releasedCount, totalCount } from "./replay.ts";
import { type ConditionState, describeBreaches } from "./replay-stop.ts";

/** Longest stored cause, in characters. */
const MAX_CAUSE_CHARS = 500;

/** `429 share 14 % (5 of 36) > 10 % at 2026-12-01T14:06:10.000Z, 31 of 500 released`. */
export function pauseCause(states: readonly ConditionState[], atMs: number, counts: ReplayCounts): string {
  const at = new Date(atMs).toISOString();
  const sent = `${releasedCount(counts)} of ${totalCount(counts)} released`;
  return `${describeBreaches(states)} at ${at}, ${sent}`.slice(0, MAX_CAUSE_CHARS);
}

/** The cause of the pause that was one too many. */
export function lastPauseCause(pauses: number, cause: string): string {
  return `automatic pause ${pauses}: ${cause}`.slice(0, MAX_CAUSE_CHARS);
}

/** What happened to one lane. @param destination `dst_...` */
export function laneDetail(destination: string, words: string): string {
  return words === "" ? destination : `${destination}: ${words}`;
}

export type WordPart =
  | { readonly kind: "text"; readonly text: string }
  /** UTC, ISO 8601. */
  | { readonly kind: "time"; readonly text: string }
  /** `dst_...` */
  | { readonly kind: "destination"; readonly text: string }
  /** Who wrote what follows, at the beginning only: `user:ann@example.com`. */
  | { readonly kind: "actor"; readonly text: string };

const PARTS =
  /(?<actor>^(?:user|token|cli|worker):[^\s:]{1,200}(?=: ))|(?<time>\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z\b)|(?<destination>\bdst_[0-9a-f]{32}\b)/g;

/** The parts of a stored text, in their order. Joined they are the text. */
export function wordParts(text: string): WordPart[] {
  const parts: WordPart[] = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(PARTS)) {
    if (index > end) parts.push({ kind: "text", text: text.slice(end, index) });
    parts.push({ kind: kindOf(groups ?? {}, found), text: found });
    end = index + found.length;
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

function kindOf(groups: Readonly<Record<string, string | undefined>>, found: string): WordPart["kind"] {
  if (groups.actor !== undefined) return "actor";
  if (groups.destination !== undefined) return "destination";
  // "2026-99-99T..." looks like a moment and is none.
  return Number.isNaN(Date.parse(found)) ? "text" : "time";
}
