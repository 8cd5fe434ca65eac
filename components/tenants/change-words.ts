/** What a change of the audit changed, in one line: "concurrency limit 5 → 3". The whole of it is on the audit page. Pure. */
import { formatInstant, type Zone, zoneName } from "#components/ui/format.ts";

const MAX_SHOWN = 4;
const MAX_VALUE_CHARS = 60;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

type Facts = Readonly<Record<string, unknown>> | null;

/** Members that differ, in the order in which they were written down. Moments are told in `zone`. */
export function changeWords(before: Facts, after: Facts, zone: Zone): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => text(before?.[name], zone) !== text(after?.[name], zone));
  const parts = changed.slice(0, MAX_SHOWN).map((name) => {
    const known = before !== null && Object.hasOwn(before, name);
    const now = text(after?.[name], zone);
    return known ? `${words(name)} ${text(before[name], zone)} → ${now}` : `${words(name)} ${now}`;
  });
  const more = changed.length - parts.length;
  return `${parts.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** `ratePerSecond` -> "rate per second". */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function text(value: unknown, zone: Zone): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string" && INSTANT.test(value)) {
    return `${formatInstant(value, zone)} ${zoneName(zone, value)}`;
  }
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return whole.length > MAX_VALUE_CHARS ? `${whole.slice(0, MAX_VALUE_CHARS)}…` : whole;
}
