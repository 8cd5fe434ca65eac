"use client";
/**
 * Keeps the rows of a polled table where they are while a person points at them, has the focus among them, or has
 * selected or opened one (`pinned`).
 * Values of shown rows go on changing; new rows and a new order wait until they are asked for or the person leaves.
 */
import { type FocusEvent, useState } from "react";
import { usePreference } from "./preferences.ts";

export interface SettledRows<T> {
  rows: T[];
  /** New rows that wait. */
  added: number;
  /** True when rows wait or would change places. */
  waiting: boolean;
  /** Shows what waits, and holds that. */
  release: () => void;
  /** Goes on an element around the table and its heading. */
  hold: {
    onPointerEnter: () => void;
    onPointerLeave: () => void;
    onFocus: () => void;
    onBlur: (event: FocusEvent) => void;
  };
}

interface Frozen<T> {
  scope: string;
  rows: readonly T[];
}

/**
 * @param keyOf stable and unique
 * @param scope what the rows answer; another question is never held back by the rows of the one before
 * @param pinned holds the rows whatever the pointer and the focus do
 */
export function useSettledRows<T>(
  latest: readonly T[],
  keyOf: (row: T) => string,
  scope: string,
  pinned = false,
): SettledRows<T> {
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const [stored, setStored] = useState<Frozen<T> | null>(null);
  // A person may want it so everywhere and always.
  const calm = usePreference("calm") === "on";
  const held = pointed || focused || pinned || calm;
  const fits = stored !== null && stored.scope === scope && stored.rows.length > 0;
  // Rows are kept from the moment in which there are some: a pointer that came first must not keep the table empty.
  if (held && !fits && latest.length > 0) setStored({ scope, rows: latest });
  if (!held && stored !== null) setStored(null);
  const rows = held && fits ? merge(stored.rows, latest, keyOf) : [...latest];
  const added = countAdded(rows, latest, keyOf);
  return {
    rows,
    added,
    waiting: added > 0 || isMoved(rows, latest, keyOf),
    release: () => setStored({ scope, rows: latest }),
    hold: {
      onPointerEnter: () => setPointed(true),
      onPointerLeave: () => setPointed(false),
      onFocus: () => setFocused(true),
      onBlur: (event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setFocused(false);
      },
    },
  };
}

function merge<T>(frozen: readonly T[], latest: readonly T[], keyOf: (row: T) => string): T[] {
  const byKey = new Map(latest.map((row) => [keyOf(row), row]));
  return frozen.map((row) => byKey.get(keyOf(row)) ?? row);
}

function countAdded<T>(rows: readonly T[], latest: readonly T[], keyOf: (row: T) => string): number {
  const shown = new Set(rows.map(keyOf));
  return latest.filter((row) => !shown.has(keyOf(row))).length;
}

function isMoved<T>(rows: readonly T[], latest: readonly T[], keyOf: (row: T) => string): boolean {
  return (
    rows.length !== latest.length ||
    latest.some((row, index) => {
      const shown = rows[index];
      return shown === undefined || keyOf(shown) !== keyOf(row);
    })
  );
}
