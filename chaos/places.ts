/**
 * The destinations of a region under chaos: what each receiver does, which limits are declared, and its share of the
 * load. Receivers honour keys. Every delivery can succeed here in the end, so that whatever does not was lost by us.
 */
import type { ScriptAnswer } from "#demo/receiver/answers.ts";
import type { Region } from "#domain/region.ts";

export interface PlaceKind {
  readonly name: string;
  readonly tenant: string;
  /** At the receiver; `<name>` is replaced by region and name. */
  readonly path: string;
  readonly concurrencyLimit?: number;
  readonly ratePerSecond?: number;
  readonly rateBurst?: number;
  /** Answers in turn, again and again; without it the path says what it answers. */
  readonly script?: readonly ScriptAnswer[];
  /** Part of the load; 0 for destinations that only faults write to. */
  readonly share: number;
}

export interface Place extends PlaceKind {
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
  /** The name under which the receiver counts it. */
  readonly receiverName: string;
}

/** Concurrency of tenants that have a limit of their own. */
export const TENANT_CAPS: Readonly<Record<string, number>> = { narrow: 3 };
/** Concurrency of a destination that declares none: what a region's database starts with. */
export const INHERITED_CAP = 10;
/** For tenants and destinations whose limit is not what is looked at. */
export const FREE_CAP = 200;

const good = (count: number): ScriptAnswer[] => Array.from({ length: count }, () => 200);

const plain = (name: string, tenant: string): PlaceKind => ({
  name,
  tenant,
  path: "/ok/<name>?ms=4",
  concurrencyLimit: FREE_CAP,
  share: 0.09,
});

const narrow = (name: string): PlaceKind => ({
  name,
  tenant: "narrow",
  path: "/ok/<name>?ms=25",
  share: 0.03,
});

export const PLACE_KINDS: readonly PlaceKind[] = [
  plain("plain-1", "free-1"),
  plain("plain-2", "free-1"),
  plain("plain-3", "free-2"),
  plain("plain-4", "free-2"),
  plain("plain-5", "free-3"),
  plain("plain-6", "free-3"),
  narrow("narrow-1"),
  narrow("narrow-2"),
  narrow("narrow-3"),
  { name: "slow", tenant: "slow", path: "/slow/250/<name>", concurrencyLimit: 6, share: 0.05 },
  { name: "capped", tenant: "capped", path: "/ok/<name>?ms=40", concurrencyLimit: 2, share: 0.08 },
  { name: "rated", tenant: "rated", path: "/ok/<name>", ratePerSecond: 25, rateBurst: 5, share: 0.09 },
  { name: "paced", tenant: "rated", path: "/ok/<name>", ratePerSecond: 8, rateBurst: 1, share: 0.03 },
  // The merchant's own limit, not declared to us: bursts of ours meet 429 with Retry-After.
  { name: "limited", tenant: "limited", path: "/limit/15/8/<name>", share: 0.02 },
  { name: "told", tenant: "limited", path: "/ok/<name>", script: ["429:1", ...good(40)], share: 0.03 },
  // Takes the key, applies the effect, and closes the connection without an answer. Never so often in a row that the
  // destination would be judged down: that is another promise, tested elsewhere.
  { name: "hangup", tenant: "rough", path: "/ok/<name>", script: ["hangup", ...good(3)], share: 0.02 },
  { name: "flaky", tenant: "rough", path: "/ok/<name>", script: [500, ...good(3)], share: 0.02 },
  { name: "raw", tenant: "rough", path: "/raw/<name>", share: 0.01 },
  // Paused and resumed by a fault, so that nothing else of its tenant is held.
  { name: "held", tenant: "held", path: "/ok/<name>?ms=4", share: 0.02 },
];

export function receiverNameOf(region: Region, kind: PlaceKind): string {
  return `${region}/${kind.name}`;
}

/** For both service classes: leases that end within seconds, and failures that are tried again soon. */
export const CHAOS_POLICY = {
  leaseMs: 6_000,
  requestDeadlineMs: 1_500,
  leaseMarginMs: 500,
  backoff: { baseMs: 100, capMs: 1_000 },
  retryAfter: { minMs: 100 },
} as const;

/** Longest script that a receiver takes; what comes behind its end is the last answer, a good one. */
const MAX_ANSWERS = 10_000;

/** A script that goes on as long as any run. */
export function repeated(script: readonly ScriptAnswer[]): ScriptAnswer[] {
  return Array.from({ length: Math.floor(MAX_ANSWERS / script.length) }, () => script).flat();
}
