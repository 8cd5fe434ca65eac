/** What fields compute: the next value of a stepper, and the count below a text. Pure. */

/** "4 more needed", "12 of 500", "3 too many". */
export function countWords(chars: number, minChars: number, maxChars: number): string {
  if (chars === 0) return `${minChars} to ${maxChars} characters`;
  if (chars < minChars) return `${minChars - chars} more needed`;
  return chars > maxChars ? `${chars - maxChars} too many` : `${chars} of ${maxChars}`;
}

/** The next value as text, never outside of the bounds. Text that is no number begins at the least; thousandths are kept. */
export function steppedText(value: string, by: number, min: number, max: number): string {
  const now = value.trim() === "" ? Number.NaN : Number(value);
  if (!Number.isFinite(now)) return String(min);
  const next = Math.min(max, Math.max(min, now + by));
  return String(Number(next.toFixed(3)));
}
