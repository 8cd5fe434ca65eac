/**
 * The numbers of one region at this moment: ages, depths, what is held apart and why, dead letters, and the tenants that
 * wait longest. Ages are told by `sluice.queue_age`, the one definition that samples and alerts use too.
 * A region that does not answer has no numbers; it must never show up as zeros.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import type { FirstAttempt } from "./ages.ts";
import { DUE_LAG, HEARTBEAT_LIMIT_MS, OBJECTIVES, type Objective } from "./objectives.ts";
import { type MatrixRow, QUEUE, type QueueJson, summarise, toMatrix } from "./queue-summary.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { singleFlight } from "./single-flight.ts";
import { judgeRegion, type Verdict } from "./verdict.ts";

/** Counts are exact up to here; a larger one is answered as `COUNT_LIMIT + 1`. */
export const COUNT_LIMIT = 100_000;
/** Tenants shown in the matrix. */
export const MATRIX_ROWS = 50;

export interface RegionOverview {
  verdict: Verdict;
  firstAttempt: FirstAttempt[];
  /** Waiting rows whose moment has come and that nobody claimed; held work is not among them. */
  due: CountAndAge;
  /** Due work whose destination's gate is shut. */
  gated: number;
  ready: number;
  delayed: number;
  inFlight: number;
  /** Slots of the workers that are running. */
  slots: number;
  completed: { lastHour: number; total: number };
  deadLetters: CountAndAge;
  held: ({ why: string } & CountAndAge)[];
  pausedTenants: number;
  workers: { running: number; lastHeartbeatAt: string | null };
  draining: { since: string | null; reason: string | null } | null;
  lastSampleAt: string | null;
  tenants: MatrixRow[];
  /** Tenants with live work or dead letters that the matrix leaves out. */
  tenantsLeftOut: number;
}

export interface Overview {
  regions: RegionAnswer<RegionOverview>[];
  objectives: Readonly<Record<ServiceClass, Objective>>;
  dueLag: typeof DUE_LAG;
  countLimit: number;
}

/**
 * Asks the given regions of the scope at once, or all of them. Ages, depths and counts are those of the scope's tenants;
 * workers and slots are the region's.
 * @throws SluiceError `not_found` when a given region is outside the scope.
 */
export async function readOverview(
  access: AccessScope,
  regions: readonly Region[] = regionsOf(access),
): Promise<Overview> {
  const scoped = regions.map((region) => ({ region, tenantIds: tenantsIn(access, region) }));
  return {
    // It scans the live table, so open tabs with the same scope that ask together share one scan.
    regions: await Promise.all(
      scoped.map(({ region, tenantIds }) =>
        singleFlight(`overview:${region}:${tenantIds === null ? "all" : [...tenantIds].sort().join()}`, () =>
          readRegion(region, (sql, asOf) => overviewOf(sql, asOf, tenantIds)),
        ),
      ),
    ),
    objectives: OBJECTIVES,
    dueLag: DUE_LAG,
    countLimit: COUNT_LIMIT,
  };
}

async function overviewOf(sql: Reader, asOf: Date, tenantIds: TenantScope): Promise<RegionOverview> {
  const [queue] = await sql<{ queue: QueueJson }>(QUEUE, [asOf, MATRIX_ROWS, ...targets(), tenantIds]);
  const [facts] = await sql<FactsRow>(FACTS, [asOf, COUNT_LIMIT + 1, HEARTBEAT_LIMIT_MS, tenantIds]);
  if (queue === undefined || facts === undefined) throw new Error("the overview statements returned no row");
  const { tenantsLate, ...summary } = summarise(queue.queue, asOf);
  const workers = { running: facts.running, lastHeartbeatAt: facts.last_heartbeat_at?.toISOString() ?? null };
  const draining = facts.draining
    ? { since: facts.drained_at?.toISOString() ?? null, reason: facts.drain_reason }
    : null;
  return {
    ...summary,
    verdict: judgeRegion({ ...summary, tenantsLate, running: facts.running, draining: facts.draining }),
    slots: facts.slots,
    completed: { lastHour: facts.completed_hour, total: facts.completed_total },
    deadLetters: { count: facts.dead, oldestMs: ageMs(facts.oldest_died_at, asOf) },
    pausedTenants: facts.paused_tenants,
    workers,
    draining,
    lastSampleAt: facts.last_sample_at?.toISOString() ?? null,
    tenants: toMatrix(queue.queue, asOf),
    tenantsLeftOut: Math.max(0, queue.queue.tenantCount - queue.queue.tenants.length),
  };
}

function targets(): [number, number] {
  return [OBJECTIVES.urgent.firstAttemptTargetMs, OBJECTIVES.routine.firstAttemptTargetMs];
}

function ageMs(moment: Date | null, asOf: Date): number {
  return moment === null ? 0 : Math.max(0, asOf.getTime() - moment.getTime());
}

const ALIVE = "state = 'running' AND heartbeat_at > $1::timestamptz - $3::integer * interval '1 millisecond'";

/** What of a table belongs to the scope. */
const MINE = "($4::uuid[] IS NULL OR tenant_id = ANY ($4))";

/** $1 the time of the answer, $2 the count limit, $3 the heartbeat limit in ms, $4 the tenants of the scope. Every count is bounded, so that no page waits for a big table. */
const FACTS = `
  SELECT rc.draining, rc.drain_reason, rc.drained_at,
         (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.dead_letter WHERE will_not_replay_at IS NULL AND ${MINE} LIMIT $2) n) AS dead,
         (SELECT min(died_at) FROM sluice.dead_letter WHERE will_not_replay_at IS NULL AND ${MINE}) AS oldest_died_at,
         (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.delivery_archive WHERE state = 'delivered' AND ${MINE} LIMIT $2) n)
           AS completed_total,
         (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.attempt
            WHERE started_at > $1::timestamptz - interval '1 hour' AND decision = 'delivered' AND ${MINE} LIMIT $2) n) AS completed_hour,
         (SELECT count(*)::integer FROM sluice.tenant
            WHERE paused_at IS NOT NULL AND pause_until > $1 AND ($4::uuid[] IS NULL OR id = ANY ($4))) AS paused_tenants,
         w.running, w.slots, w.last_heartbeat_at,
         (SELECT max(at) FROM sluice.sample_run WHERE scope = 'class' AND ok) AS last_sample_at
    FROM sluice.region_control rc
   CROSS JOIN (SELECT count(*) FILTER (WHERE ${ALIVE})::integer AS running,
                      coalesce(sum(slots) FILTER (WHERE ${ALIVE}), 0)::integer AS slots,
                      max(heartbeat_at) AS last_heartbeat_at
                 FROM sluice.worker_process) w`;

interface FactsRow {
  draining: boolean;
  drain_reason: string | null;
  drained_at: Date | null;
  dead: number;
  oldest_died_at: Date | null;
  completed_total: number;
  completed_hour: number;
  paused_tenants: number;
  running: number;
  slots: number;
  last_heartbeat_at: Date | null;
  last_sample_at: Date | null;
}
