"use client";
/**
 * The ways out of one page of a list: on, back to the page before, to the top. Where one came from is kept in the tab's own
 * storage and never in the address: a link that somebody else opens has no page before it, and leads to the top.
 */
import { useSyncExternalStore } from "react";
import { type PageStep, readTrail, stepBefore, withStep } from "./page-trail.ts";

export interface PagingOptions {
  /** Tells the lists of a page apart: "deliveries". */
  list: string;
  /** What the API is asked for; `cursor` is the place of this page. */
  filters: Readonly<Record<string, string | null | undefined>>;
  /** Where the next page begins; null: there is none. */
  next: string | null;
  /** True while the rows of another page still stand in: their next page is not this one's. */
  busy: boolean;
  /** Goes to a page; null is the top. */
  go: (cursor: string | null) => void;
}

/** For `ListPanel`. */
export interface Paging {
  onNext: (() => void) | null;
  /** Null at the top, and on a page that nobody walked to. */
  onPrevious: (() => void) | null;
  onFirst: (() => void) | null;
}

export function usePaging({ list, filters: { cursor, ...rest }, next, busy, go }: PagingOptions): Paging {
  const question = JSON.stringify([list, rest]);
  const before = useSyncExternalStore(
    subscribe,
    () => (cursor ? stepBefore(currentTrail(), question, cursor) : undefined),
    () => undefined,
  );
  return {
    onNext:
      next === null
        ? null
        : () => {
            // A second press before the answer: the page that it was meant for is on its way.
            if (busy) return;
            walk({ list: question, cursor: next, before: cursor ?? null });
            go(next);
          },
    onPrevious: before === undefined ? null : () => go(before),
    onFirst: cursor ? () => go(null) : null,
  };
}

const STORED_AS = "sluice.pages";
const listeners = new Set<() => void>();
/** What the storage holds, read once a tab; a browser that stores nothing has it for as long as the page lives. */
let trail: readonly PageStep[] | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function currentTrail(): readonly PageStep[] {
  if (trail === null) trail = readStored();
  return trail;
}

function readStored(): PageStep[] {
  try {
    return readTrail(window.sessionStorage.getItem(STORED_AS));
  } catch {
    return [];
  }
}

function walk(step: PageStep): void {
  trail = withStep(currentTrail(), step);
  try {
    window.sessionStorage.setItem(STORED_AS, JSON.stringify(trail));
  } catch {
    // Then the way back lasts until the page is loaded again.
  }
  for (const listener of listeners) listener();
}
