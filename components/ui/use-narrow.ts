"use client";
/** Whether the page is too narrow for a table of many columns, so that a list is drawn as cards. One of the two is drawn. */
import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 639px)";

function subscribe(onChange: () => void): () => void {
  const query = window.matchMedia(NARROW);
  query.addEventListener("change", onChange);
  return () => query.removeEventListener("change", onChange);
}

/** False on the server and in the first paint. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => window.matchMedia(NARROW).matches,
    () => false,
  );
}
