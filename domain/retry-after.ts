/**
 * Reads the Retry-After header by a strict grammar: seconds, or one of the three HTTP-date forms of RFC 9110.
 * Anything else counts as if it were not there. Never uses Date.parse or Number on the raw text, which turn
 * junk into "now", and never depends on the process time zone. Clamping and jitter are not done here.
 */

export type RetryAfterKind = "seconds" | "date" | "absent" | "invalid" | "past" | "zero" | "negative";

export interface RetryAfterReading {
  readonly kind: RetryAfterKind;
  /** Whole milliseconds from now; null unless kind is `seconds` or `date`. At most Number.MAX_SAFE_INTEGER. */
  readonly delayMs: number | null;
}

/** Every way to read a header, for the database's constraint and the console's words. */
export const RETRY_AFTER_KINDS: readonly RetryAfterKind[] = [
  "seconds",
  "date",
  "absent",
  "invalid",
  "past",
  "zero",
  "negative",
];

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH = `(${MONTHS.join("|")})`;
const SHORT_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";
const TIME = "(\\d{2}):(\\d{2}):(\\d{2})";

// The weekday has to be one, but nobody checks that it is the right one: it carries no information.
const IMF_FIXDATE = new RegExp(`^${SHORT_DAY}, (\\d{2}) ${MONTH} (\\d{4}) ${TIME} GMT$`);
const RFC_850 = new RegExp(`^${LONG_DAY}, (\\d{2})-${MONTH}-(\\d{2}) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} (\\d{2}| \\d) ${TIME} (\\d{4})$`);

const SECONDS = /^(\d+)(?:\.(\d+))?$/;
const NEGATIVE = /^-\d+(?:\.\d+)?$/;
const OUTER_BLANKS = /^[ \t]+|[ \t]+$/g;

/** No date in the header is as long as this; longer text is not matched against the date forms. */
const MAX_DATE_CHARS = 64;
/** 16 digits of seconds are over the largest safe number of milliseconds. */
const MAX_SECONDS_DIGITS = 15;
/** Days of 400 years; the calendar repeats after them. */
const CALENDAR_CYCLE_MS = 146_097 * 86_400_000;
const CALENDAR_CYCLE_YEARS = 400;
/** RFC 9110, 5.6.7: a two-digit year further ahead than this lies in the past. */
const TWO_DIGIT_YEAR_HORIZON = 50;

/**
 * Reads the header against `nowMs` (the database's time, not the receiver's `Date` header).
 * Fractions of a second are rounded up, so that nothing is sent earlier than asked.
 */
export function readRetryAfter(header: string | null, nowMs: number): RetryAfterReading {
  if (header === null) {
    return { kind: "absent", delayMs: null };
  }
  const text = header.replace(OUTER_BLANKS, "");
  const seconds = SECONDS.exec(text);
  if (seconds) {
    return readSeconds(seconds[1] ?? "", seconds[2] ?? "");
  }
  if (NEGATIVE.test(text)) {
    return { kind: "negative", delayMs: null };
  }
  const atMs = text.length <= MAX_DATE_CHARS ? readHttpDate(text, nowMs) : null;
  if (atMs === null) {
    return { kind: "invalid", delayMs: null };
  }
  const delayMs = Math.ceil(atMs - nowMs);
  return delayMs > 0 ? { kind: "date", delayMs } : { kind: "past", delayMs: null };
}

function readSeconds(whole: string, fraction: string): RetryAfterReading {
  const digits = whole.replace(/^0+/, "");
  const hasFraction = /[1-9]/.test(fraction);
  if (digits === "" && !hasFraction) {
    return { kind: "zero", delayMs: null };
  }
  if (digits.length > MAX_SECONDS_DIGITS) {
    return { kind: "seconds", delayMs: Number.MAX_SAFE_INTEGER };
  }
  const seconds = Number(digits) + (hasFraction ? 1 : 0);
  return { kind: "seconds", delayMs: Math.min(seconds * 1000, Number.MAX_SAFE_INTEGER) };
}

/**
 * Milliseconds since 1970 of an HTTP-date in any of its three forms, or null when the text is none.
 * @param nowMs decides the century of a two-digit year
 */
export function readHttpDate(text: string, nowMs: number): number | null {
  const imf = IMF_FIXDATE.exec(text);
  if (imf) {
    const [, day, month, year, ...time] = imf;
    return utcMs(Number(year), monthIndex(month), Number(day), time.map(Number));
  }
  const asctime = ASCTIME.exec(text);
  if (asctime) {
    const [, month, day, hour, minute, second, year] = asctime;
    return utcMs(Number(year), monthIndex(month), Number(day), [hour, minute, second].map(Number));
  }
  const rfc850 = RFC_850.exec(text);
  if (rfc850) {
    const [, day, month, year, ...time] = rfc850;
    return twoDigitYearMs(Number(year), monthIndex(month), Number(day), time.map(Number), nowMs);
  }
  return null;
}

function monthIndex(name: string | undefined): number {
  return MONTHS.indexOf(name ?? "");
}

/** The latest year with these two digits that is at most 50 years ahead, counted to the second. */
function twoDigitYearMs(
  yy: number,
  month: number,
  day: number,
  time: number[],
  nowMs: number,
): number | null {
  const now = new Date(nowMs);
  const horizonYear = now.getUTCFullYear() + TWO_DIGIT_YEAR_HORIZON;
  const horizonMs = new Date(nowMs).setUTCFullYear(horizonYear);
  const century = horizonYear - (horizonYear % 100);
  const later = utcMs(century + yy, month, day, time);
  if (later !== null && later <= horizonMs) {
    return later;
  }
  return utcMs(century - 100 + yy, month, day, time);
}

/** UTC milliseconds, or null when the day or the time does not exist. Second 60 is a leap second: the next one. */
function utcMs(year: number, month: number, day: number, time: number[]): number | null {
  const [hour = 0, minute = 0, second = 0] = time;
  if (hour > 23 || minute > 59 || second > 60 || day < 1 || day > daysInMonth(year, month)) {
    return null;
  }
  // Date.UTC reads years below 100 as 19xx; a year one calendar cycle later has the same days.
  const safeYear = year + CALENDAR_CYCLE_YEARS;
  return Date.UTC(safeYear, month, day, hour, minute, second) - CALENDAR_CYCLE_MS;
}

function daysInMonth(year: number, month: number): number {
  if (month === 1) {
    const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    return leap ? 29 : 28;
  }
  return [3, 5, 8, 10].includes(month) ? 30 : 31;
}
