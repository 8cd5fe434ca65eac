/**
 * Caps and weights that the plan goes by, a moment old. Only the claim is exact; a plan made from old limits costs an
 * empty entry, never a request too many.
 */
import { type LimitRow, readLimits } from "#db/queue/configuration.ts";
import type { LaneHead, Queryable } from "#db/queue/types.ts";

/** Most destinations that one statement asks for. */
const MAX_LOAD = 2_000;
const MIN_AGE_MS = 1_000;
/** With many destinations the cache lives longer, so that reading it stays a small share of the work. */
const AGE_MS_PER_DESTINATION = 2;
const UNKNOWN = {
  tenantWeight: 1,
  tenantConcurrency: 1,
  destinationConcurrency: 1,
  ratePerSecond: null,
  rateBurst: 1,
};

export interface DestinationLimits {
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  readonly rateBurst: number;
}

export interface TenantLimits {
  readonly weight: number;
  readonly concurrency: number;
}

export class LimitsCache {
  readonly #destinations = new Map<string, LimitRow>();
  readonly #tenants = new Map<string, TenantLimits>();
  #freshSinceMs = Number.NEGATIVE_INFINITY;

  /** Reads what is missing for these lanes, and everything again once it is old. */
  async load(pool: Queryable, heads: readonly LaneHead[], nowMs: number): Promise<void> {
    const maxAgeMs = Math.max(MIN_AGE_MS, this.#destinations.size * AGE_MS_PER_DESTINATION);
    if (nowMs - this.#freshSinceMs > maxAgeMs) {
      this.#destinations.clear();
      this.#tenants.clear();
      this.#freshSinceMs = nowMs;
    }
    const missing = new Set<string>();
    for (const head of heads) {
      if (missing.size >= MAX_LOAD) break;
      if (!this.#destinations.has(head.destinationId)) missing.add(head.destinationId);
    }
    if (missing.size === 0) return;
    for (const row of await readLimits(pool, [...missing])) {
      this.#destinations.set(row.destinationId, row);
      this.#tenants.set(row.tenantId, { weight: row.tenantWeight, concurrency: row.tenantConcurrency });
    }
  }

  destination(id: string): DestinationLimits {
    const row = this.#destinations.get(id) ?? UNKNOWN;
    return {
      concurrency: row.destinationConcurrency,
      ratePerSecond: row.ratePerSecond,
      rateBurst: row.rateBurst,
    };
  }

  tenant(id: string): TenantLimits {
    return this.#tenants.get(id) ?? { weight: UNKNOWN.tenantWeight, concurrency: UNKNOWN.tenantConcurrency };
  }
}
