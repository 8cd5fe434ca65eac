/** What holds a delivery, as staff read it. */
import type { BlockerName } from "#domain/held-reason.ts";

const BY_PEOPLE: ReadonlySet<BlockerName> = new Set([
  "region_draining",
  "other_owner",
  "tenant_paused",
  "destination_disabled",
  "destination_paused",
  "replay_not_running",
]);

/** Held is what people decided, and it is not late; all else that stands in the way is waited for, and may be late. */
export function holdWord(code: BlockerName): "Held" | "Waiting" {
  return BY_PEOPLE.has(code) ? "Held" : "Waiting";
}

/** short: in a table. long: on the page of one delivery. */
export const BLOCKER_WORDS: Readonly<Record<BlockerName, { short: string; long: string }>> = {
  region_draining: { short: "claims stopped", long: "Claims are stopped in this region" },
  other_owner: { short: "other owner", long: "Its claims were handed over to another program" },
  tenant_paused: { short: "tenant paused", long: "The tenant is paused" },
  destination_disabled: { short: "destination disabled", long: "The destination is disabled" },
  destination_paused: { short: "destination paused", long: "The destination is paused" },
  replay_not_running: { short: "replay not running", long: "Its replay batch does not run" },
  no_worker: { short: "no worker", long: "No worker of the region reports" },
  gate: { short: "gate", long: "The destination's gate is shut" },
  probe: { short: "probe out", long: "The gate has opened and one probe is out" },
  breaker: { short: "breaker open", long: "The destination is judged down; single requests probe it" },
  tenant_cap: { short: "tenant cap", long: "The tenant has as many requests in flight as it may" },
  destination_cap: {
    short: "destination cap",
    long: "The destination has as many requests in flight as it may",
  },
  adaptive_limit: {
    short: "adaptive limit",
    long: "The destination has as many requests in flight as it lately took without trouble",
  },
  resume_ramp: {
    short: "resume ramp",
    long: "It was due before the resume, and such work leaves slowly at first",
  },
  rate: { short: "rate", long: "The destination's rate is spent" },
  not_due: { short: "not due", long: "It is not due yet" },
  lease_expired: { short: "lease expired", long: "Its lease has ended and it waits to be taken back" },
  in_flight: { short: "in flight", long: "It is in flight" },
};
