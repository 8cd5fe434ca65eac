/**
 * Moments as a date field has them: a wall clock time without a zone, read and written in the zone that the page shows. Pure.
 * A field must never be read in another zone than the one that its label names.
 */
import type { Zone } from "./format.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const TYPED = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
const TYPED_CHARS = "2026-11-30T15:00".length;

/** `2026-11-30T15:00` in a zone as milliseconds since 1970, or null. Of a time that a night has twice it is one of both. */
export function fromWallClock(text: string, zone: Zone): number | null {
  const asUtcMs = TYPED.test(text) ? Date.parse(`${text}Z`) : Number.NaN;
  if (Number.isNaN(asUtcMs)) return null;
  // The offset near it, and then at the moment that this gives: they differ when the clocks change between both.
  const nearMs = asUtcMs - offsetMs(asUtcMs, zone);
  return asUtcMs - offsetMs(nearMs, zone);
}

/** A moment as the date field wants it, to the minute, rounded up so that a filled-in end is never before the real one. */
export function toWallClock(iso: string, zone: Zone): string {
  const roundedMs = Math.ceil(Date.parse(iso) / MINUTE_MS) * MINUTE_MS;
  return new Date(roundedMs + offsetMs(roundedMs, zone)).toISOString().slice(0, TYPED_CHARS);
}

/** How far the clocks of a zone are ahead of UTC at a moment. */
function offsetMs(atMs: number, zone: Zone): number {
  const [name] = zone.split(" ", 1);
  if (name === "utc") return 0;
  const wholeMs = Math.floor(atMs / SECOND_MS) * SECOND_MS;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: name === "local" ? undefined : name,
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
    hourCycle: "h23",
  });
  const parts = Object.fromEntries(
    format.formatToParts(wholeMs).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
}
