/**
 * How many requests a second an endpoint takes, in the memory of one process: it protects the process, it is not a promise.
 * Only authenticated requests spend, so that a stranger cannot use a customer's share up.
 */
import { SluiceError } from "#domain/errors.ts";
import { availableTokens, NEVER_SENT_TAT_MS, nextTokenAtMs, type RateLimit, spend } from "#domain/rate.ts";

export interface Limiter {
  /** @throws SluiceError `too_many_requests` with `waitMs` in its data */
  take(endpointId: string, nowMs: number): void;
}

/** Endpoints that are remembered; beyond that all start anew. */
const MAX_ENDPOINTS = 10_000;

export function createLimiter(limit: RateLimit): Limiter {
  const tats = new Map<string, number>();
  return {
    take(endpointId, nowMs) {
      const tatMs = tats.get(endpointId) ?? NEVER_SENT_TAT_MS;
      if (availableTokens(tatMs, limit, nowMs) < 1) {
        const waitMs = nextTokenAtMs(tatMs, limit, nowMs) - nowMs;
        throw new SluiceError("too_many_requests", "This endpoint takes no more for the moment.", { waitMs });
      }
      if (tats.size >= MAX_ENDPOINTS && !tats.has(endpointId)) tats.clear();
      tats.set(endpointId, spend(tatMs, limit, nowMs, 1));
    },
  };
}
