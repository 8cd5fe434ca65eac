/**
 * How numbers and instants are written. Intl only; the locale is fixed, so that server and browser write the same text.
 * Ages and durations are written by `#domain/queue-age.ts`, never here.
 */

const LOCALE = "en-GB";
const counts = new Intl.NumberFormat(LOCALE);

/**
 * How a page tells moments: "utc", "local" (the browser's zone) or an IANA zone such as "Asia/Kolkata"; " 12h" after it asks
 * for the 12-hour clock. Everything is stored and sent in UTC.
 */
export type Zone = string;

/** 12345 -> "12,345". */
export function formatCount(value: number): string {
  return counts.format(value);
}

/** 12345 bytes -> "12.1 KiB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${formatCount(bytes)} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)} MiB`;
}

/** 3 -> "3 tenants", 1 -> "1 tenant". */
export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** "14:03:22" in the given zone. */
export function formatClock(iso: string, zone: Zone): string {
  const { hour, minute, second, dayPeriod } = parts(iso, zone);
  return `${hour}:${minute}:${second}${half(dayPeriod)}`;
}

/** "14:03" in the given zone, for places without room for the seconds. */
export function formatMinute(iso: string, zone: Zone): string {
  const { hour, minute, dayPeriod } = parts(iso, zone);
  return `${hour}:${minute}${half(dayPeriod)}`;
}

/** "30 Nov 14:03:22" in the given zone. */
export function formatInstant(iso: string, zone: Zone): string {
  const { day, month } = parts(iso, zone);
  return `${day} ${month} ${formatClock(iso, zone)}`;
}

/** "30 Nov 2026 14:03:22.120" in the given zone. */
export function formatExact(iso: string, zone: Zone): string {
  const { day, month, year, hour, minute, second, dayPeriod } = parts(iso, zone);
  const milliseconds = String(new Date(iso).getUTCMilliseconds()).padStart(3, "0");
  return `${day} ${month} ${year} ${hour}:${minute}:${second}.${milliseconds}${half(dayPeriod)}`;
}

/** "UTC", or the short name of the zone at that moment ("GMT+5:30"). */
export function zoneName(zone: Zone, iso: string): string {
  return nameOf(zone) === "utc" ? "UTC" : parts(iso, zone).timeZoneName;
}

/** True for the clock times that a zone has twice, in the night in which its clocks go back. */
export function isRepeated(iso: string, zone: Zone): boolean {
  if (nameOf(zone) === "utc") return false;
  const clock = formatInstant(iso, zone);
  const ms = Date.parse(iso);
  return REPEAT_STEPS_MS.some((step) => formatInstant(new Date(ms + step).toISOString(), zone) === clock);
}

/** True when this browser knows an IANA zone of that name. */
export function isTimeZone(name: string): boolean {
  try {
    return (
      name !== "" && new Intl.DateTimeFormat(LOCALE, { timeZone: name }).resolvedOptions().timeZone !== ""
    );
  } catch {
    return false;
  }
}

const HOUR_MS = 60 * 60 * 1_000;
/** Clocks go back by an hour, on Lord Howe Island by half of one. */
const REPEAT_STEPS_MS = [-HOUR_MS, -HOUR_MS / 2, HOUR_MS / 2, HOUR_MS];
const MAX_FORMATS = 50;
/** Making a format costs more than ten uses of it, and a table of moments needs hundreds. */
const formats = new Map<Zone, Intl.DateTimeFormat>();

function nameOf(zone: Zone): string {
  return zone.split(" ", 1)[0] ?? zone;
}

function half(dayPeriod: string | undefined): string {
  return dayPeriod === undefined ? "" : ` ${dayPeriod}`;
}

function formatOf(zone: Zone): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const name = nameOf(zone);
  const format = new Intl.DateTimeFormat(LOCALE, {
    timeZone: name === "utc" ? "UTC" : name === "local" ? undefined : name,
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: zone.endsWith(" 12h") ? "h12" : "h23",
    timeZoneName: "short",
  });
  if (formats.size >= MAX_FORMATS) formats.clear();
  formats.set(zone, format);
  return format;
}

function parts(iso: string, zone: Zone): Record<string, string> & { timeZoneName: string } {
  const named = Object.fromEntries(
    formatOf(zone)
      .formatToParts(new Date(iso))
      .map((part) => [part.type, part.value]),
  );
  return { timeZoneName: "UTC", ...named };
}
