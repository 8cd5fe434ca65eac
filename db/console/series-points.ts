/**
 * Rows of the series -> points that a chart and its table show. Pure. Null is "no data" in every field; a zero is a
 * measurement, and nothing here may make one of the other.
 */
import {
  amplificationAt,
  END_BUCKETS,
  FIRST_AGE_BOUNDS_MS,
  meanAttempts,
  OUTCOME_GROUPS,
  type OutcomeGroup,
  quantileOf,
  SERVICE_BOUNDS_MS,
} from "#domain/series.ts";
import { SAMPLE_LIMIT_MS } from "./objectives.ts";
import type { CountRow, SampleRow, Span } from "./series-rows.ts";

/** The worst ages of one step and its last depths; all values are null in a gap. Milliseconds. */
export interface SamplePoint {
  /** Start of the step, milliseconds since 1970. */
  t: number;
  /** Oldest first attempt that waits. */
  oldestMs: number | null;
  dueMs: number | null;
  dueCount: number | null;
  heldMs: number | null;
  heldCount: number | null;
  inFlight: number | null;
  /** Dead letters that wait for a person. */
  dead: number | null;
}

/** What was counted in one step; all counts are null where nobody counted. */
export interface CountPoint {
  t: number;
  /** Minutes of the step that are over; counts are of these. */
  minutes: number;
  outcomes: Record<OutcomeGroup, number> | null;
  requests: number | null;
  /** Of deliveries whose first request began in the step, from their due time; null when none did. */
  firstP50Ms: number | null;
  firstP95Ms: number | null;
  firstMaxMs: number | null;
  serviceP50Ms: number | null;
  serviceP95Ms: number | null;
  /** Deliveries that became dead letters, and dead letters that stopped waiting. */
  deadIn: number | null;
  deadOut: number | null;
}

/** Deliveries that ended, by their number of attempts; the last bucket holds that many and more. */
export interface Ends {
  counts: number[];
  mean: number | null;
}

/** A sampled step. */
export function toSample(row: SampleRow): SamplePoint {
  return {
    t: row.t,
    oldestMs: row.oldest_ms,
    dueMs: row.due_ms,
    dueCount: row.due_count,
    heldMs: row.held_ms,
    heldCount: row.held_count,
    inFlight: row.in_flight,
    dead: row.dead,
  };
}

const NO_SAMPLE = {
  oldestMs: null,
  dueMs: null,
  dueCount: null,
  heldMs: null,
  heldCount: null,
  inFlight: null,
  dead: null,
} as const;

/** Puts one empty point into every span in which a sample is missing, so that a line breaks there. */
export function withGaps(
  points: readonly SamplePoint[],
  stepMs: number,
  limitMs = SAMPLE_LIMIT_MS,
): SamplePoint[] {
  const filled: SamplePoint[] = [];
  // A sample may slip by one step; and a sampling every 5 s can leave a 5 s step empty once in a while.
  const longestMs = Math.max(2 * stepMs, limitMs);
  for (const point of points) {
    const before = filled.at(-1);
    if (before !== undefined && point.t - before.t > longestMs) {
      filled.push({ t: before.t + stepMs, ...NO_SAMPLE });
    }
    filled.push(point);
  }
  return filled;
}

/** Adds histograms of equal length. */
export function addCounts(rows: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const row of rows) for (const [index, count] of row.entries()) sum[index] = (sum[index] ?? 0) + count;
  return sum;
}

/** Every step of the span, oldest first: a step without rows is zero where somebody counted and empty elsewhere. */
export function toCounts(
  rows: readonly CountRow[],
  known: { readonly runs: ReadonlySet<number>; readonly gone: ReadonlyMap<number, number> },
  span: Span,
): CountPoint[] {
  const byStep = Map.groupBy(rows, (row) => row.t);
  const points: CountPoint[] = [];
  const toMs = span.to.getTime();
  for (let t = span.from.getTime(); t < toMs; t += span.stepMs) {
    const step = byStep.get(t) ?? [];
    const minutes = Math.round((Math.min(t + span.stepMs, toMs) - t) / 60_000);
    const counted = step.length > 0 || known.runs.has(t);
    points.push({ t, minutes, ...countsOf(step, counted, known.gone.get(t) ?? 0) });
  }
  return points;
}

function countsOf(
  rows: readonly CountRow[],
  counted: boolean,
  gone: number,
): Omit<CountPoint, "t" | "minutes"> {
  const sum = (column: "requests" | "died") => rows.reduce((total, row) => total + row[column], 0);
  const ages = addCounts(rows.map((row) => row.first_ages));
  const services = addCounts(rows.map((row) => row.services));
  const firstMax = Math.max(0, ...rows.map((row) => row.first_age_max_ms));
  const serviceMax = Math.max(0, ...rows.map((row) => row.service_max_ms));
  return {
    outcomes: counted ? outcomesOf(rows) : null,
    requests: counted ? sum("requests") : null,
    firstP50Ms: quantileOf(ages, FIRST_AGE_BOUNDS_MS, 0.5, firstMax),
    firstP95Ms: quantileOf(ages, FIRST_AGE_BOUNDS_MS, 0.95, firstMax),
    firstMaxMs: ages.some((count) => count > 0) ? firstMax : null,
    serviceP50Ms: quantileOf(services, SERVICE_BOUNDS_MS, 0.5, serviceMax),
    serviceP95Ms: quantileOf(services, SERVICE_BOUNDS_MS, 0.95, serviceMax),
    deadIn: counted ? sum("died") : null,
    deadOut: counted ? gone : null,
  };
}

const COLUMN_OF = {
  delivered: "delivered",
  rateLimited: "rate_limited",
  permanent: "permanent",
  serverError: "server_error",
  network: "network",
  blocked: "blocked",
} as const satisfies Record<OutcomeGroup, keyof CountRow>;

function outcomesOf(rows: readonly CountRow[]): Record<OutcomeGroup, number> {
  const outcomes = { delivered: 0, rateLimited: 0, permanent: 0, serverError: 0, network: 0, blocked: 0 };
  for (const row of rows) for (const group of OUTCOME_GROUPS) outcomes[group] += row[COLUMN_OF[group]];
  return outcomes;
}

/** The deliveries of a range that ended. */
export function endsOf(rows: readonly CountRow[]): Ends {
  const counts = addCounts([new Array<number>(END_BUCKETS).fill(0), ...rows.map((row) => row.ends)]);
  return {
    counts,
    mean: meanAttempts(
      counts,
      rows.reduce((sum, row) => sum + row.end_attempts, 0),
    ),
  };
}

/** Requests / distinct deliveries over the minutes before `toMs`, which is the start of a minute. */
export function amplificationOf(
  rows: readonly { t: number; requests: number; gaps: readonly number[] }[],
  toMs: number,
): number | null {
  return amplificationAt(
    rows.map(({ t, requests, gaps }) => ({ minuteMs: t, requests, gaps })),
    toMs - 60_000,
  );
}
