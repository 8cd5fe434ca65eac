/**
 * Rates and caps as the receiver saw them. Pure. More than burst + rate x t request starts in any window t is a breach,
 * and so is one request more at a time than a cap allows.
 */
import { TIMER_SLACK_MS } from "#worker/pacer.ts";
import type { Evidence, RequestEvidence } from "./evidence.ts";
import { INHERITED_CAP, TENANT_CAPS } from "./places.ts";

/**
 * The receiver sees arrivals, the limit counts starts. Between a start, as its attempt has recorded it, and the arrival
 * lie loopback and the wait for a core: at most this much is put down to the network. A request that arrives later, or
 * whose process did not live to record it, has started when it arrived.
 */
export const MOST_NETWORK_MS = 250;
/** Each process knows the database's time to within a round trip, so two starts may be this much nearer than they look. */
export const CLOCK_MS = 10;
/** A start that came this late counts as punctual for the next one. */
export const ALLOWED_MS = CLOCK_MS + TIMER_SLACK_MS;

export interface LimitFindings {
  readonly breaches: string[];
  readonly ratedRequests: number;
  readonly cappedRequests: number;
  /** Over all windows of starts, by how much the worst was too short, in milliseconds. */
  readonly worstOverSendMs: number;
}

export function checkLimits(evidence: Evidence): LimitFindings {
  const breaches: string[] = [];
  const byPlace = Map.groupBy(evidence.requests, ({ receiverName }) => receiverName);
  const starts = recordedStarts(evidence);
  let ratedRequests = 0;
  let cappedRequests = 0;
  let worstOverSendMs = 0;
  for (const place of evidence.places) {
    const requests = byPlace.get(place.receiverName) ?? [];
    if (place.ratePerSecond !== undefined) {
      ratedRequests += requests.length;
      const overMs = overSendMs(
        requests.map((request) => startOf(request, starts)),
        place.ratePerSecond,
        place.rateBurst ?? 1,
      );
      worstOverSendMs = Math.max(worstOverSendMs, overMs);
      if (overMs > ALLOWED_MS) {
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

/** When requests started, by what their own processes have recorded. */
function recordedStarts({ attempts }: Evidence): ReadonlyMap<string, number> {
  const sent = [...attempts.us, ...attempts.eu].filter(
    ({ kind }) => kind === "http" || kind === "stale_result",
  );
  return new Map(sent.map(({ deliveryId, number, startedMs }) => [`${deliveryId} ${number}`, startedMs]));
}

function startOf(
  { deliveryId, attempt, arrivedAtMs }: RequestEvidence,
  starts: ReadonlyMap<string, number>,
): number {
  const startedMs = starts.get(`${deliveryId} ${attempt}`) ?? arrivedAtMs;
  return arrivedAtMs - startedMs <= MOST_NETWORK_MS ? Math.min(startedMs, arrivedAtMs) : arrivedAtMs;
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
