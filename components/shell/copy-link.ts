/**
 * What "copy link" copies: the address as it is, but with a range that stays the same tomorrow. Pure, but for the clipboard.
 */
import { formatExact } from "#components/ui/format.ts";

const MINUTE_MS = 60_000;
const UNITS_MS: Readonly<Record<string, number>> = {
  m: MINUTE_MS,
  h: 60 * MINUTE_MS,
  d: 24 * 60 * MINUTE_MS,
};
const RANGE = /^(\d{1,3})([mhd])$/;
/** Pages whose `range` can be given as `from` and `to` too. The others know only ranges that end now. */
const ABSOLUTE_PAGES: ReadonlySet<string> = new Set(["/deliveries", "/audit"]);

/** Length of "1h" in ms; null for what is no range. */
export function rangeMs(range: string | null): number | null {
  const [, count, unit] = RANGE.exec(range ?? "") ?? [];
  return count === undefined || unit === undefined ? null : Number(count) * (UNITS_MS[unit] ?? 0);
}

/**
 * The address to copy.
 * @param nowMs the server's time, at which a relative range ends
 */
export function absoluteAddress(href: string, nowMs: number): { href: string; note: string } {
  const url = new URL(href);
  const lengthMs = rangeMs(url.searchParams.get("range"));
  if (lengthMs === null || url.searchParams.has("from")) return { href: url.href, note: "" };
  if (!ABSOLUTE_PAGES.has(url.pathname)) {
    return {
      href: url.href,
      note: "Its range stays relative: this page always looks back from the present.",
    };
  }
  const from = new Date(nowMs - lengthMs).toISOString();
  const to = new Date(nowMs).toISOString();
  url.searchParams.delete("range");
  url.searchParams.set("from", from);
  url.searchParams.set("to", to);
  return {
    href: url.href,
    note: `Its range is fixed: ${formatExact(from, "utc").slice(0, -4)} to ${formatExact(to, "utc").slice(0, -4)} UTC.`,
  };
}
