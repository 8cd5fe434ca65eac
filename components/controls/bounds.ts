/**
 * The bounds that forms show before they send. The schemas of #domain/commands decide; these repeat them, because the
 * schemas bring a validator that the browser does without. bounds.test.ts holds both together. Pure.
 */

export const REASON_MIN_CHARS = 10;
export const REASON_MAX_CHARS = 500;
export const TICKET_MAX_CHARS = 64;

export const MIN_PAUSE_MS = 1_000;
export const MAX_PAUSE_MS = 30 * 86_400_000;
export const DEFAULT_RESUME_SHARE = 0.2;

export const MAX_TENANT_CONCURRENCY = 100_000;
export const MAX_DESTINATION_CONCURRENCY = 10_000;
export const MIN_RATE_PER_SECOND = 0.001;
export const MAX_RATE_PER_SECOND = 100_000;
export const MAX_RATE_BURST = 100_000;
export const MAX_WEIGHT = 100;

/** What is wrong with a reason, or null. */
export function refuseReason(reason: string): string | null {
  const chars = reason.trim().length;
  if (chars < REASON_MIN_CHARS)
    return `Say why, in at least ${REASON_MIN_CHARS} characters. The audit keeps it.`;
  return chars > REASON_MAX_CHARS ? `At most ${REASON_MAX_CHARS} characters.` : null;
}
