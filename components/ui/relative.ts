/** Where a moment lies against another, in words: "in 2 m 5 s", "3 s ago". Both must come from the same clock. */
import { formatAge } from "#domain/queue-age.ts";

/** `asOf` is the database time of the answer. */
export function relativeTo(iso: string, asOf: string): string {
  const distanceMs = Date.parse(iso) - Date.parse(asOf);
  return distanceMs >= 0 ? `in ${formatAge(distanceMs)}` : `${formatAge(-distanceMs)} ago`;
}

/** How long ago `iso` was at `asOf`, in milliseconds, never below 0. */
export function ageAt(iso: string, asOf: string): number {
  return Math.max(0, Date.parse(asOf) - Date.parse(iso));
}
