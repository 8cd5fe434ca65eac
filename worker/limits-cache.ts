/**
 * Caps and weights that the plan goes by, a moment old. Only the claim is exact; a plan made from old limits costs an
 * empty entry, never a request too many.
 */
import type { LimitRow } from "#db/queue/configuration.ts";
import type { QueueStore } from "#db/queue/store.ts";
import type { LaneHead } from "#db/queue/types.ts";

/** Most destinations that one statement asks for. */
const MAX_LOAD = 2_000;
/** Everything is read again after this, though `follow` names what changes: a net under it. */
const MAX_AGE_MS = 30_000;
/** A change is stamped before its commit; a look reaches back this far. */
const LOOK_BACK_MS = 5_000;
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
  #lookedMs: number | null = null;
  #seen = new Set<string>();
  #defaults: string | null = null;

  /** Reads what is missing for these lanes, and everything again once it is old. */
  async load(
    store: Pick<QueueStore, "readLimits">,
    heads: readonly LaneHead[],
    nowMs: number,
  ): Promise<void> {
    if (nowMs - this.#freshSinceMs > MAX_AGE_MS) {
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
    for (const row of await store.readLimits([...missing])) {
      this.#destinations.set(row.destinationId, row);
      this.#tenants.set(row.tenantId, { weight: row.tenantWeight, concurrency: row.tenantConcurrency });
    }
  }

  /** A limit was changed: everything is read again before the next plan. */
  forget(): void {
    this.#freshSinceMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Asks what was changed since the last time and forgets it, so that a change counts within a second, whoever made it.
   * @returns the destinations whose limits are others now; "all" when they cannot be named
   */
  async follow(store: Pick<QueueStore, "changedLimits">, nowMs: number): Promise<readonly string[] | "all"> {
    const answer = await store.changedLimits((this.#lookedMs ?? nowMs) - LOOK_BACK_MS);
    this.#lookedMs = answer.nowMs;
    const seen = this.#seen;
    this.#seen = new Set(answer.changes.map(({ change }) => change));
    const defaultsChanged = this.#defaults !== null && this.#defaults !== answer.defaults;
    this.#defaults = answer.defaults;
    const fresh = answer.changes.filter(({ change }) => !seen.has(change));
    if (defaultsChanged || (answer.more && fresh.length > 0)) {
      this.forget();
      return "all";
    }
    for (const { destinationId } of fresh) this.#destinations.delete(destinationId);
    return fresh.map(({ destinationId }) => destinationId);
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
