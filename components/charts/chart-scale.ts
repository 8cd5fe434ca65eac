/**
 * The axes of the charts. Ages stand on a logarithmic scale of seconds, so that 40 ms and 6 minutes can be read in one
 * picture. A logarithm has no zero: ages under the floor are drawn on it and named exactly in tooltip and table.
 */
import { formatInstant, formatMinute, type Zone } from "#components/ui/format.ts";
import type { Series } from "#db/console/read-series.ts";
import { OUTCOME_GROUPS } from "#domain/series.ts";

/** The lowest line of an age chart, in seconds. */
export const FLOOR_SECONDS = 0.01;
const TICK_SECONDS = [0.01, 0.1, 1, 10, 60, 600, 3_600, 36_000, 360_000];
/** The highest line is never below this, so that the objective lines are always in sight. */
const LEAST_TOP_SECONDS = 600;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TIME_STEPS_MS = [
  60_000,
  3 * 60_000,
  5 * 60_000,
  10 * 60_000,
  15 * 60_000,
  HOUR_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
];
const MOST_TIME_TICKS = 6;
const ROUND = [1, 2, 4, 5, 8, 10];

/** The tops of all scales, shared by the pictures of one panel so that their heights can be compared. */
export interface ChartScale {
  /** Seconds. */
  top: number;
  dueCount: number;
  perMinute: number;
  dead: number;
  deadFlow: number;
  ends: number;
}

/** The scale that fits every series; never 0. */
export function scaleOf(all: readonly Series[]): ChartScale {
  const most = (values: (series: Series) => (number | null)[]) =>
    all.reduce(
      (top, series) => values(series).reduce<number>((max, value) => Math.max(max, value ?? 0), top),
      0,
    );
  const highest = Math.max(
    LEAST_TOP_SECONDS,
    most((series) => series.samples.map((point) => Math.max(point.oldestMs ?? 0, point.dueMs ?? 0))) / 1_000,
    most((series) => series.counts.map((point) => point.firstP95Ms)) / 1_000,
    most((series) => series.counts.map((point) => point.serviceP95Ms)) / 1_000,
  );
  return {
    top: TICK_SECONDS.find((tick) => tick >= highest) ?? highest,
    dueCount: roundTop(most((series) => series.samples.map((point) => point.dueCount))),
    perMinute: roundTop(most((series) => series.counts.map((point) => perMinuteOf(point)))),
    dead: roundTop(most((series) => series.samples.map((point) => point.dead))),
    deadFlow: roundTop(
      most((series) => series.counts.map((point) => Math.max(point.deadIn ?? 0, point.deadOut ?? 0))),
    ),
    ends: roundTop(most((series) => series.ends.counts)),
  };
}

/** The next round number: 1, 2, 4, 5, 8 or 10 times a power of ten; never below 1. */
function roundTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return ROUND.map((step) => step * power).find((top) => top >= value) ?? 10 * power;
}

function perMinuteOf({ outcomes, minutes }: Series["counts"][number]): number {
  if (outcomes === null) return 0;
  return OUTCOME_GROUPS.reduce((sum, group) => sum + outcomes[group], 0) / Math.max(1, minutes);
}

/** Milliseconds -> seconds on the floor or above it; no data stays no data. */
export function onScale(ms: number | null): number | null {
  return ms === null ? null : Math.max(FLOOR_SECONDS, ms / 1_000);
}

/** The tick values up to the top. */
export function ageTicks(top: number): number[] {
  return TICK_SECONDS.filter((tick) => tick <= top);
}

/** "10 ms", "1 s", "10 m", "1 h". */
export function ageTickLabel(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${seconds / 60} m`;
  return `${seconds / 3_600} h`;
}

/** Round moments inside the range, also inside its gaps. */
export function timeTicks(fromMs: number, toMs: number): number[] {
  const step = TIME_STEPS_MS.find((ms) => (toMs - fromMs) / ms <= MOST_TIME_TICKS) ?? DAY_MS;
  const ticks: number[] = [];
  for (let tick = Math.ceil(fromMs / step) * step; tick <= toMs; tick += step) ticks.push(tick);
  return ticks;
}

/** "14:05" in the zone of the page; over more than a day "30 Nov". */
export function timeTickLabel(ms: number, zone: Zone, spanMs: number): string {
  const iso = new Date(ms).toISOString();
  return spanMs > DAY_MS ? formatInstant(iso, zone).slice(0, 6) : formatMinute(iso, zone);
}

/** Where the labels at the ends of lines go, so that none covers another: pixels from the top, in the order given. */
export function endLabels(
  seconds: readonly (number | null)[],
  { top, height, gap }: { readonly top: number; readonly height: number; readonly gap: number },
): (number | null)[] {
  const decades = Math.log10(top / FLOOR_SECONDS);
  const places = seconds.map((value, index) => ({
    index,
    y: value === null ? null : height * (1 - Math.log10(Math.min(top, value) / FLOOR_SECONDS) / decades),
  }));
  const shown = places.filter((place) => place.y !== null).sort((a, b) => (a.y ?? 0) - (b.y ?? 0));
  let lowest = Number.NEGATIVE_INFINITY;
  for (const place of shown) {
    place.y = Math.max(place.y ?? 0, lowest + gap);
    lowest = place.y;
  }
  // What was pushed below the picture goes up again, and pushes those above it.
  let highest = height;
  for (const place of shown.reverse()) {
    place.y = Math.min(place.y ?? 0, highest);
    highest = place.y - gap;
  }
  return places.map((place) => place.y);
}
