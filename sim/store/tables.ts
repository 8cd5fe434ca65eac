/**
 * The tables of a simulated region: what the queue's statements read and write, with times in whole microseconds as
 * Postgres keeps them. Only data stands here; what a statement does to it stands beside, one file for each.
 */
import type { FinishRow } from "#db/queue/finish.ts";
import type { Lane, LiveState, ServiceClass } from "#domain/delivery.ts";
import type { Region } from "#domain/region.ts";
import type { Us } from "#sim/scheduler.ts";

export interface Pausable {
  pausedAtUs: Us | null;
  pauseUntilUs: Us | null;
  resumedAtUs: Us | null;
  /** Share of cap and rate with which a resume begins; null is the default. */
  resumeShare: number | null;
}

export interface TenantRow extends Pausable {
  readonly id: string;
  weight: number;
  concurrencyLimit: number | null;
  claimOwner: string;
  deletedAtUs: Us | null;
  limitsChangedAtUs: Us;
}

export interface DestinationTableRow extends Pausable {
  readonly id: string;
  readonly tenantId: string;
  url: string;
  version: number;
  concurrencyLimit: number | null;
  ratePerSecond: number | null;
  rateBurst: number;
  disabledAtUs: Us | null;
  deletedAtUs: Us | null;
  limitsChangedAtUs: Us;
  secretCurrent: Buffer;
  policyOverride: unknown;
}

/** Gate, adaptive limit and breaker of a destination. No row: nothing was ever wrong. */
export interface StateRow {
  holdUntilUs: Us | null;
  holdSetAtUs: Us | null;
  holdWhy: string | null;
  holdStatus: number | null;
  holdRetryAfter: string | null;
  holdDeliveryId: string | null;
  probing: boolean;
  consecutiveGates: number;
  adaptiveLimit: number | null;
  adaptiveSafeLimit: number | null;
  adaptivePinned: boolean;
  adaptiveWhy: string | null;
  adaptiveChangedAtUs: Us | null;
  adaptiveLoweredAtUs: Us | null;
  breaker: "closed" | "open";
  breakerUntilUs: Us | null;
  breakerOpenedAtUs: Us | null;
  breakerOpens: number;
  breakerWhy: string | null;
  downInRow: number;
  downSinceUs: Us | null;
  failuresSinceSuccess: number;
  failingSinceUs: Us | null;
  lastSuccessAtUs: Us | null;
}

export interface RateRow {
  tatUs: Us;
  /** The process that took the last token. */
  owner: string | null;
  rampTatUs: Us | null;
}

/** What never changes of a delivery. */
export interface Identity {
  readonly id: string;
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly payloadId: string;
  readonly payloadBytes: number;
  readonly eventType: string;
  readonly idempotencyKey: string;
  readonly serviceClass: ServiceClass;
  readonly firstDueUs: Us;
}

/** A live row. */
export interface DeliveryRow extends Identity {
  dueUs: Us;
  state: LiveState;
  lane: Lane;
  attempts: number;
  failures: number;
  rejections: number;
  throttles: number;
  throttledMs: number;
  lostLeases: number;
  cycle: number;
  replayBatchId: string | null;
  lastOutcome: string | null;
  lastStatus: number | null;
  leaseToken: string | null;
  leaseUntilUs: Us | null;
  leasedAtUs: Us | null;
  leasedBy: string | null;
}

/** Batches of the simulation allow one attempt, the default. */
export const REPLAY_ATTEMPTS = 1;

export interface EndedRow extends Identity {
  readonly end: "delivered" | "cancelled" | "dead";
  readonly reason: string | null;
  readonly attempts: number;
  readonly failures: number;
  readonly throttles: number;
  readonly throttledMs: number;
  readonly lostLeases: number;
  readonly cycle: number;
  readonly lastOutcome: string | null;
  readonly lastStatus: number | null;
}

export interface AttemptRow {
  readonly deliveryId: string;
  readonly kind: "http" | "not_sent" | "lease_expired" | "stale_result";
  readonly number: number;
  readonly leaseToken: string;
  readonly lane: Lane;
  readonly outcome: string;
  readonly decision: string;
  readonly reason: string | null;
  readonly status: number | null;
  readonly nextDueUs: Us | null;
  readonly recordedUs: Us;
}

export interface Payload {
  readonly contentType: string;
  /** Null once it was erased. */
  body: Buffer | null;
}

/** graphile-worker's job of the region. */
export interface WakeJob {
  runAtUs: Us;
  /** Fetched by a runner that has not ended it. */
  locked: boolean;
}

export interface Tables {
  readonly region: Region;
  draining: boolean;
  claimOwner: string;
  defaultTenantConcurrency: number;
  defaultDestinationConcurrency: number;
  readonly tenants: Map<string, TenantRow>;
  readonly destinations: Map<string, DestinationTableRow>;
  readonly states: Map<string, StateRow>;
  readonly rates: Map<string, RateRow>;
  readonly deliveries: Map<string, DeliveryRow>;
  readonly ended: Map<string, EndedRow>;
  readonly attempts: AttemptRow[];
  readonly payloads: Map<string, Payload>;
  /** (destination, key) -> delivery id. */
  readonly keys: Map<string, string>;
  readonly batches: Map<string, string>;
  readonly workers: Set<string>;
  readonly policies: Map<ServiceClass, unknown>;
  wakeJob: WakeJob | null;
}

export function emptyTables(region: Region): Tables {
  return {
    region,
    draining: false,
    claimOwner: "sluice",
    defaultTenantConcurrency: 100,
    defaultDestinationConcurrency: 10,
    tenants: new Map(),
    destinations: new Map(),
    states: new Map(),
    rates: new Map(),
    deliveries: new Map(),
    ended: new Map(),
    attempts: [],
    payloads: new Map(),
    keys: new Map(),
    batches: new Map(),
    workers: new Set(),
    policies: new Map(),
    wakeJob: null,
  };
}

/** The outcome rows of a finish, as the worker sends them. */
export type Outcomes = readonly FinishRow[];

/** A statement's surroundings: the tables, the database's clock, and what Postgres draws by itself. */
export interface Database {
  readonly tables: Tables;
  readonly nowUs: () => Us;
  /** hashtext(text). */
  readonly hash: (text: string) => number;
}

export function isWaiting(row: DeliveryRow): boolean {
  return row.state !== "leased";
}
