/**
 * The numbers of one region at this moment: ages, depths, what is held apart and why, dead letters, how the last minutes
 * went, and the tenants that wait longest. Ages are told by `sluice.queue_age`, the one definition that samples and alerts
 * use too. A region that does not answer has no numbers; it must never show up as zeros.
 */
import type { Thresholds } from "#domain/objectives.ts";
import { type AccessScope, regionsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { CountAndAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { AMPLIFICATION_ALERT } from "#domain/series.ts";
import type { FirstAttempt } from "./ages.ts";
import { readThresholds } from "./objectives.ts";
import { keptMoment } from "./queue-now.ts";
import {
  type MatrixRow,
  type QueueJson,
  queueText,
  summarise,
  TENANT_DEAD_LIMIT,
  toMatrix,
} from "./queue-summary.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { readAmplification } from "./read-series.ts";
import { COUNT_LIMIT, type LastHour, readFacts, readLastHour } from "./region-facts.ts";
import { snapshot, WARM_RULES } from "./snapshot.ts";
import { noiseOf, type RegionNoise } from "./tenant-loads.ts";
import { judgeRegion, type Verdict } from "./verdict.ts";

export { COUNT_LIMIT };

/** From this many live rows on, an answer is kept for some seconds. */
const DEAR_ROWS = 20_000;
/** Tenants shown in the matrix. */
export const MATRIX_ROWS = 50;

export interface RegionOverview extends LastHour {
  verdict: Verdict;
  /** What the region's numbers are compared with. */
  thresholds: Thresholds;
  firstAttempt: FirstAttempt[];
  /** Waiting rows whose moment has come and that nobody claimed; held work is not among them. */
  due: CountAndAge;
  /** Of them, what was attempted before: the second objective. */
  delayedLag: CountAndAge;
  /** Due work whose destination's gate is shut. */
  gated: number;
  ready: number;
  delayed: number;
  inFlight: number;
  /** Slots of the workers that are running. */
  slots: number;
  /** Dead letters that wait for a person; `added` in the last 24 hours. */
  deadLetters: CountAndAge & { added: number };
  /** Requests / distinct deliveries of the last 15 minutes. */
  amplification: number | null;
  held: ({ why: string } & CountAndAge)[];
  pausedTenants: number;
  workers: { running: number; lastHeartbeatAt: string | null };
  draining: { since: string | null; reason: string | null } | null;
  lastSampleAt: string | null;
  /** Until when attempts were counted for rates and shares; null before the first count. */
  countedAt: string | null;
  tenants: MatrixRow[];
  /** Tenants with live work or dead letters that the matrix leaves out. */
  tenantsLeftOut: number;
  /** Who takes an outsized part of the region, by what the last minutes and this moment say. */
  noise: RegionNoise;
}

/** What is the same in every region. */
export interface Overview {
  amplificationAlert: number;
  /** A count above it is known only to be above it. */
  countLimit: number;
  /** The same for the dead letters of one tenant. */
  tenantDeadLimit: number;
  regions: RegionAnswer<RegionOverview>[];
}

const EVERYWHERE_ALIKE: Omit<Overview, "regions"> = {
  amplificationAlert: AMPLIFICATION_ALERT,
  countLimit: COUNT_LIMIT,
  tenantDeadLimit: TENANT_DEAD_LIMIT,
};

/**
 * Asks the given regions of the scope at once, or all of them. Ages, depths and counts are those of the scope's tenants;
 * workers and slots are the region's. On a region with so much live work that a scan of it is dear, the answer may be some
 * seconds old: it is made of what the workers' newest sampling has summed up, and its `asOf` is that moment; no number is older.
 * Without such a sampling the rows are summed up here, and a dear region is read again by itself for some minutes after
 * somebody looked, so that only the first one waits for the scan.
 * @throws SluiceError `not_found` when a given region is outside the scope.
 */
export async function readOverview(
  access: AccessScope,
  regions: readonly Region[] = regionsOf(access),
): Promise<Overview> {
  const scoped = regions.map((region) => ({ region, tenantIds: tenantsIn(access, region) }));
  return { ...EVERYWHERE_ALIKE, regions: await Promise.all(scoped.map(readOne)) };
}

/** What one region said. */
interface Told {
  readonly answer: RegionAnswer<RegionOverview>;
  /** The moment of the kept sums that it is made of; null: of the rows. */
  readonly keptAt: Date | null;
  /** How long before the read that moment was. */
  readonly ageMs: number;
}

async function readOne({
  region,
  tenantIds,
}: {
  region: Region;
  tenantIds: TenantScope;
}): Promise<RegionAnswer<RegionOverview>> {
  const whose = tenantIds === null ? "all" : [...tenantIds].sort().join();
  const { answer } = await snapshot<Told>(
    `overview:${region}:${whose}`,
    (before) => tell(region, tenantIds, before),
    isDear,
    () => performance.now(),
    WARM_RULES,
    ({ ageMs }) => ageMs,
  );
  return answer;
}

/** @param before is given out again while its sums are the newest: one read for each sampling, however many look */
async function tell(region: Region, tenantIds: TenantScope, before: Told | undefined): Promise<Told> {
  const answer = await readRegion(region, async (sql, asOf) => {
    const keptAt = await keptMoment(sql, asOf);
    const ageMs = keptAt === null ? 0 : asOf.getTime() - keptAt.getTime();
    if (before !== undefined && keptAt !== null && before.keptAt?.getTime() === keptAt.getTime()) {
      const told: Told = { ...before, ageMs };
      return told;
    }
    const overview = await overviewOf(sql, keptAt ?? asOf, tenantIds, keptAt !== null);
    return { overview, keptAt, ageMs };
  });
  if (answer.status !== "ok") return { answer, keptAt: null, ageMs: 0 };
  if (!("overview" in answer.data)) return answer.data;
  const { overview, keptAt, ageMs } = answer.data;
  const asOf = keptAt?.toISOString() ?? answer.asOf;
  return { answer: { ...answer, asOf, data: overview }, keptAt, ageMs };
}

/** Decided by size and not by time: a slow moment of a small region must not make its next answer an old one. */
function isDear({ answer }: Told): boolean {
  if (answer.status !== "ok") return false;
  const { ready, delayed, inFlight } = answer.data;
  return ready + delayed + inFlight >= DEAR_ROWS;
}

/** @param asOf of the answer: the moment of the kept sums, if they are used */
async function overviewOf(
  sql: Reader,
  asOf: Date,
  tenantIds: TenantScope,
  kept: boolean,
): Promise<RegionOverview> {
  const thresholds = await readThresholds(sql);
  const [queue] = await sql<{ queue: QueueJson }>(queueText(kept), [
    asOf,
    MATRIX_ROWS,
    thresholds.objectives.urgent.firstAttemptTargetMs,
    thresholds.objectives.routine.firstAttemptTargetMs,
    tenantIds,
  ]);
  if (queue === undefined) throw new Error("the overview statement returned no row");
  const facts = await readFacts(sql, asOf, tenantIds);
  const { tenantsLate, ...summary } = summarise(queue.queue, asOf);
  const draining = facts.draining
    ? { since: facts.drained_at?.toISOString() ?? null, reason: facts.drain_reason }
    : null;
  return {
    ...summary,
    ...(await readLastHour(sql, asOf, tenantIds, thresholds)),
    thresholds,
    verdict: judgeRegion({
      ...summary,
      thresholds,
      tenantsLate,
      running: facts.running,
      draining: facts.draining,
    }),
    slots: facts.slots,
    deadLetters: { count: facts.dead, oldestMs: ageMs(facts.oldest_died_at, asOf), added: facts.dead_added },
    amplification: await readAmplification(sql, asOf, { kind: "region", tenantIds }),
    pausedTenants: facts.paused_tenants,
    workers: { running: facts.running, lastHeartbeatAt: facts.last_heartbeat_at?.toISOString() ?? null },
    draining,
    lastSampleAt: facts.last_sample_at?.toISOString() ?? null,
    countedAt: facts.counted_at?.toISOString() ?? null,
    tenants: toMatrix(queue.queue, asOf),
    tenantsLeftOut: Math.max(0, queue.queue.tenantCount - queue.queue.tenants.length),
    noise: noiseOf(queue.queue.loads, facts.slots),
  };
}

function ageMs(moment: Date | null, asOf: Date): number {
  return moment === null ? 0 : Math.max(0, asOf.getTime() - moment.getTime());
}
