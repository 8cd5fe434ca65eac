/**
 * The whole store of a region in memory: each statement takes effect at one instant, as a committed one does. A link
 * (world/link.ts) makes it a QueueStore with delays and faults; random scripts compare it with Postgres.
 */
import type { QueueStore } from "#db/queue/store.ts";
import { claimRows } from "./claim.ts";
import { findNextDue, findRecent, walkAll, walkPage } from "./discover.ts";
import { finishRows, keepStale } from "./finish.ts";
import { shut } from "./gate.ts";
import { disable, noteReports } from "./health.ts";
import { cancelRows, expireLeases, releaseRows, releaseUnheard } from "./leases.ts";
import { findChangedLimits, findDestinations, findLimits, readRows } from "./reads.ts";
import type { Database, Tables } from "./tables.ts";
import { fromMs, MS, toFloatMs } from "./time.ts";

/** The port with its answers at once. */
export type SyncStore = {
  readonly [Name in keyof QueueStore]: (
    ...given: Parameters<QueueStore[Name]>
  ) => Awaited<ReturnType<QueueStore[Name]>>;
};

/** @param hint called where Postgres would notify the listening processes */
export function memoryStore(database: Database, hint: () => void): SyncStore {
  const { tables } = database;
  return {
    claim: (request) => claimRows(database, request),
    readClaimed: (ids, token) => readRows(database, ids, token),
    finish: (rows) => finishRows(database, rows),
    keepStaleResult: (stale) => keepStale(database, stale),
    release: (ids, token) => releaseRows(database, ids, token),
    releaseUnanswered: (token) => releaseUnheard(database, token),
    shutGate: (gate) => shut(database, gate),
    noteHealth: (reports, random) => noteReports(database, reports, random),
    disableDestination: (what) => disable(database, what),
    recentLanes: (sinceMs) => findRecent(database, sinceMs),
    walkAllLanes: () => walkAll(database),
    walkLanes: (lane, serviceClass, from) => walkPage(database, lane, serviceClass, from),
    nextDue: () => findNextDue(database),
    writeWakeJob: (_region, runAtMs) => writeJob(tables, runAtMs),
    restoreWakeJob: (_region, dueForMs) => restoreJob(database, dueForMs),
    sendHint: hint,
    returnExpiredLeases: () => expireLeases(database),
    cancelDeleted: () => cancelRows(database),
    heartbeat: ({ id }) => (tables.workers.has(id) ? toFloatMs(database.nowUs()) : null),
    removeWorker: (id) => {
      tables.workers.delete(id);
    },
    readDestinations: (ids) => findDestinations(database, ids),
    readLimits: (ids) => findLimits(database, ids),
    changedLimits: (sinceMs) => findChangedLimits(database, sinceMs),
    readPolicies: () => new Map(tables.policies),
  };
}

/** add_job with job_key_mode replace: a job that is being run keeps its lock but loses the key. */
function writeJob(tables: Tables, runAtMs: number): void {
  tables.wakeJob = { runAtUs: fromMs(runAtMs), locked: false };
}

function restoreJob({ tables, nowUs }: Database, dueForMs: number): boolean {
  if (tables.wakeJob !== null) return false;
  const beforeUs = nowUs() - dueForMs * MS;
  for (const row of tables.deliveries.values()) {
    if (row.state === "leased" || row.dueUs >= beforeUs) continue;
    writeJob(tables, 0);
    return true;
  }
  return false;
}
