/** What a change of the audit changed, in one line: "concurrencyLimit 5 → 3". The whole of it is on the audit page. */

const MAX_SHOWN = 4;
const MAX_VALUE_CHARS = 60;

type Facts = Readonly<Record<string, unknown>> | null;

/** Members that differ, in the order in which they were written down. */
export function changeWords(before: Facts, after: Facts): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const changed = names.filter((name) => text(before?.[name]) !== text(after?.[name]));
  const parts = changed.slice(0, MAX_SHOWN).map((name) => {
    const known = before !== null && Object.hasOwn(before, name);
    return known
      ? `${name} ${text(before[name])} → ${text(after?.[name])}`
      : `${name} ${text(after?.[name])}`;
  });
  const more = changed.length - parts.length;
  return `${parts.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "none";
  const whole = typeof value === "string" ? value : JSON.stringify(value);
  return whole.length > MAX_VALUE_CHARS ? `${whole.slice(0, MAX_VALUE_CHARS)}…` : whole;
}
