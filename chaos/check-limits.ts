/**
 * Rates and caps as the receiver saw them. Pure. More than burst + rate x t request starts in any window t is a breach,
 * and so is one request more at a time than a cap allows.
 */
import type { Evidence, RequestEvidence } from "./evidence.ts";
import { INHERITED_CAP, TENANT_CAPS } from "./places.ts";

/**
 * The receiver sees arrivals, not starts. Of two requests the first may have been longer on its way over loopback than
 * the second, by as much as two busy cores keep a process from running: so much closer may they arrive.
 */
export const NETWORK_MS = 50;

export interface LimitFindings {
  readonly breaches: string[];
  readonly ratedRequests: number;
  readonly cappedRequests: number;
  /** Over all windows, by how much the worst was too short, in milliseconds; without the allowance. */
  readonly worstOverSendMs: number;
}

export function checkLimits(evidence: Evidence): LimitFindings {
  const breaches: string[] = [];
  const byPlace = Map.groupBy(evidence.requests, ({ receiverName }) => receiverName);
  let ratedRequests = 0;
  let cappedRequests = 0;
  let worstOverSendMs = 0;
  for (const place of evidence.places) {
    const requests = byPlace.get(place.receiverName) ?? [];
    if (place.ratePerSecond !== undefined) {
      ratedRequests += requests.length;
      const overMs = overSendMs(
        requests.map(({ arrivedAtMs }) => arrivedAtMs),
        place.ratePerSecond,
        place.rateBurst ?? 1,
      );
      worstOverSendMs = Math.max(worstOverSendMs, overMs);
      if (overMs > NETWORK_MS) {
        breaches.push(
          `${place.receiverName}: a window was ${overMs.toFixed(1)} ms too short for ${place.ratePerSecond}/s, burst ${place.rateBurst}`,
        );
      }
    }
    cappedRequests += requests.length;
    const cap = place.concurrencyLimit ?? INHERITED_CAP;
    const peak = evidence.peaks[place.receiverName] ?? 0;
    if (peak > cap) breaches.push(`${place.receiverName}: ${peak} at a time, ${cap} are allowed`);
  }
  breaches.push(...checkTenants(evidence, byPlace));
  return { breaches, ratedRequests, cappedRequests, worstOverSendMs };
}

/**
 * How many milliseconds the worst window was too short for what it holds; 0 when none was. For each arrival the token
 * bucket's clock says how early the latest burst was: this looks at every window in one pass.
 * @param timesMs in any order
 */
export function overSendMs(timesMs: readonly number[], perSecond: number, burst: number): number {
  const stepMs = 1_000 / perSecond;
  let worstMs = 0;
  // Of all windows that end here, the one with the latest "first time + what its requests need".
  let neededFromMs = Number.NEGATIVE_INFINITY;
  for (const at of [...timesMs].sort((a, b) => a - b)) {
    neededFromMs = Math.max(neededFromMs + stepMs, at + stepMs - burst * stepMs);
    worstMs = Math.max(worstMs, neededFromMs - at);
  }
  return worstMs;
}

/** The receiver counts by destination; a tenant's is the overlap of all of its requests, inside the sender's own time. */
function checkTenants(
  evidence: Evidence,
  byPlace: ReadonlyMap<string, readonly RequestEvidence[]>,
): string[] {
  const breaches: string[] = [];
  for (const region of ["us", "eu"] as const) {
    for (const [tenant, cap] of Object.entries(TENANT_CAPS)) {
      const names = evidence.places.filter((place) => place.region === region && place.tenant === tenant);
      const requests = names.flatMap(({ receiverName }) => byPlace.get(receiverName) ?? []);
      const peak = peakOverlap(requests);
      if (peak > cap) breaches.push(`${region}, tenant ${tenant}: ${peak} at a time, ${cap} are allowed`);
    }
  }
  return breaches;
}

/** Most requests that were open at one moment, from arrival to the begin of the answer. */
export function peakOverlap(
  requests: readonly Pick<RequestEvidence, "arrivedAtMs" | "answeredAtMs">[],
): number {
  const edges = requests.flatMap(({ arrivedAtMs, answeredAtMs }) =>
    answeredAtMs === null
      ? []
      : [
          { at: arrivedAtMs, by: 1 },
          { at: answeredAtMs, by: -1 },
        ],
  );
  // One that ends in the moment in which another begins has ended.
  edges.sort((a, b) => a.at - b.at || a.by - b.by);
  let open = 0;
  let peak = 0;
  for (const { by } of edges) {
    open += by;
    peak = Math.max(peak, open);
  }
  return peak;
}
