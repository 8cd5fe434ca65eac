"use client";
/**
 * Which time zone this browser shows. The server always writes UTC; the choice is read after hydration,
 * so that the first paint is the same on both sides.
 */
import { useSyncExternalStore } from "react";
import type { Zone } from "./format.ts";

const STORAGE_KEY = "sluice.zone";
const CHANGE_EVENT = "sluice:zone";

function subscribe(onChange: () => void): () => void {
  window.addEventListener(CHANGE_EVENT, onChange);
  window.addEventListener("storage", onChange);
  return () => {
    window.removeEventListener(CHANGE_EVENT, onChange);
    window.removeEventListener("storage", onChange);
  };
}

function readZone(): Zone {
  try {
    return window.localStorage.getItem(STORAGE_KEY) === "local" ? "local" : "utc";
  } catch {
    return "utc";
  }
}

/** The zone in force: UTC until a person chooses the browser's. */
export function useZone(): Zone {
  return useSyncExternalStore(subscribe, readZone, () => "utc");
}

/** Remembers the choice in this browser. */
export function setZone(zone: Zone): void {
  try {
    window.localStorage.setItem(STORAGE_KEY, zone);
  } catch {
    // A browser that stores nothing keeps UTC.
  }
  window.dispatchEvent(new Event(CHANGE_EVENT));
}
