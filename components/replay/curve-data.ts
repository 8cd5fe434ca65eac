/** The curves of a batch as rows of numbers. Pure; a step without a reading is null and stays a gap. */
import type { ReplayPoint, ReplaySeries } from "#db/console/replay/replay-views.ts";

export interface CurveRow {
  t: number;
  perMinute: number;
  delivered: number;
  rateLimited: number | null;
  failed: number | null;
  dueSeconds: number | null;
}

const PERCENT = 100;
const SECOND_MS = 1_000;

export function curveRows({ points }: Pick<ReplaySeries, "points">): CurveRow[] {
  return points.map((point) => ({
    t: Date.parse(point.at),
    perMinute: point.perMinute,
    delivered: point.delivered,
    rateLimited: percent(point.rateLimitedShare),
    failed: percent(point.failedShare),
    dueSeconds: point.dueLagMs === null ? null : point.dueLagMs / SECOND_MS,
  }));
}

function percent(share: number | null): number | null {
  return share === null ? null : share * PERCENT;
}

/** The newest reading there is, or null. */
export function lastValue(
  { points }: Pick<ReplaySeries, "points">,
  pick: (point: ReplayPoint) => number | null,
): number | null {
  for (let index = points.length - 1; index >= 0; index -= 1) {
    const point = points[index];
    const value = point === undefined ? null : pick(point);
    if (value !== null) return value;
  }
  return null;
}
