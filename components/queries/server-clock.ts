"use client";
/**
 * How far this computer's clock is from the server's, told from the Date header of the answers. It is only shown: every
 * age and time comes from the database's clock in the answer itself, never from a corrected clock of the browser.
 */
import { useSyncExternalStore } from "react";

/** A smaller difference is not worth a word. */
export const SKEW_LIMIT_MS = 5_000;
/** The header has whole seconds: on average the moment lies in the middle of one. */
const HEADER_STEP_MS = 1_000;

let shownSkewMs = 0;
const listeners = new Set<() => void>();

/**
 * The browser's clock minus the server's in ms, positive when the browser's is ahead; 0 when it is within the limit or
 * cannot be told, because the answer took too long for a verdict.
 * @param date the Date header of an answer
 */
export function measureSkew(date: string | null, sentMs: number, receivedMs: number): number {
  const serverMs = date === null ? Number.NaN : Date.parse(date) + HEADER_STEP_MS / 2;
  if (Number.isNaN(serverMs)) return 0;
  // The answer's head was written at some moment between the two.
  const skewMs = (sentMs + receivedMs) / 2 - serverMs;
  const doubtMs = Math.abs(receivedMs - sentMs) / 2 + HEADER_STEP_MS / 2;
  return Math.abs(skewMs) - doubtMs > SKEW_LIMIT_MS ? Math.round(skewMs) : 0;
}

/** Takes note of one answer. Small changes of a known difference are not passed on: each would draw the page again. */
export function noteServerDate(date: string | null, sentMs: number, receivedMs: number): void {
  if (date === null) return;
  const next = measureSkew(date, sentMs, receivedMs);
  const same = (next === 0) === (shownSkewMs === 0) && Math.abs(next - shownSkewMs) < 2 * HEADER_STEP_MS;
  if (same) return;
  shownSkewMs = next;
  for (const listener of listeners) listener();
}

/** The difference that is worth showing, in ms; 0 for none. */
export function useClockSkewMs(): number {
  return useSyncExternalStore(subscribe, clockSkewMs, () => 0);
}

/** The same, outside of a component. */
export function clockSkewMs(): number {
  return shownSkewMs;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
