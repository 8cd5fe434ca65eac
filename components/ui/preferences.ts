"use client";
/**
 * What a person chose for this browser: one small value per key, in its own storage. The server never needs them, so the
 * first paint is the same on both sides and the choices follow; density alone changes sizes and is set before the paint by
 * `DENSITY_SCRIPT`. A stored value that means nothing is the default, and a browser that stores nothing keeps the defaults.
 */
import { useSyncExternalStore } from "react";
import { isTimeZone } from "./format.ts";

interface Preference {
  initial: string;
  accepts: (value: string) => boolean;
}

function oneOf(...values: string[]): (value: string) => boolean {
  return (value) => values.includes(value);
}

const PREFERENCES = {
  /** "utc", or "local": the zone that `ownZone` names. */
  zone: { initial: "utc", accepts: oneOf("utc", "local") },
  /** "local" for the browser's own, or an IANA name. */
  ownZone: { initial: "local", accepts: (value) => value === "local" || isTimeZone(value) },
  clock: { initial: "24h", accepts: oneOf("24h", "12h") },
  density: { initial: "regular", accepts: oneOf("regular", "compact") },
  /** Single-key shortcuts. */
  shortcuts: { initial: "on", accepts: oneOf("on", "off") },
  /** "on": new rows always wait to be asked for, nothing pulses, nothing is read aloud by itself. */
  calm: { initial: "off", accepts: oneOf("on", "off") },
  refresh: { initial: "live", accepts: oneOf("live", "5s", "15s", "60s", "off") },
} as const satisfies Record<string, Preference>;

export type PreferenceName = keyof typeof PREFERENCES;

const CHANGE_EVENT = "sluice:preference";

function keyOf(name: PreferenceName): string {
  return `sluice.${name}`;
}

/** The value in force. */
export function readPreference(name: PreferenceName): string {
  const { initial, accepts } = PREFERENCES[name];
  try {
    const stored = window.localStorage.getItem(keyOf(name));
    return stored !== null && accepts(stored) ? stored : initial;
  } catch {
    return initial;
  }
}

/** Follows one preference; the default until the page is alive. */
export function usePreference(name: PreferenceName): string {
  return useSyncExternalStore(
    subscribe,
    () => readPreference(name),
    () => PREFERENCES[name].initial,
  );
}

/** Remembers a choice in this browser, in all of its tabs. */
export function setPreference(name: PreferenceName, value: string): void {
  if (!PREFERENCES[name].accepts(value)) return;
  try {
    window.localStorage.setItem(keyOf(name), value);
  } catch {
    // A browser that stores nothing keeps the default.
  }
  if (name === "density") document.documentElement.dataset.density = value;
  window.dispatchEvent(new Event(CHANGE_EVENT));
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener(CHANGE_EVENT, onChange);
  window.addEventListener("storage", onChange);
  return () => {
    window.removeEventListener(CHANGE_EVENT, onChange);
    window.removeEventListener("storage", onChange);
  };
}
