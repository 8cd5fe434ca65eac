/** What a simulation checks, by name, and what it found broken. */
import type { Us } from "#sim/scheduler.ts";

export const INVARIANTS = {
  nothing_lost: "a delivery that was enqueued is live, delivered, dead or cancelled, in exactly one of them",
  one_live_lease: "a row has one lease at a time, and one request at a time under it",
  fence: "a result changes a row only under the lease that it was sent under",
  acknowledged: "what the store says is recorded stands in its tables",
  destination_cap: "a claim leaves no destination with more unexpired leases than its limits allow",
  tenant_cap: "a claim leaves no tenant with more unexpired leases than its cap",
  rate: "in any window t at most burst + rate x t requests are let go, and none starts before its token is there",
  due_time: "nothing is claimed before its due time",
  retry_after: "nothing is sent again before the receiver asked for it, within the policy's bounds",
  gate: "nothing is claimed inside a gate or an open breaker, and one at a time while it is probed",
  held: "nothing is claimed that a pause, a disabled destination, a drain, another owner or a batch that does not run holds back",
  lease_covers_request: "a request ends before its lease does",
  one_suspect:
    "a process holds one row with a lost lease at a time, so that a body that kills it takes no neighbour along",
  attempts: "attempts rise by one, without a gap, and the receiver is told the same number",
  identity: "id, key, body, tenant and region are the same on every attempt",
  recorded: "every request that left has an attempt row, or its lease was lost",
  one_effect: "a receiver that honours keys has one effect for each key, and a delivered one has it",
  dead_by_policy: "a delivery is dead only for a reason that happened",
  liveness: "once the faults have stopped, everything ends",
} as const;
export type Invariant = keyof typeof INVARIANTS;

export interface Violation {
  readonly invariant: Invariant;
  readonly detail: string;
  readonly atUs: Us;
  readonly step: number;
}

/** Most violations of a run that are kept: the first ones say what went wrong. */
const MAX_KEPT = 10;

export class Violations {
  readonly list: Violation[] = [];
  readonly #now: () => { atUs: Us; step: number };

  constructor(now: () => { atUs: Us; step: number }) {
    this.#now = now;
  }

  add(invariant: Invariant, detail: string): void {
    if (this.list.length < MAX_KEPT) this.list.push({ invariant, detail, ...this.#now() });
  }

  get any(): boolean {
    return this.list.length > 0;
  }
}
