/** The reason that every change of access needs. The server checks it too. */

export const MIN_REASON_CHARS = 10;
export const MAX_REASON_CHARS = 500;

/** What is wrong with a reason; null when it will do. */
export function reasonError(reason: string): string | null {
  const { length } = reason.trim();
  if (length < MIN_REASON_CHARS) return `Give a reason of at least ${MIN_REASON_CHARS} characters.`;
  return length > MAX_REASON_CHARS ? `Keep the reason under ${MAX_REASON_CHARS} characters.` : null;
}
