/**
 * What the next claim asks for: the open lanes that this process knows, its slots and the limits as it remembers them, put through
 * the fair plan. All of it may be stale: a plan that is wrong costs a round trip, never a request too many. No limit is enforced here.
 */
import { type ClaimEntry, MAX_CLAIM_ENTRIES } from "#db/queue/claim.ts";
import { emptyDrrState, type LaneHead, planClaims } from "#domain/fair-share.ts";
import { mostTokens } from "./claimed-keys.ts";
import { OfferedLanes } from "./offered-lanes.ts";
import type { WorkerParts } from "./parts.ts";

/** Body bytes that one claim may bring into memory. */
export const MAX_CLAIM_BYTES = 32 * 1024 * 1024;
/** Rows that one lane gets in a round before the next lane's turn. */
const QUANTUM = 8;
/**
 * Entries of lanes that were held when they were last asked: most are held still, and each costs a claim as much as a row. Behind 200
 * shut gates one claim of all would stand before news for as long as four of these, between which news has its turn.
 */
const MAX_ASKED_AGAIN = 64;
/** Plans in a row that may find nothing among the lanes they were made from; the lanes behind them come with the next turn. */
const MAX_EMPTY_PLANS = 4;

type PlannerParts = Pick<WorkerParts, "book" | "clock" | "limits" | "inFlight" | "store">;

export class Planner {
  #drr = emptyDrrState();
  readonly #offered = new OfferedLanes();
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  /** Nothing when no slot is free or no open lane can have one. */
  async next(): Promise<ClaimEntry[]> {
    const { book, clock, limits, inFlight, store } = this.#parts;
    if (inFlight.room === 0) return [];
    const nowMs = clock.nowMs();
    const open = book.open(nowMs);
    const maxEntries = Math.min(MAX_CLAIM_ENTRIES, MAX_ASKED_AGAIN + open.length - book.askedAgain);
    let left = open.length;
    for (let plans = 0; left > 0 && plans < MAX_EMPTY_PLANS; plans++) {
      const heads = this.#offered.next(open);
      left -= heads.length;
      await limits.load(store, heads, nowMs);
      const entries = this.#plan(heads, nowMs, maxEntries);
      if (entries.length > 0) return entries;
    }
    return [];
  }

  #plan(heads: readonly LaneHead[], nowMs: number, maxEntries: number): ClaimEntry[] {
    const { limits, inFlight } = this.#parts;
    const plan = planClaims({
      nowMs,
      heads,
      tenant: (id) => {
        const tenant = limits.tenant(id);
        return {
          weight: tenant.weight,
          concurrencyLimit: tenant.concurrency,
          inFlight: inFlight.ofTenant(id),
        };
      },
      destination: (id) => {
        const destination = limits.destination(id);
        return {
          concurrencyLimit: destination.concurrency,
          inFlight: inFlight.ofDestination(id),
          // How many are left is known to the claim; more than these there never are.
          rateTokens: destination.ratePerSecond === null ? null : mostTokens(destination),
          gateUntilMs: null,
          probeOnly: false,
          avgBodyBytes: 0,
        };
      },
      slots: {
        total: inFlight.slots,
        lightReserve: inFlight.lightReserve,
        inFlightByLane: inFlight.byLane,
        inFlightByClass: inFlight.byClass,
      },
      byteBudgetBytes: MAX_CLAIM_BYTES,
      maxEntries,
      quantum: QUANTUM,
      drr: this.#drr,
    });
    this.#drr = plan.state;
    return plan.entries.map(({ k, ...lane }) => ({ ...lane, wanted: k }));
  }
}
