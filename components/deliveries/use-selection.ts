"use client";
/**
 * Which rows of a page are ticked. A selection belongs to one question: another filter or another page has none, so that
 * nothing that is out of sight is ever acted upon.
 */
import { useState } from "react";

export interface Selection {
  ids: ReadonlySet<string>;
  /** Ticks or clears a row; with `range` also every row of `rows` between it and the one that was pressed last. */
  toggle: (id: string, range: boolean, rows: readonly string[]) => void;
  /** Ticks every one of `rows`, or none when all are. */
  toggleAll: (rows: readonly string[]) => void;
  /** Says whether there was a selection. */
  clear: () => boolean;
}

interface Stored {
  scope: string;
  ids: ReadonlySet<string>;
  /** Where a range begins. */
  last: string | null;
}

const NONE: ReadonlySet<string> = new Set();

/** @param scope the question that the rows answer */
export function useSelection(scope: string): Selection {
  const [stored, setStored] = useState<Stored>({ scope, ids: NONE, last: null });
  const ids = stored.scope === scope ? stored.ids : NONE;
  // Presses can come several in one moment (a range by keys), so each builds on the one before and not on what is drawn.
  const change = (how: (before: Omit<Stored, "scope">) => Omit<Stored, "scope">) =>
    setStored((before) => ({
      scope,
      ...how(before.scope === scope ? before : { ids: NONE, last: null }),
    }));
  return {
    ids,
    toggle: (id, range, rows) =>
      change((before) => ({ ids: toggled(rows, before.ids, id, range ? before.last : null), last: id })),
    toggleAll: (rows) =>
      change((before) => ({
        ids: rows.every((id) => before.ids.has(id)) ? NONE : new Set(rows),
        last: null,
      })),
    clear: () => {
      change(() => ({ ids: NONE, last: null }));
      return ids.size > 0;
    },
  };
}

/** A range takes the state that the pressed row gets. @param from null: the row alone */
export function toggled(
  rows: readonly string[],
  ids: ReadonlySet<string>,
  id: string,
  from: string | null,
): ReadonlySet<string> {
  const on = !ids.has(id);
  const start = from === null ? -1 : rows.indexOf(from);
  const end = rows.indexOf(id);
  const touched =
    start === -1 || end === -1 ? [id] : rows.slice(Math.min(start, end), Math.max(start, end) + 1);
  const next = new Set(ids);
  for (const each of touched) {
    if (on) next.add(each);
    else next.delete(each);
  }
  return next;
}
