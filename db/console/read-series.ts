/**
 * How a region, a tenant or a destination went over a time range. A span in which nothing was sampled is a gap, given as a
 * point without values; it is never bridged and never zero. What was counted by the minute ends with the last whole minute.
 */
import type { Thresholds } from "#domain/objectives.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  AMPLIFICATION_ALERT,
  AMPLIFICATION_MINUTES,
  AMPLIFICATION_REFERENCE,
  SERIES_RANGES,
  type SeriesRange,
  type SeriesSteps,
} from "#domain/series.ts";
import { readThresholds, SAMPLE_LIMIT_MS } from "./objectives.ts";
import { type Reader, type RegionAnswer, readRegion } from "./read-region.ts";
import { type Annotation, readAnnotations } from "./series-annotations.ts";
import { findLevel, type SeriesLevel, type SeriesTarget, tenantsOfLevel } from "./series-level.ts";
import {
  amplificationOf,
  type CountPoint,
  type Ends,
  endsOf,
  type SamplePoint,
  toCounts,
  toSample,
  withGaps,
} from "./series-points.ts";
import { readCounts, readGaps, readGone, readRuns, readSamples } from "./series-rows.ts";
import { snapshot } from "./snapshot.ts";

export type { Annotation, CountPoint, Ends, SamplePoint };

export interface Series extends Pick<Thresholds, "objectives" | "dueLag"> {
  /** What the numbers are of. */
  level: SeriesLevel["kind"];
  range: SeriesRange;
  fromMs: number;
  toMs: number;
  /** Width of a sample point. */
  sampleStepMs: number;
  /** Ages and depths, oldest first; empty for a destination, which is not sampled. */
  samples: SamplePoint[];
  /** Width of a counted point. */
  countStepMs: number;
  /** Outcomes, first-attempt ages of tried deliveries, service times, oldest first. */
  counts: CountPoint[];
  /** Deliveries that ended in the range by their number of attempts. */
  ends: Ends;
  amplification: {
    /** Requests / distinct deliveries of the last minutes; null when there was no request. */
    now: number | null;
    minutes: number;
    reference: number;
    alert: number;
  };
  annotations: Annotation[];
  /** False when no sample was stored lately: the line ends and the page says "no data". */
  sampling: boolean;
  lastSampleAt: string | null;
}

/** Samples of single tenants are taken once a minute. */
const TENANT_STEP_MS = 60_000;
const TENANT_SAMPLE_LIMIT_MS = 3 * TENANT_STEP_MS;
const MINUTE_MS = 60_000;
/** From this range on, an answer is kept for some seconds. */
const LONG_SECONDS = 6 * 3_600;

/**
 * Reads one series. A scope of some tenants is read from the samples of tenants, with steps of a minute at least: the
 * samples of classes hold everybody's work.
 * @throws SluiceError `not_found` for a region, tenant or destination that is outside the scope or does not exist.
 */
export async function readSeries(
  access: AccessScope,
  region: Region,
  range: SeriesRange,
  target: SeriesTarget = {},
): Promise<RegionAnswer<Series>> {
  const scope = tenantsIn(access, region);
  const whose = scope === null ? "all" : [...scope].sort().join();
  const what = `${region}:${range}:${target.tenant ?? ""}:${target.destination ?? ""}`;
  return snapshot(
    `series:${what}:${whose}`,
    () =>
      readRegion(region, async (sql, asOf) =>
        seriesOf(sql, asOf, await findLevel(sql, target, scope), range),
      ),
    // The points of a long range are minutes wide, and it is the dear one to read: seconds do not matter there.
    (answer) => answer.status === "ok" && SERIES_RANGES[range].seconds >= LONG_SECONDS,
    () => performance.now(),
  );
}

async function seriesOf(sql: Reader, asOf: Date, level: SeriesLevel, range: SeriesRange): Promise<Series> {
  const steps: SeriesSteps = SERIES_RANGES[range];
  const perTenant = tenantsOfLevel(level) !== null;
  const from = new Date(asOf.getTime() - steps.seconds * 1_000);
  const sampleStepMs = Math.max(steps.sampleSeconds * 1_000, perTenant ? TENANT_STEP_MS : 0);
  const countStepMs = steps.countSeconds * 1_000;
  const limitMs = perTenant ? TENANT_SAMPLE_LIMIT_MS : SAMPLE_LIMIT_MS;
  const samples = await readSamples(sql, level, { from, to: asOf, stepMs: sampleStepMs });
  const { points, ends } = await readCounted(sql, asOf, level, { from, stepMs: countStepMs });
  const lastSampleAt = await readLastSample(sql, asOf, level.kind !== "destination" && perTenant);
  const { objectives, dueLag } = await readThresholds(sql);
  return {
    level: level.kind,
    range,
    fromMs: from.getTime(),
    toMs: asOf.getTime(),
    sampleStepMs,
    samples: withGaps(samples.map(toSample), sampleStepMs, limitMs),
    countStepMs,
    counts: points,
    ends,
    amplification: {
      now: await readAmplification(sql, asOf, level),
      minutes: AMPLIFICATION_MINUTES,
      reference: AMPLIFICATION_REFERENCE,
      alert: AMPLIFICATION_ALERT,
    },
    annotations: await readAnnotations(sql, level, from, asOf),
    sampling: lastSampleAt !== null && asOf.getTime() - lastSampleAt.getTime() <= limitMs,
    lastSampleAt: lastSampleAt?.toISOString() ?? null,
    objectives,
    dueLag,
  };
}

async function readCounted(
  sql: Reader,
  asOf: Date,
  level: SeriesLevel,
  { from, stepMs }: { from: Date; stepMs: number },
): Promise<{ points: CountPoint[]; ends: Ends }> {
  const nowMs = asOf.getTime();
  const span = {
    from: new Date(floor(from.getTime(), stepMs)),
    to: new Date(floor(nowMs, MINUTE_MS)),
    stepMs,
  };
  const rows = await readCounts(sql, level, span);
  const runs = await readRuns(sql, span);
  const gone = await readGone(sql, level, span);
  return { points: toCounts(rows, { runs, gone }, span), ends: endsOf(rows) };
}

async function readLastSample(sql: Reader, asOf: Date, tenants: boolean): Promise<Date | null> {
  const [latest] = await sql<{ at: Date | null }>(
    "SELECT max(at) AS at FROM sluice.sample_run WHERE scope = $2 AND ok AND at <= $1",
    [asOf, tenants ? "tenant" : "class"],
  );
  return latest?.at ?? null;
}

/** Over the last whole minutes. */
export async function readAmplification(sql: Reader, asOf: Date, level: SeriesLevel): Promise<number | null> {
  const to = floor(asOf.getTime(), MINUTE_MS);
  const from = to - AMPLIFICATION_MINUTES * MINUTE_MS;
  return amplificationOf(await readGaps(sql, level, { from: new Date(from), to: new Date(to) }), to);
}

function floor(ms: number, stepMs: number): number {
  return Math.floor(ms / stepMs) * stepMs;
}
