/**
 * The causes of dead letters as people work on them: which states a cause can be in, and when a resolved one counts as
 * regressed. Pure, and small: browsers read it too, so no schema may come in here.
 */

export const GROUP_STATES = ["new", "acknowledged", "replaying", "resolved", "regressed"] as const;
export type GroupState = (typeof GROUP_STATES)[number];

/** An entry that dies within this time after its cause was called resolved says that it was not. */
export const REGRESSION_MS = 24 * 60 * 60 * 1_000;
export const NOTE_MAX_CHARS = 2_000;
/** Entries that one transaction marks; a cause with more needs several. */
export const MAX_MARKED_ROWS = 500;

export interface GroupFacts {
  /** What a person or the end of a replay batch wrote last. */
  readonly stored: GroupState;
  /** Milliseconds since 1970; null unless `stored` is resolved. */
  readonly resolvedMs: number | null;
  /** When the first entry after `resolvedMs` died; null when there is none. */
  readonly firstAfterMs: number | null;
  /** An open batch, from its freeze on, holds entries of it. */
  readonly isReplaying: boolean;
}

/**
 * The state that is shown. Nothing writes "replaying" or "regressed" or takes them away: they follow from the batches and
 * from the entries, so that no worker has to look at groups while it records a failure. An entry that comes later than a
 * day after is a new cause of its own.
 */
export function groupStateOf({ stored, resolvedMs, firstAfterMs, isReplaying }: GroupFacts): GroupState {
  if (isReplaying) return "replaying";
  if (stored !== "resolved" || resolvedMs === null || firstAfterMs === null) return stored;
  return firstAfterMs - resolvedMs <= REGRESSION_MS ? "regressed" : "new";
}
