/**
 * Which of the open lanes a plan is made from. A plan looks at every lane that it is given, and a claim takes rows of 256 at
 * most: with tens of thousands of lanes planning would take longer than sending. It must never leave a tenant out for
 * the sake of another's lanes, nor any lane for good. Pure but for the count of its turns.
 */
import { RING_ORDER, ringIndexOf } from "#domain/fair-share-rings.ts";
import type { LaneHead } from "#domain/fair-share-types.ts";

/** Most lanes of one kind and class that a plan is made from. */
export const MAX_OFFERED_LANES = 2_048;

export class OfferedLanes {
  #turn = 0;
  readonly #max: number;

  /** @param max most lanes of one kind and class */
  constructor(max = MAX_OFFERED_LANES) {
    this.#max = max;
  }

  /**
   * All lanes while there are few. Else, of each kind and class: some lanes of every tenant, each tenant's in turn from one call to
   * the next; and where there are more tenants than lanes that may be offered, one lane each of some tenants, those in turn too.
   */
  next(open: readonly LaneHead[]): readonly LaneHead[] {
    if (open.length <= this.#max) return open;
    const rings: LaneHead[][] = RING_ORDER.map(() => []);
    for (const head of open) rings[ringIndexOf(head)]?.push(head);
    const turn = this.#turn++;
    return rings.flatMap((heads) => (heads.length <= this.#max ? heads : this.#some(heads, turn)));
  }

  #some(heads: readonly LaneHead[], turn: number): LaneHead[] {
    const byTenant = Map.groupBy(heads, ({ tenantId }) => tenantId);
    const tenants = inTurn([...byTenant.values()], turn, this.#max);
    const each = Math.max(1, Math.floor(this.#max / tenants.length));
    let spare = this.#max - tenants.reduce((sum, lanes) => sum + Math.min(each, lanes.length), 0);
    const offered: LaneHead[] = [];
    for (const lanes of tenants) {
      const count = Math.min(lanes.length, each + spare);
      spare -= Math.max(0, count - each);
      for (const head of inTurn(lanes, turn, count)) offered.push(head);
    }
    return offered;
  }
}

/** `count` of the items, those behind the ones of the turn before; all of them when there are no more. */
function inTurn<T>(items: readonly T[], turn: number, count: number): T[] {
  if (items.length <= count) return [...items];
  const from = (turn * count) % items.length;
  const taken = items.slice(from, from + count);
  return taken.concat(items.slice(0, count - taken.length));
}
