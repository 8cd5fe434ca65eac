/**
 * What each chart shows of a series: its name and unit, its numbers as a table, and one sentence with the latest of them.
 * Picture, table, CSV and the text that is read aloud are made of the same points. Pure; a gap is null in all of them.
 */
import { formatCount } from "#components/ui/format.ts";
import type { Series } from "#db/console/read-series.ts";
import { formatAge, NO_DATA } from "#domain/queue-age.ts";
import { OUTCOME_GROUPS, type OutcomeGroup } from "#domain/series.ts";

export const CHART_KINDS = ["first-attempt", "due", "outcomes", "dead", "ends", "service"] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

export interface ChartColumn {
  label: string;
  /** How a value is written; CSV has the bare number with its unit in the heading. */
  unit: "time" | "ms" | "count" | "perMinute" | "text";
}

export interface ChartTable {
  columns: readonly ChartColumn[];
  rows: readonly (string | number | null)[][];
}

interface ChartSpec {
  title: string;
  unit: string;
  /** What the numbers are, for who has not seen the chart before. */
  about: string;
  table: (series: Series) => ChartTable;
  /** The latest numbers as a sentence. */
  latest: (series: Series) => string;
}

export const OUTCOME_LABELS: Readonly<Record<OutcomeGroup, string>> = {
  delivered: "Delivered",
  rateLimited: "429",
  permanent: "Permanent 4xx",
  serverError: "5xx",
  network: "Timeout, network",
  blocked: "Blocked",
};

const TIME: ChartColumn = { label: "Time", unit: "time" };

/** One moment of chart 1: the sampled age and the quantiles of its minute. */
export interface AgeRow {
  t: number;
  oldestMs: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
}

/** Samples and counted steps in one line of time: each sample with the quantiles of the step that it lies in. */
export function ageRows(series: Series): AgeRow[] {
  const steps = new Map(series.counts.map((point) => [point.t, point]));
  const rows = series.samples.map(({ t, oldestMs }) => {
    const step = steps.get(Math.floor(t / series.countStepMs) * series.countStepMs);
    const known = oldestMs === null ? undefined : step;
    return { t, oldestMs, p50Ms: known?.firstP50Ms ?? null, p95Ms: known?.firstP95Ms ?? null };
  });
  if (rows.length > 0) return rows;
  // A destination has no samples of its own.
  return series.counts.map(({ t, firstP50Ms, firstP95Ms }) => ({
    t,
    oldestMs: null,
    p50Ms: firstP50Ms,
    p95Ms: firstP95Ms,
  }));
}

/** Outcomes per minute of each step; null where nobody counted. */
export function outcomeRows(series: Series): ({ t: number } & Record<OutcomeGroup, number | null>)[] {
  return series.counts.map(({ t, minutes, outcomes }) => {
    const rate = (group: OutcomeGroup) => (outcomes === null ? null : outcomes[group] / Math.max(1, minutes));
    return {
      t,
      delivered: rate("delivered"),
      rateLimited: rate("rateLimited"),
      permanent: rate("permanent"),
      serverError: rate("serverError"),
      network: rate("network"),
      blocked: rate("blocked"),
    };
  });
}

/** "1" to "8", "9+". */
export function endLabel(index: number, buckets: number): string {
  return index + 1 < buckets ? String(index + 1) : `${index + 1}+`;
}

function lastOf<T>(points: readonly T[], value: (point: T) => number | null): number | null {
  for (let index = points.length - 1; index >= 0; index -= 1) {
    const point = points[index];
    const found = point === undefined ? null : value(point);
    if (found !== null) return found;
  }
  return null;
}

/** A ratio for people: "1.08", or "no data". */
export function formatRatio(value: number | null): string {
  return value === null ? NO_DATA : value.toFixed(2);
}

