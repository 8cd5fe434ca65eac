/**
 * What a claim's answer says of single rows: its ids stand in the order of their entries, so lane and token follow from
 * the place. Pure; what is not in the answer must never be made up here.
 */
import type { Claim, ClaimEntry } from "#db/queue/claim.ts";
import { RATE_AHEAD_MS } from "#domain/rate.ts";
import type { InFlightKey } from "./in-flight.ts";
import { type Token, tokenOf } from "./pacer.ts";

export type ClaimedKey = InFlightKey & { readonly token: Token | null };

/** Which lane each claimed row came from, and its token: ids stand in the order of their entries. */
export function claimedKeys(entries: readonly ClaimEntry[], claimed: Claim): ClaimedKey[] {
  const keys: ClaimedKey[] = [];
  entries.forEach((entry, index) => {
    const { lane, serviceClass, tenantId, destinationId } = entry;
    const pace = claimed.paces[index] ?? null;
    const taken = claimed.entries[index]?.taken ?? 0;
    for (let nth = 0; nth < taken; nth++) {
      const id = claimed.ids[keys.length];
      const token = pace === null ? null : tokenOf(destinationId, pace, nth, claimed.claimedAtMs);
      if (id !== undefined) keys.push({ id, lane, serviceClass, tenantId, destinationId, token });
    }
  });
  return keys;
}

/** A full burst, and what may be taken ahead. */
export function mostTokens(limits: {
  readonly ratePerSecond: number | null;
  readonly rateBurst: number;
}): number {
  return limits.rateBurst + Math.ceil(((limits.ratePerSecond ?? 0) * RATE_AHEAD_MS) / 1000);
}
