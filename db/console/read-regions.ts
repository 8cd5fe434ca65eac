/**
 * How each region runs: whether its claims are on, its workers, what is in flight in which lane, how late first requests
 * start, lost leases, its database. Counts of work are those of the caller's tenants; workers, leases that a drain waits
 * for and the database are the region's. A region that does not answer must never show as idle.
 */
import { LANES, type Lane } from "#domain/delivery.ts";
import { REPLAY_SLOT_SHARE, RETRY_SLOT_SHARE } from "#domain/fair-share-budgets.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { FIRST_AGE_BOUNDS_MS } from "#domain/series.ts";
import { regionPool } from "../regions.ts";
import { drainStatus } from "./commands/drain-status.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import {
  type ControlRow,
  type LeaseRow,
  readControlRow,
  readLeases,
  readPartitions,
  readServer,
  readWorkers,
  type WorkerRow,
} from "./read-regions-rows.ts";
import { readCounts } from "./series-rows.ts";

const MINUTE_MS = 60_000;
/** Lateness and lost leases are of the last 15 minutes. */
export const HEALTH_WINDOW_MS = 15 * MINUTE_MS;
/** The rate is of the last minutes that have ended: the one that runs is not counted to its end. */
export const RATE_WINDOW_MINUTES = 5;
/** The part of all slots that a lane may use. */
const LANE_SHARES: Readonly<Record<Lane, number>> = {
  first: 1,
  retry: RETRY_SLOT_SHARE,
  replay: REPLAY_SLOT_SHARE,
};

export interface RegionWorker {
  id: string;
  host: string;
  pid: number;
  version: string;
  /** silent: not heard of for longer than a heartbeat may be late. */
  state: "running" | "stopping" | "silent";
  slots: number;
  inFlight: number;
  startedAt: string;
  heartbeatAt: string;
}

export interface RegionHealth {
  /** partial: on, but some tenants, or the region itself, are claimed by another owner. */
  claims: {
    state: "on" | "stopped" | "partial";
    by: string | null;
    reason: string | null;
    since: string | null;
    owner: string;
    handedOver: number;
    version: number;
  };
  workers: RegionWorker[];
  /** Processes that are known, also those that are not listed. */
  workerCount: number;
  /** Slots of those that run. */
  slots: number;
  lanes: { lane: Lane; inFlight: number; slots: number }[];
  leases: {
    held: number;
    /** Past their time, not taken back yet. */
    expired: number;
    lastUntil: string | null;
    /** True: claims are stopped and no lease was left, counted behind a barrier. Null: claims are on, or it is not known. */
    drained: boolean | null;
  };
  /** First requests by how long after their due time they began: counts up to each bound, the last one without a bound. */
  lag: { windowMs: number; boundsMs: readonly number[]; counts: number[]; maxMs: number };
  /** Requests that began, per second; null when nothing was counted lately. */
  requestsPerSecond: number | null;
  expiredLeases: { windowMs: number; count: number };
  database: {
    /** Connections of this console to the region. */
    pool: { inUse: number; open: number; max: number; waiting: number };
    connections: number;
    connectionsMax: number;
    oldestTransactionMs: number | null;
  };
  partitions: {
    parent: string;
    partitions: number;
    hasDefault: boolean;
    defaultRows: number;
    missing: string[];
  }[];
}

export interface Regions {
  regions: RegionAnswer<RegionHealth>[];
}

/**
 * Asks the given regions of the scope at once, or all of them.
 * @throws SluiceError `not_found` when a given region is outside the scope.
 */
export async function readRegions(
  access: AccessScope,
  regions: readonly Region[] = regionsOf(access),
): Promise<Regions> {
  const scoped = regions.map((region) => ({ region, tenants: tenantsIn(access, region) }));
  return { regions: await Promise.all(scoped.map(({ region, tenants }) => readOne(region, tenants))) };
}

async function readOne(region: Region, tenants: TenantScope): Promise<RegionAnswer<RegionHealth>> {
  const answer = await readRegion(region, (sql, asOf) => healthOf(sql, region, asOf, tenants));
  if (answer.status !== "ok" || answer.data.claims.state !== "stopped") return answer;
  const drained = await proveDrained(region);
  return { ...answer, data: { ...answer.data, leases: { ...answer.data.leases, drained } } };
}

/** Only while claims are stopped: nobody then waits for the barrier that the proof needs. */
async function proveDrained(region: Region): Promise<boolean | null> {
  try {
    return (await drainStatus({ region, pool: regionPool(region) })).drained;
  } catch {
    return null;
  }
}

