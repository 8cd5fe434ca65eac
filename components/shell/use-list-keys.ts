"use client";
/**
 * The keys of a list: rows by the focus of their links, pages and new rows by what the list registers. A list that uses
 * `ListPanel` has them already. Selecting presses the row's own check box, so that keys can do nothing a pointer cannot.
 */
import { type RefObject, useEffect, useRef } from "react";

export interface ListKeys {
  /** Null or absent: there is no such page. */
  onNext?: (() => void) | null;
  onPrevious?: (() => void) | null;
  /** Shows rows that wait; null when none does. */
  onReload?: (() => void) | null;
  /** Clears the selection; says whether there was one. */
  onEscape?: (() => boolean) | null;
  /** The element around the table, where a page has several. The first table of the page when absent. */
  rows?: RefObject<HTMLElement | null>;
}

type Registered = { readonly current: ListKeys };

/** The lists on the page; the one that came last is asked first. */
const lists: Registered[] = [];

/** Registers a list while it is on the page. */
export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    lists.push(latest);
    return () => {
      lists.splice(lists.indexOf(latest), 1);
    };
  }, []);
}

export type ListAction = "onNext" | "onPrevious" | "onReload";

/** Runs what a list registered; false when no list offers it. */
export function runListAction(action: ListAction): boolean {
  for (const { current } of [...lists].reverse()) {
    const run = current[action];
    if (run) {
      run();
      return true;
    }
  }
  return false;
}

/** Lets the lists clear their selection; true when one had some. */
export function clearSelection(): boolean {
  return [...lists].reverse().some(({ current }) => current.onEscape?.() ?? false);
}

const ROW_LINK = "th a[href], th button, td a[href], td button";

/** Moves the focus to the link of the next or previous row. From outside of the table it goes to the first row. */
export function moveRow(step: 1 | -1): void {
  const links = rowLinks();
  if (links.length === 0) return;
  const row = document.activeElement?.closest("tr") ?? null;
  const at = row === null ? -1 : links.findIndex((link) => link.closest("tr") === row);
  const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + step));
  links[next]?.focus();
  links[next]?.closest("tr")?.scrollIntoView({ block: "nearest" });
}

/** Where a range of selected rows begins. */
let lastSelected: HTMLTableRowElement | null = null;

/** Presses the check box of the row that has the focus, or those from the last pressed one to it. */
export function selectRow(range: boolean): void {
  const row = document.activeElement?.closest("tr") ?? null;
  if (row === null) return;
  const rows = rowLinks().flatMap((link) => link.closest("tr") ?? []);
  const from = range && lastSelected !== null ? rows.indexOf(lastSelected) : -1;
  const to = rows.indexOf(row);
  if (from === -1 || to === -1) boxOf(row)?.click();
  else {
    for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) {
      const box = boxOf(each);
      if (box !== null && !box.checked) box.click();
    }
  }
  lastSelected = row;
}

function boxOf(row: HTMLElement): HTMLInputElement | null {
  return row.querySelector<HTMLInputElement>("input[type=checkbox]:not(:disabled)");
}

/** One link of each row of the list: the first, which is the one that opens it. */
function rowLinks(): HTMLElement[] {
  const rows = tableRoot()?.querySelectorAll<HTMLElement>("tbody tr") ?? [];
  return [...rows].flatMap((row) => row.querySelector<HTMLElement>(ROW_LINK) ?? []);
}

function tableRoot(): Element | null {
  const own = document.activeElement?.closest("main table") ?? null;
  const named = lists.findLast(({ current }) => current.rows?.current)?.current.rows?.current ?? null;
  return own ?? named ?? document.querySelector("main table");
}
