/**
 * How the two ages of a region went over a time range, from the samples that its workers store every 5 s.
 * A span without a successful sampling is a gap, given as a point without values; it is never bridged and never zero.
 */
import type { ServiceClass } from "#domain/delivery.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { DUE_LAG, OBJECTIVES, type Objective, SAMPLE_LIMIT_MS } from "./objectives.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** The ranges that can be asked for, with the width of one point. At most 360 points a range. */
export const SERIES_RANGES = {
  "15m": { rangeMs: 15 * 60_000, stepMs: 5_000 },
  "1h": { rangeMs: 60 * 60_000, stepMs: 10_000 },
  "6h": { rangeMs: 6 * 60 * 60_000, stepMs: 60_000 },
  "24h": { rangeMs: 24 * 60 * 60_000, stepMs: 4 * 60_000 },
} as const;
export type SeriesRange = keyof typeof SERIES_RANGES;

/** The worst of one step; both values are null in a gap. */
export interface AgePoint {
  /** Start of the step, milliseconds since 1970. */
  t: number;
  firstAttemptMs: number | null;
  dueMs: number | null;
  dueCount: number | null;
}

export interface AgeSeries {
  fromMs: number;
  toMs: number;
  stepMs: number;
  points: AgePoint[];
  /** False when no sample was stored lately: the line ends and the page says "no data". */
  sampling: boolean;
  lastSampleAt: string | null;
  objectives: Readonly<Record<ServiceClass, Objective>>;
  dueLag: typeof DUE_LAG;
}

/** How long the samples of single tenants, which are taken once a minute, may be apart. */
const TENANT_STEP_MS = 60_000;
const TENANT_SAMPLE_LIMIT_MS = 3 * TENANT_STEP_MS;

/** $1 from, $2 to, $3 step in ms, $4 the most points, $5 the samples: of classes or of tenants, $6 the tenants. */
const SERIES = `
  SELECT (extract(epoch FROM date_bin($3::integer * interval '1 millisecond', r.at, 'epoch')) * 1000)::double precision AS t,
         coalesce(max(s.first_attempt_age_ms), 0) AS first_ms, coalesce(max(s.due_age_ms), 0) AS due_ms,
         coalesce(max(s.due_count), 0) AS due_count
    FROM sluice.sample_run r
    LEFT JOIN (SELECT at, max(first_attempt_age_ms) AS first_attempt_age_ms, max(due_age_ms) AS due_age_ms,
                      sum(due_count)::bigint AS due_count
                 FROM sluice.queue_sample WHERE scope = $5 AND at BETWEEN $1 AND $2
                         AND ($6::uuid[] IS NULL OR tenant_id = ANY ($6)) GROUP BY at) s ON s.at = r.at
   WHERE r.scope = $5 AND r.ok AND r.at BETWEEN $1 AND $2
   GROUP BY 1 ORDER BY 1 DESC LIMIT $4`;

/**
 * Reads one region's series, oldest point first. A scope of some tenants is read from the samples of tenants, with steps
 * of a minute at least: the samples of classes hold everybody's work.
 * @throws SluiceError `not_found` for a region outside the scope.
 */
export async function readAgeSeries(
  access: AccessScope,
  region: Region,
  range: SeriesRange,
): Promise<RegionAnswer<AgeSeries>> {
  const tenantIds = tenantsIn(access, region);
  const samples = tenantIds === null ? "class" : "tenant";
  const { rangeMs } = SERIES_RANGES[range];
  const stepMs = Math.max(SERIES_RANGES[range].stepMs, tenantIds === null ? 0 : TENANT_STEP_MS);
  const limitMs = tenantIds === null ? SAMPLE_LIMIT_MS : TENANT_SAMPLE_LIMIT_MS;
  return readRegion(region, async (sql, asOf) => {
    const from = new Date(asOf.getTime() - rangeMs);
    const rows = await sql<SeriesRow>(SERIES, [
      from,
      asOf,
      stepMs,
      Math.ceil(rangeMs / stepMs) + 1,
      samples,
      tenantIds,
    ]);
    const [latest] = await sql<{ at: Date | null }>(
      "SELECT max(at) AS at FROM sluice.sample_run WHERE scope = $2 AND ok AND at <= $1",
      [asOf, samples],
    );
    const last = latest?.at ?? null;
    return {
      fromMs: from.getTime(),
      toMs: asOf.getTime(),
      stepMs,
      points: withGaps(rows.reverse().map(toPoint), stepMs, limitMs),
      sampling: last !== null && asOf.getTime() - last.getTime() <= limitMs,
      lastSampleAt: last?.toISOString() ?? null,
      objectives: OBJECTIVES,
      dueLag: DUE_LAG,
    };
  });
}

interface SeriesRow {
  t: number;
  first_ms: number;
  due_ms: number;
  due_count: number;
}

function toPoint(row: SeriesRow): AgePoint {
  return { t: row.t, firstAttemptMs: row.first_ms, dueMs: row.due_ms, dueCount: row.due_count };
}

/** Puts one empty point into every span in which a sample is missing, so that a line breaks there. */
export function withGaps(points: readonly AgePoint[], stepMs: number, limitMs = SAMPLE_LIMIT_MS): AgePoint[] {
  const filled: AgePoint[] = [];
  // A sample may slip by one step; and a sampling every 5 s can leave a 5 s step empty once in a while.
  const longestMs = Math.max(2 * stepMs, limitMs);
  for (const point of points) {
    const before = filled.at(-1);
    if (before !== undefined && point.t - before.t > longestMs) {
      filled.push({ t: before.t + stepMs, firstAttemptMs: null, dueMs: null, dueCount: null });
    }
    filled.push(point);
  }
  return filled;
}
