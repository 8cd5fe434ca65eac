/** Small words and judgements that tiles, tables and objectives share. Pure. */
import { formatCount } from "#components/ui/format.ts";
import type { Tone } from "#components/ui/status.tsx";
import { NO_DATA } from "#domain/queue-age.ts";

/** Neutral while inside, so that the eye goes to what is not. No data is neither good nor bad. */
export function toneOf(value: number | null, warn: number, limit: number): Tone {
  if (value === null) return "neutral";
  if (value > limit) return "danger";
  return value > warn ? "warn" : "neutral";
}

/** Counts above the limit are known only to be above it: "10,000+". */
export function bounded(count: number, limit: number): string {
  return count > limit ? `${formatCount(limit)}+` : formatCount(count);
}

/** 0.034 -> "3.4 %". A share is never rounded to 0 or to 100 when it is not. */
export function formatShare(share: number | null): string {
  if (share === null) return NO_DATA;
  const percent = share * 100;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (percent < 0.1) return "under 0.1 %";
  if (percent > 99.9) return "over 99.9 %";
  return `${Number(percent.toFixed(1))} %`;
}

/** Keeps "6 m 12 s" and "62 %" on one line. */
export function unbroken(text: string): string {
  return text.replace(/\d+ (?:%|(?:[dhms]|ms)(?: \d+ [hms])?\b)/g, (part) => part.replaceAll(" ", "\u00a0"));
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
