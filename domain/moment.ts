/**
 * A moment as a caller writes it: ISO 8601 with a zone, and one that every database of ours can hold. What passes here goes
 * into statements as it stands, so it must never be a text that PostgreSQL cannot read. Pure.
 */
import { z } from "zod";

/** Ten digits of a fraction are more than anybody's clock has. */
const MAX_MOMENT_CHARS = 40;
/** There is no zone further from UTC; PostgreSQL ends at 15:59. */
const MAX_ZONE_HOURS = 14;
const FIRST_MS = 0;
const LAST_MS = Date.UTC(9999, 11, 31);

/** True for a moment between 1970 and 9999 in a zone that exists. */
export function isUsableMoment(text: string): boolean {
  const ms = Date.parse(text);
  const zone = /[+-](\d\d):?\d\d$/.exec(text)?.[1];
  return ms >= FIRST_MS && ms <= LAST_MS && Number(zone ?? 0) <= MAX_ZONE_HOURS;
}

const RULE = "must be a time between 1970 and 9999 such as 2026-11-30T12:00:00Z";

/** @param error the words of the refusal */
export function moment(error: string = RULE) {
  return z.iso
    .datetime({ offset: true, error })
    .max(MAX_MOMENT_CHARS, error)
    .refine(isUsableMoment, { error });
}
