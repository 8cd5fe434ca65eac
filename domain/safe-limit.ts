/**
 * FAIR-9: from the declared rate and the measured service time, how many requests at a time a destination can take. Pure.
 * It is a starting point and not a proof: no screen may call it safe.
 */

/** s: room for what the two numbers do not know. */
export const SAFETY_MARGIN = 0.8;

/** R x L x s, with what it was made of. */
export interface SafeLimit {
  /** At least 1; null while R or L is unknown. */
  readonly limit: number | null;
  readonly ratePerSecond: number | null;
  readonly serviceTimeMs: number | null;
  readonly margin: number;
  readonly missing: "rate" | "service_time" | "rate_and_service_time" | null;
}

/**
 * @param ratePerSecond R, as the customer declared it; null: none is declared
 * @param serviceTimeMs L, the median: with the slower p95 the product would promise more than R
 */
export function safeLimit(ratePerSecond: number | null, serviceTimeMs: number | null): SafeLimit {
  const inputs = { ratePerSecond, serviceTimeMs, margin: SAFETY_MARGIN };
  if (ratePerSecond === null) {
    return { ...inputs, limit: null, missing: serviceTimeMs === null ? "rate_and_service_time" : "rate" };
  }
  if (serviceTimeMs === null) return { ...inputs, limit: null, missing: "service_time" };
  const bound = ratePerSecond * (serviceTimeMs / 1_000) * SAFETY_MARGIN;
  return { ...inputs, limit: Math.max(1, Math.floor(bound)), missing: null };
}
