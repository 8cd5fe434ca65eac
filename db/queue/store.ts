/**
 * The store as the worker's dispatching sees it: every statement of the queue that it runs, as one port. The Postgres
 * implementation only passes the calls on; it must never add a decision, a retry or a cache of its own, because the
 * simulation drives the same worker code over another implementation that is compared with this one.
 */
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import type { Region } from "#domain/region.ts";
import { type Claim, type ClaimRequest, claim } from "./claim.ts";
import {
  type ChangedLimits,
  changedLimits,
  type DestinationRow,
  type LimitRow,
  readDestinations,
  readLimits,
  readPolicies,
} from "./configuration.ts";
import {
  type FirstPage,
  nextDue,
  type RecentLanes,
  recentLanes,
  type WalkPage,
  type WalkPosition,
  walkAllLanes,
  walkLanes,
} from "./discover.ts";
import { type FinishRow, finish } from "./finish.ts";
import {
  type DisableDestination,
  disableDestination,
  type HealthAnswer,
  type HealthReport,
  noteHealth,
} from "./note-health.ts";
import { type ClaimedDelivery, readClaimed } from "./read-claimed.ts";
import { cancelDeleted, type ExpiredLeases, returnExpiredLeases } from "./reconcile.ts";
import { release } from "./release.ts";
import { releaseUnanswered } from "./release-unanswered.ts";
import { type GateState, type ShutGate, shutGate } from "./shut-gate.ts";
import { keepStaleResult, type StaleResult } from "./stale-result.ts";
import type { Queryable } from "./types.ts";
import { restoreWakeJob, sendHint, writeWakeJob } from "./wake-job.ts";
import { type Heartbeat, heartbeat, removeWorker } from "./worker-process.ts";

/** Each method is documented at the function of the same name in this folder. All of them reject when the database does not answer. */
export interface QueueStore {
  claim(request: ClaimRequest): Promise<Claim>;
  readClaimed(ids: readonly string[], token: string): Promise<ClaimedDelivery[]>;
  finish(rows: readonly FinishRow[]): Promise<Map<string, number>>;
  keepStaleResult(stale: StaleResult): Promise<"repeat" | "stale">;
  release(ids: readonly string[], token: string): Promise<number>;
  releaseUnanswered(token: string): Promise<number>;
  shutGate(gate: ShutGate): Promise<GateState>;
  noteHealth(reports: readonly HealthReport[], random: number): Promise<HealthAnswer[]>;
  disableDestination(what: DisableDestination): Promise<boolean>;

  recentLanes(sinceMs: number): Promise<RecentLanes>;
  walkAllLanes(): Promise<FirstPage[]>;
  walkLanes(lane: Lane, serviceClass: ServiceClass, from: WalkPosition): Promise<WalkPage>;
  nextDue(): Promise<{ nowMs: number; nextMs: number | null }>;

  writeWakeJob(region: Region, runAtMs: number): Promise<void>;
  restoreWakeJob(region: Region, dueForMs: number): Promise<boolean>;
  sendHint(): Promise<void>;

  returnExpiredLeases(): Promise<ExpiredLeases>;
  cancelDeleted(): Promise<number>;
  heartbeat(beat: Heartbeat): Promise<number | null>;
  removeWorker(id: string): Promise<void>;

  readDestinations(ids: readonly string[]): Promise<DestinationRow[]>;
  readLimits(destinationIds: readonly string[]): Promise<LimitRow[]>;
  changedLimits(sinceMs: number): Promise<ChangedLimits>;
  readPolicies(): Promise<Map<ServiceClass, unknown>>;
}

/** The region's database. */
export function postgresStore(pool: Queryable): QueueStore {
  return {
    claim: (request) => claim(pool, request),
    readClaimed: (ids, token) => readClaimed(pool, ids, token),
    finish: (rows) => finish(pool, rows),
    keepStaleResult: (stale) => keepStaleResult(pool, stale),
    release: (ids, token) => release(pool, ids, token),
    releaseUnanswered: (token) => releaseUnanswered(pool, token),
    shutGate: (gate) => shutGate(pool, gate),
    noteHealth: (reports, random) => noteHealth(pool, reports, random),
    disableDestination: (what) => disableDestination(pool, what),
    recentLanes: (sinceMs) => recentLanes(pool, sinceMs),
    walkAllLanes: () => walkAllLanes(pool),
    walkLanes: (lane, serviceClass, from) => walkLanes(pool, lane, serviceClass, from),
    nextDue: () => nextDue(pool),
    writeWakeJob: (region, runAtMs) => writeWakeJob(pool, region, runAtMs),
    restoreWakeJob: (region, dueForMs) => restoreWakeJob(pool, region, dueForMs),
    sendHint: () => sendHint(pool),
    returnExpiredLeases: () => returnExpiredLeases(pool),
    cancelDeleted: () => cancelDeleted(pool),
    heartbeat: (beat) => heartbeat(pool, beat),
    removeWorker: (id) => removeWorker(pool, id),
    readDestinations: (ids) => readDestinations(pool, ids),
    readLimits: (destinationIds) => readLimits(pool, destinationIds),
    changedLimits: (sinceMs) => changedLimits(pool, sinceMs),
    readPolicies: () => readPolicies(pool),
  };
}
