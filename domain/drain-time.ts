/** How long what waits would need at given limits, for the preview of a change. Pure. It is an estimate and never a promise. */

/** What leaves at which limits. */
export interface DrainFacts {
  readonly waiting: number;
  /** Requests at a time. */
  readonly concurrency: number;
  /** Null: no rate. */
  readonly ratePerSecond: number | null;
  /** Null: unknown. */
  readonly serviceTimeMs: number | null;
}

/**
 * How long what waits needs when nothing is added and everything is accepted; null while it cannot be said. The slower of
 * rate and concurrency decides.
 */
export function drainTimeMs({
  waiting,
  concurrency,
  ratePerSecond,
  serviceTimeMs,
}: DrainFacts): number | null {
  if (waiting === 0) return 0;
  const byRate = ratePerSecond;
  const bySlots = serviceTimeMs === null ? null : concurrency / (Math.max(1, serviceTimeMs) / 1_000);
  if (byRate === null && bySlots === null) return null;
  const perSecond = Math.min(byRate ?? Number.POSITIVE_INFINITY, bySlots ?? Number.POSITIVE_INFINITY);
  return Math.ceil((waiting / perSecond) * 1_000);
}
