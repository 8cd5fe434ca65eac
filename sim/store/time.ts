/**
 * Time as Postgres counts it: whole microseconds, intervals rounded to them half to even, and the two ways in which
 * the driver hands a moment to JavaScript. The store is compared with the database to the microsecond, so rounding is part of it.
 */
import type { Us } from "#sim/scheduler.ts";

export const MS = 1_000;
export const SECOND = 1_000_000;
export const MINUTE = 60_000_000;
const POSTGRES_EPOCH_SECONDS = 946_684_800;

/** To the nearest whole number, halves to the even one. */
export function rint(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** An interval of this many seconds, in microseconds. */
export function seconds(value: number): number {
  return rint(value * SECOND);
}

/** to_timestamp(ms / 1000). */
export function fromMs(ms: number): Us {
  return rint((ms / 1000 - POSTGRES_EPOCH_SECONDS) * SECOND) + POSTGRES_EPOCH_SECONDS * SECOND;
}

/** A timestamptz column as the driver gives it: a Date, which has no microseconds. */
export function toDateMs(us: Us): number {
  return Math.floor(us / MS);
}

/** (extract(epoch FROM us) * 1000)::float8. */
export function toFloatMs(us: Us): number {
  return us / MS;
}
