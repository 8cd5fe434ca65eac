/**
 * How numbers and instants are written. Intl only; the locale is fixed, so that server and browser write the same text.
 * Ages and durations are written by `#domain/queue-age.ts`, never here.
 */

const LOCALE = "en-GB";
const counts = new Intl.NumberFormat(LOCALE);

/** The zones a page can show. Everything is stored and sent in UTC. */
export type Zone = "utc" | "local";

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
  const { hour, minute, second } = parts(iso, zone);
  return `${hour}:${minute}:${second}`;
}

/** "30 Nov 14:03:22" in the given zone. */
export function formatInstant(iso: string, zone: Zone): string {
  const { day, month, hour, minute, second } = parts(iso, zone);
  return `${day} ${month} ${hour}:${minute}:${second}`;
}

/** "30 Nov 2026 14:03:22.120" in the given zone. */
export function formatExact(iso: string, zone: Zone): string {
  const { day, month, year, hour, minute, second } = parts(iso, zone);
  const milliseconds = String(new Date(iso).getUTCMilliseconds()).padStart(3, "0");
  return `${day} ${month} ${year} ${hour}:${minute}:${second}.${milliseconds}`;
}

/** "UTC", or the short name of the browser's zone at that moment ("GMT+5:30"). */
export function zoneName(zone: Zone, iso: string): string {
  return zone === "utc" ? "UTC" : parts(iso, zone).timeZoneName;
}

function parts(iso: string, zone: Zone): Record<string, string> & { timeZoneName: string } {
  const format = new Intl.DateTimeFormat(LOCALE, {
    timeZone: zone === "utc" ? "UTC" : undefined,
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  });
  const named = Object.fromEntries(
    format.formatToParts(new Date(iso)).map((part) => [part.type, part.value]),
  );
  return { timeZoneName: "UTC", ...named };
}