export const CHARTS: Readonly<Record<ChartKind, ChartSpec>> = {
  "first-attempt": {
    title: "First-attempt age",
    unit: "seconds, log",
    about: "p50 and p95 of deliveries tried in that time; max is the oldest that still waits",
    table: (series) => ({
      columns: [
        TIME,
        { label: "p50", unit: "ms" },
        { label: "p95", unit: "ms" },
        { label: "max (oldest waiting)", unit: "ms" },
      ],
      rows: ageRows(series).map(({ t, oldestMs, p50Ms, p95Ms }) => [t, p50Ms, p95Ms, oldestMs]),
    }),
    latest: (series) => {
      const p95 = lastOf(series.counts, (point) => point.firstP95Ms);
      const oldest = series.samples.at(-1)?.oldestMs ?? null;
      return `p95 ${formatAge(p95)}${series.level === "destination" ? "" : `, oldest waiting ${formatAge(oldest)}`}`;
    },
  },
  due: {
    title: "Due but unclaimed",
    unit: "seconds, log; count",
    about: "work whose moment has come; what people hold is not in it",
    table: (series) => ({
      columns: [
        TIME,
        { label: "Oldest", unit: "ms" },
        { label: "Count", unit: "count" },
        { label: "Held apart", unit: "count" },
        { label: "Held, oldest", unit: "ms" },
      ],
      rows: series.samples.map((point) => [
        point.t,
        point.dueMs,
        point.dueCount,
        point.heldCount,
        point.heldMs,
      ]),
    }),
    latest: (series) => {
      const last = series.samples.at(-1);
      if (last === undefined || last.dueMs === null) return NO_DATA;
      const held = (last.heldCount ?? 0) > 0 ? `, ${formatCount(last.heldCount ?? 0)} held apart` : "";
      return `oldest ${formatAge(last.dueMs)} of ${formatCount(last.dueCount ?? 0)}${held}`;
    },
  },
  outcomes: {
    title: "Outcomes",
    unit: "per minute",
    about: "what came of each attempt",
    table: (series) => ({
      columns: [
        TIME,
        ...OUTCOME_GROUPS.map((group) => ({ label: OUTCOME_LABELS[group], unit: "perMinute" as const })),
      ],
      rows: outcomeRows(series).map((row) => [row.t, ...OUTCOME_GROUPS.map((group) => row[group])]),
    }),
    latest: (series) => {
      const last = outcomeRows(series).at(-1);
      if (last === undefined || last.delivered === null) return NO_DATA;
      const others = OUTCOME_GROUPS.filter((group) => group !== "delivered" && (last[group] ?? 0) > 0);
      return [
        `${formatRate(last.delivered)} delivered`,
        ...others.map((group) => `${formatRate(last[group] ?? 0)} ${OUTCOME_LABELS[group].toLowerCase()}`),
      ].join(", ");
    },
  },
  dead: {
    title: "Dead letters",
    unit: "waiting, in and out",
    about: "waiting for a person; out means set aside by a person, or released by a replay",
    table: (series) => ({
      columns: [
        TIME,
        { label: "In", unit: "count" },
        { label: "Out", unit: "count" },
        { label: "Waiting", unit: "count" },
      ],
      rows: series.counts.map((point) => [point.t, point.deadIn, point.deadOut, deadAt(series, point.t)]),
    }),
    latest: (series) => {
      const dead = series.samples.at(-1)?.dead ?? null;
      const into = series.counts.reduce((sum, point) => sum + (point.deadIn ?? 0), 0);
      return `${dead === null ? NO_DATA : formatCount(dead)} waiting, ${formatCount(into)} came in this range`;
    },
  },
  ends: {
    title: "Attempts per delivery",
    unit: "deliveries that ended",
    about: "amplification is requests / distinct deliveries of the last 15 minutes",
    table: (series) => ({
      columns: [
        { label: "Attempts", unit: "text" },
        { label: "Deliveries", unit: "count" },
      ],
      rows: series.ends.counts.map((count, index) => [endLabel(index, series.ends.counts.length), count]),
    }),
    latest: ({ amplification, ends }) =>
      `amplification ${formatRatio(amplification.now)} (alert above ${amplification.alert}), ${formatRatio(ends.mean)} attempts a delivery in this range`,
  },
  service: {
    title: "Service time",
    unit: "seconds, log",
    about: "p50 and p95 of how long the endpoint took",
    table: (series) => ({
      columns: [TIME, { label: "p50", unit: "ms" }, { label: "p95", unit: "ms" }],
      rows: series.counts.map((point) => [point.t, point.serviceP50Ms, point.serviceP95Ms]),
    }),
    latest: (series) =>
      `p50 ${formatAge(lastOf(series.counts, (point) => point.serviceP50Ms))}, p95 ${formatAge(lastOf(series.counts, (point) => point.serviceP95Ms))}`,
  },
};

/** The depth at the end of a counted step, from the last sample inside it. */
function deadAt(series: Series, t: number): number | null {
  const inside = series.samples.filter((point) => point.t >= t && point.t < t + series.countStepMs);
  return lastOf(inside, (point) => point.dead);
}

/** A rate with as many digits as it needs: "0.2", "37". */
export function formatRate(perMinute: number): string {
  return perMinute > 0 && perMinute < 10
    ? String(Number(perMinute.toFixed(1)))
    : formatCount(Math.round(perMinute));
}

/** What is read aloud in place of a picture: whose, what, and the latest numbers. */
export function summaryOf(kind: ChartKind, name: string, series: Series): string {
  const { title, latest } = CHARTS[kind];
  const stopped = series.sampling ? "" : " Sampling has stopped: there is no newer data.";
  return `${title}, ${name}. Latest: ${latest(series)}.${stopped}`;
}

/** True when there is nothing to draw. */
export function isEmpty(kind: ChartKind, series: Series): boolean {
  if (kind === "ends") return series.ends.counts.every((count) => count === 0);
  if (kind === "due") return series.samples.length === 0;
  if (kind === "service") return series.counts.every((point) => point.serviceP95Ms === null);
  if (kind === "outcomes") return series.counts.every((point) => point.outcomes === null);
  return series.samples.length === 0 && series.counts.every((point) => point.requests === null);
}
