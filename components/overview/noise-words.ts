/** Who is noisy, in words: what a tenant takes of its region beside what would be its fair share. Pure. */
import { formatCount, plural } from "#components/ui/format.ts";
import type { NoisyTenant, RegionNoise } from "#db/console/tenant-loads.ts";
import { formatLength } from "#domain/queue-age.ts";
import { formatShare } from "./overview-words.ts";

const MINUTE_MS = 60_000;

/** Follows the tenant's name: "sent 62 % of the requests of the last 5 m, 18 % of them 429, ...". */
export function noisyText(tenant: NoisyTenant, minutes: number, slots: number): string {
  const { shares, because, rateLimitedShare, inFlight } = tenant;
  const parts: string[] = [];
  if (shares.ofRequests !== null && shares.ofRequests > 0) {
    parts.push(`sent ${formatShare(shares.ofRequests)} of the requests of the ${lastOf(minutes)}`);
    if (rateLimitedShare !== null && rateLimitedShare > 0)
      parts.push(`${formatShare(rateLimitedShare)} of them 429`);
    if (because.includes("rate_limited"))
      parts.push(`${formatShare(shares.ofRateLimited)} of all 429 answers`);
  }
  if (shares.ofSlots !== null && inFlight > 0)
    parts.push(`takes ${formatCount(inFlight)} of ${plural(slots, "slot")}`);
  return `${parts.join(", ")}. Its fair share is ${formatShare(shares.fair)}.`;
}

/** What is said where nobody is named: that nobody is noisy, or that too little was sent to say so. */
export function quietText({ verdict, minutes }: RegionNoise): string {
  return verdict === "too_little"
    ? `Noisy: nobody can be named, with so few requests in the ${lastOf(minutes)}.`
    : `Noisy: nobody. No tenant took much more than its fair share in the ${lastOf(minutes)}.`;
}

function lastOf(minutes: number): string {
  return `last ${formatLength(minutes * MINUTE_MS)}`;
}