async function healthOf(
  sql: Reader,
  region: Region,
  asOf: Date,
  tenants: TenantScope,
): Promise<RegionHealth> {
  const control = await readControlRow(sql, tenants);
  const workers = await readWorkers(sql);
  const slots = workers[0]?.usable ?? 0;
  const mine = await readLeases(sql, tenants);
  // A drain waits for the leases of everybody, whatever of them the caller may see.
  const all = tenants === null ? mine : await readLeases(sql, null);
  const server = await readServer(sql);
  const { options, totalCount, idleCount, waitingCount } = regionPool(region);
  return {
    claims: claimsOf(control),
    workers: workers.map(toWorker),
    workerCount: workers[0]?.total ?? 0,
    slots,
    lanes: LANES.map((lane) => ({
      lane,
      inFlight: mine.find((row) => row.lane === lane)?.leases ?? 0,
      slots: slots === 0 ? 0 : Math.max(1, Math.floor(slots * LANE_SHARES[lane])),
    })),
    leases: leasesOf(all),
    ...(await countsOf(sql, asOf, tenants)),
    database: {
      pool: { inUse: totalCount - idleCount, open: totalCount, max: options.max ?? 0, waiting: waitingCount },
      connections: server.connections,
      connectionsMax: server.connections_max,
      oldestTransactionMs: server.oldest_transaction_ms,
    },
    partitions: (await readPartitions(sql)).map(({ has_default, default_rows, ...rest }) => ({
      ...rest,
      hasDefault: has_default,
      defaultRows: default_rows,
    })),
  };
}

function claimsOf(row: ControlRow): RegionHealth["claims"] {
  const partial = row.handed_over > 0 || row.claim_owner !== "sluice";
  return {
    state: row.draining ? "stopped" : partial ? "partial" : "on",
    by: row.drained_by,
    reason: row.drain_reason,
    since: row.drained_at?.toISOString() ?? null,
    owner: row.claim_owner,
    handedOver: row.handed_over,
    version: row.version,
  };
}

function toWorker(row: WorkerRow): RegionWorker {
  return {
    id: row.id,
    host: row.host,
    pid: row.pid,
    version: row.version,
    state: row.alive ? row.state : "silent",
    slots: row.slots,
    inFlight: row.in_flight,
    startedAt: row.started_at.toISOString(),
    heartbeatAt: row.heartbeat_at.toISOString(),
  };
}

function leasesOf(rows: readonly LeaseRow[]): RegionHealth["leases"] {
  const until = rows.map((row) => row.last_until.getTime());
  return {
    held: rows.reduce((sum, row) => sum + row.leases, 0),
    expired: rows.reduce((sum, row) => sum + row.expired, 0),
    lastUntil: until.length === 0 ? null : new Date(Math.max(...until)).toISOString(),
    drained: null,
  };
}

/** What the workers have counted by the minute. */
async function countsOf(
  sql: Reader,
  asOf: Date,
  tenantIds: TenantScope,
): Promise<Pick<RegionHealth, "lag" | "requestsPerSecond" | "expiredLeases">> {
  const minuteMs = Math.floor(asOf.getTime() / MINUTE_MS) * MINUTE_MS;
  const rows = await readCounts(
    sql,
    { kind: "region", tenantIds },
    { from: new Date(asOf.getTime() - HEALTH_WINDOW_MS), to: asOf, stepMs: MINUTE_MS },
  );
  const rateFromMs = minuteMs - RATE_WINDOW_MINUTES * MINUTE_MS;
  const ended = rows.filter((row) => row.t >= rateFromMs && row.t < minuteMs);
  const requests = ended.reduce((sum, row) => sum + row.requests, 0);
  return {
    lag: {
      windowMs: HEALTH_WINDOW_MS,
      boundsMs: FIRST_AGE_BOUNDS_MS,
      counts: Array.from({ length: FIRST_AGE_BOUNDS_MS.length + 1 }, (_, index) =>
        rows.reduce((sum, row) => sum + (row.first_ages[index] ?? 0), 0),
      ),
      maxMs: Math.max(0, ...rows.map((row) => row.first_age_max_ms)),
    },
    requestsPerSecond: ended.length === 0 ? null : requests / (RATE_WINDOW_MINUTES * 60),
    expiredLeases: {
      windowMs: HEALTH_WINDOW_MS,
      count: rows.reduce((sum, row) => sum + row.leases_expired, 0),
    },
  };
}
