/** What holds a delivery, as staff read it. */
import type { Blocker, BlockerCode } from "#db/console/blockers.ts";

/** short: in a table. long: on the page of one delivery. */
export const BLOCKER_WORDS: Readonly<Record<BlockerCode, { short: string; long: string }>> = {
  region_draining: { short: "claims stopped", long: "Claims are stopped in this region" },
  other_owner: { short: "other owner", long: "Its claims were handed over to another program" },
  tenant_paused: { short: "tenant paused", long: "The tenant is paused" },
  destination_paused: { short: "destination paused", long: "The destination is paused" },
  destination_disabled: { short: "destination disabled", long: "The destination is disabled" },
  deleted: { short: "deleted", long: "The tenant or the destination was deleted" },
  gate: { short: "gate", long: "The destination's gate is shut" },
  probe: { short: "probe out", long: "The gate has opened and one probe is out" },
  rate: { short: "rate", long: "The destination's rate is spent" },
  destination_cap: {
    short: "destination cap",
    long: "All requests that the destination may have at once are in flight",
  },
  tenant_cap: { short: "tenant cap", long: "All requests that the tenant may have at once are in flight" },
};

/** The last moment at which a blocker ends by itself; null when one of them does not. */
export function clearAt(blockers: readonly Blocker[]): string | null {
  let latest: string | null = null;
  for (const { until } of blockers) {
    if (until === null) return null;
    if (latest === null || until > latest) latest = until;
  }
  return latest;
}
