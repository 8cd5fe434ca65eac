/**
 * The axes of the age charts: seconds on a logarithmic scale, so that 0.4 s and 6 minutes can be read in one picture.
 * A logarithm has no zero: ages under the floor are drawn on it and named exactly in tooltip and table.
 */

import { formatClock, type Zone } from "#components/ui/format.ts";
import type { AgePoint } from "#db/console/read-age-series.ts";

/** The lowest line of the chart, in seconds. */
export const FLOOR_SECONDS = 0.1;
const TICK_SECONDS = [0.1, 1, 10, 60, 600, 3_600, 36_000, 360_000];
/** The highest line is never below this, so that the objective lines are always in sight. */
const LEAST_TOP_SECONDS = 600;
const TIME_STEPS_MS = [
  60_000,
  3 * 60_000,
  5 * 60_000,
  10 * 60_000,
  15 * 60_000,
  60 * 60_000,
  2 * 3_600_000,
  6 * 3_600_000,
];
const MOST_TIME_TICKS = 6;

/** A point as the chart draws it; the exact values stand beside the drawn ones. */
export interface DrawnPoint extends AgePoint {
  firstDrawn: number | null;
  dueDrawn: number | null;
}

/** Milliseconds -> seconds on the floor or above it; a gap stays a gap. */
export function drawn(points: readonly AgePoint[]): DrawnPoint[] {
  return points.map((point) => ({
    ...point,
    firstDrawn: onScale(point.firstAttemptMs),
    dueDrawn: onScale(point.dueMs),
  }));
}

function onScale(ms: number | null): number | null {
  return ms === null ? null : Math.max(FLOOR_SECONDS, ms / 1_000);
}

/** The top that all charts of a page share, so that their heights can be compared. */
export function topSeconds(series: readonly (readonly AgePoint[])[]): number {
  let highest = LEAST_TOP_SECONDS;
  for (const points of series) {
    for (const point of points)
      highest = Math.max(highest, (point.firstAttemptMs ?? 0) / 1_000, (point.dueMs ?? 0) / 1_000);
  }
  return TICK_SECONDS.find((tick) => tick >= highest) ?? highest;
}

/** The tick values up to the top. */
export function ageTicks(top: number): number[] {
  return TICK_SECONDS.filter((tick) => tick <= top);
}

/** "0.1 s", "1 m", "10 m", "1 h". */
export function ageTickLabel(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${seconds / 60} m`;
  return `${seconds / 3_600} h`;
}

/** Round moments inside the range, also inside its gaps. */
export function timeTicks(fromMs: number, toMs: number): number[] {
  const step = TIME_STEPS_MS.find((ms) => (toMs - fromMs) / ms <= MOST_TIME_TICKS) ?? 24 * 3_600_000;
  const ticks: number[] = [];
  for (let tick = Math.ceil(fromMs / step) * step; tick <= toMs; tick += step) ticks.push(tick);
  return ticks;
}

/** "14:05" in the zone of the page. */
export function timeTickLabel(ms: number, zone: Zone): string {
  return formatClock(new Date(ms).toISOString(), zone).slice(0, 5);
}
