"use client";
/**
 * Which time zone and clock this browser shows. The server always writes UTC; the choice is read after hydration,
 * so that the first paint is the same on both sides.
 */
import type { Zone } from "./format.ts";
import { setPreference, usePreference } from "./preferences.ts";

/** The zone in force, with the clock that it is told by: UTC until a person chooses otherwise. */
export function useZone(): Zone {
  const zone = usePreference("zone");
  const own = useOwnZone();
  const clock = usePreference("clock");
  if (zone === "local") return own;
  return clock === "12h" ? "utc 12h" : "utc";
}

/** The zone that stands beside UTC: the browser's, or the one that a person named. */
export function useOwnZone(): Zone {
  const own = usePreference("ownZone");
  const clock = usePreference("clock");
  return clock === "12h" ? `${own} 12h` : own;
}

/** Remembers the choice in this browser. "local" is the zone that stands beside UTC. */
export function setZone(zone: "utc" | "local"): void {
  setPreference("zone", zone);
}
