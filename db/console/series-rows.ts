/**
 * The statements behind tiles and charts: samples of ages and depths, and what was counted by the minute. They read rows
 * that were summed before, bounded by their range; none looks at an attempt, at the archive or at every live row.
 */

import type { ServiceClass } from "#domain/delivery.ts";
import { END_BUCKETS, FIRST_AGE_BOUNDS_MS, GAP_BUCKETS, SERVICE_BOUNDS_MS } from "#domain/series.ts";
import { DESTINATION_SUM_MS, SAMPLE_SUM_MS, TENANT_SUM_MS } from "../queue/sum-series.ts";
import type { Reader } from "./read-region.ts";
import { type SeriesLevel, tenantsOfLevel } from "./series-level.ts";

export interface Span {
  readonly from: Date;
  readonly to: Date;
  readonly stepMs: number;
}

/** The worst age of a step and its last depths, from samples that succeeded. */
export interface SampleRow {
  /** Start of the step, milliseconds since 1970. */
  t: number;
  oldest_ms: number;
  due_ms: number;
  due_count: number;
  held_ms: number;
  held_count: number;
  in_flight: number;
  dead: number;
}

/** What was counted in a step, by class. */
export interface CountRow {
  t: number;
  service_class: ServiceClass;
  requests: number;
  delivered: number;
  rate_limited: number;
  permanent: number;
  server_error: number;
  network: number;
  blocked: number;
  leases_expired: number;
  died: number;
  first_ages: number[];
  first_age_max_ms: number;
  services: number[];
  service_max_ms: number;
  ends: number[];
  end_attempts: number;
}

/** Steps that a statement may answer with. */
const MAX_STEPS = 400;
/** Samples of classes are kept in steps of this too. */
const COARSE_MS = 300_000;

function bin(column: string): string {
  return `(extract(epoch FROM date_bin($3::bigint * interval '1 millisecond', ${column}, 'epoch')) * 1000)::double precision`;
}

const SAMPLE_COLUMNS = `coalesce(max(s.oldest_ms), 0) AS oldest_ms, coalesce(max(s.due_ms), 0) AS due_ms,
         coalesce(max(s.due_count), 0) AS due_count, coalesce(max(s.held_ms), 0) AS held_ms,
         coalesce(max(s.held_count), 0) AS held_count, coalesce(max(s.in_flight), 0) AS in_flight`;
const SAMPLE_SUMS = `at, max(first_attempt_age_ms) AS oldest_ms, max(due_age_ms) AS due_ms, sum(due_count)::bigint AS due_count,
         max(held_age_ms) AS held_ms, sum(held_count)::bigint AS held_count, sum(in_flight)::bigint AS in_flight,
         sum(dead)::bigint AS dead`;

/**
 * Each moment of a successful sampling with the sums of its samples; one without samples is zero. The two are put together and not
 * joined: the newest rows are newer than what Postgres knows of the tables, and for the one row that it expects of them it would
 * sum all samples up again for each moment.
 */
function moments(scope: string, whose: string, bounds: (at: string) => string): string {
  return `
    SELECT ${SAMPLE_SUMS} FROM (
      SELECT r.at, true AS ok, 0::bigint AS first_attempt_age_ms, 0::bigint AS due_count, 0::bigint AS due_age_ms, 0::bigint AS held_count,
             0::bigint AS held_age_ms, 0::bigint AS in_flight, 0::bigint AS dead
        FROM sluice.sample_run r WHERE r.scope = ${scope} AND r.ok AND ${bounds("r.at")}
      UNION ALL
      SELECT s.at, false, s.first_attempt_age_ms, s.due_count, s.due_age_ms, s.held_count, s.held_age_ms, s.in_flight, s.dead
        FROM sluice.queue_sample s WHERE s.scope = ${scope} AND ${bounds("s.at")} AND ${whose}) m
     GROUP BY at HAVING bool_or(ok)`;
}

const LAST_DEAD = "coalesce((array_agg(s.dead ORDER BY s.at DESC))[1], 0) AS dead";

/** $1 from, $2 to, $3 step in ms, $4 samples of classes or of tenants, $5 the tenants. */
const SAMPLES = `
  SELECT ${bin("s.at")} AS t, ${SAMPLE_COLUMNS}, ${LAST_DEAD}
    FROM (${moments("$4", "($5::uuid[] IS NULL OR s.tenant_id = ANY ($5))", (at) => `${at} BETWEEN $1 AND $2`)}) s
   GROUP BY 1 ORDER BY 1 DESC LIMIT ${MAX_STEPS}`;

/** The same for the whole region in steps of 5 minutes and more. A step exists when one of its samplings succeeded. */
const COARSE_SAMPLES = `
  SELECT ${bin("s.at")} AS t, ${SAMPLE_COLUMNS}, ${LAST_DEAD}
    FROM (SELECT ${SAMPLE_SUMS} FROM sluice.queue_sample_5m WHERE at BETWEEN $1 AND $2 GROUP BY at) s
   GROUP BY 1 ORDER BY 1 DESC LIMIT ${MAX_STEPS}`;

/**
 * One tenant in steps of half an hour and more. $1 from, $2 to, $3 step in ms, $4 the tenant, $5 and $6 between which the sums are taken;
 * the samples themselves before and after. A step exists when one of its samplings succeeded.
 */
const SUMMED_SAMPLES = `
  SELECT ${bin("s.at")} AS t, ${SAMPLE_COLUMNS}, ${LAST_DEAD}
    FROM (${moments("'tenant'", "s.tenant_id = $4", (at) => `${at} >= $1 AND ${at} < $5`)}
    UNION ALL
    SELECT g.at, k.oldest_ms, k.due_ms, k.due_count, k.held_ms, k.held_count, k.in_flight, k.dead
      FROM generate_series($5::timestamptz, $6::timestamptz - interval '1 millisecond', ${SAMPLE_SUM_MS} * interval '1 millisecond') g(at)
     CROSS JOIN LATERAL (
       SELECT 1 FROM sluice.sample_run r
        WHERE r.scope = 'tenant' AND r.ok AND r.at >= g.at AND r.at < g.at + ${SAMPLE_SUM_MS} * interval '1 millisecond' LIMIT 1) r
      LEFT JOIN sluice.queue_sample_30m k ON k.tenant_id = $4 AND k.at = g.at
    UNION ALL ${moments("'tenant'", "s.tenant_id = $4", (at) => `${at} >= $6 AND ${at} <= $2`)}) s
   GROUP BY 1 ORDER BY 1 DESC LIMIT ${MAX_STEPS}`;

/** Oldest step first. A step without a successful sampling has no row. Destinations are not sampled. */
export async function readSamples(sql: Reader, level: SeriesLevel, span: Span): Promise<SampleRow[]> {
  if (level.kind === "destination") return [];
  const tenantIds = tenantsOfLevel(level);
  const range = [span.from, span.to, span.stepMs];
  if (tenantIds?.length === 1 && span.stepMs % SAMPLE_SUM_MS === 0) {
    const from = new Date(Math.ceil(span.from.getTime() / SAMPLE_SUM_MS) * SAMPLE_SUM_MS);
    const to = await summedTo(sql, { from, to: span.to }, SAMPLE_SUM_MS);
    return (await sql<SampleRow>(SUMMED_SAMPLES, [...range, tenantIds[0], from, to])).reverse();
  }
  const rows =
    tenantIds === null && span.stepMs >= COARSE_MS
      ? await sql<SampleRow>(COARSE_SAMPLES, range)
      : await sql<SampleRow>(SAMPLES, [...range, tenantIds === null ? "class" : "tenant", tenantIds]);
  return rows.reverse();
}

const RUNS = `SELECT ${bin("at")} AS t FROM sluice.sample_run WHERE scope = 'class' AND ok AND at BETWEEN $1 AND $2 GROUP BY 1 LIMIT ${MAX_STEPS}`;
const COARSE_RUNS = `SELECT ${bin("at")} AS t FROM sluice.queue_sample_5m WHERE at BETWEEN $1 AND $2 GROUP BY 1 LIMIT ${MAX_STEPS}`;

/** The steps in which the region's workers said something: there, nothing counted is zero; elsewhere it is no data. */
export async function readRuns(sql: Reader, span: Span): Promise<Set<number>> {
  const rows = await sql<{ t: number }>(span.stepMs >= COARSE_MS ? COARSE_RUNS : RUNS, [
    span.from,
    span.to,
    span.stepMs,
  ]);
  return new Set(rows.map((row) => row.t));
}

function sums(column: string, length: number): string {
  const items = Array.from({ length }, (_, index) => `coalesce(sum(${column}[${index + 1}]), 0)`);
  return `ARRAY[${items.join(", ")}]::double precision[] AS ${column}`;
}

function total(column: string): string {
  return `sum(${column})::double precision AS ${column}`;
}

/** $4 the tenant or destination, or the tenants of a region's scope. Each form has its own partial index. */
function levelClause(level: SeriesLevel): { where: string; value: unknown } {
  if (level.kind === "destination") return { where: "destination_id = $4::uuid", value: level.destinationId };
  const tenantIds = tenantsOfLevel(level);
  if (tenantIds === null) return { where: "tenant_id IS NULL AND $4::uuid[] IS NULL", value: null };
  return { where: "destination_id IS NULL AND tenant_id = ANY ($4::uuid[])", value: tenantIds };
}

const TOTALS = [
  "requests",
  "delivered",
  "rate_limited",
  "permanent",
  "server_error",
  "network",
  "blocked",
  "leases_expired",
  "died",
  "end_attempts",
] as const;
const HISTOGRAMS: readonly string[] = ["first_ages", "ends", "services"];
/** What a sum has of its minutes. */
const SUMMED = [...TOTALS, "first_ages", "first_age_max_ms", "ends"] as const;

const COUNTS = `
         ${TOTALS.map(total).join(", ")},
         ${sums("first_ages", FIRST_AGE_BOUNDS_MS.length + 1)}, max(first_age_max_ms)::double precision AS first_age_max_ms,
         ${sums("ends", END_BUCKETS)}`;

/** Only a destination has a service time; summing one over endpoints says nothing and costs a third of the statement. */
const SERVICES = `${sums("services", SERVICE_BOUNDS_MS.length + 1)}, max(service_max_ms)::double precision AS service_max_ms`;
const NO_SERVICES = "'{}'::double precision[] AS services, 0::double precision AS service_max_ms";

/** Minutes of a region are kept in sums of this too, which the running one is among. */
const QUARTER_MS = 900_000;

/** The sums of minutes that a level has. */
interface Sums {
  readonly table: "series_quarter" | "series_sum";
  readonly where: string;
  readonly widthMs: number;
  readonly columns: readonly string[];
  /** Of what its histograms are. */
  readonly count: "bigint" | "integer";
}

function sumsOf(level: SeriesLevel): Sums {
  const { where, value } = levelClause(level);
  if (value === null) {
    const region = { where: "$4::uuid[] IS NULL", widthMs: QUARTER_MS, count: "bigint" } as const;
    return { ...region, table: "series_quarter", columns: SUMMED };
  }
  const own = { table: "series_sum", where, count: "integer" } as const;
  return level.kind === "destination"
    ? { ...own, widthMs: DESTINATION_SUM_MS, columns: [...SUMMED, "services", "service_max_ms"] }
    : { ...own, widthMs: TENANT_SUM_MS, columns: SUMMED };
}

/** The sums that hold, and the minutes since; $5 is where they meet. */
function sumsText({ table, where, columns, count }: Sums, whereMinutes: string): string {
  const list = columns
    .map((column) => (HISTOGRAMS.includes(column) ? `${column}::${count}[] AS ${column}` : column))
    .join(", ");
  return `(
  SELECT at AS minute, service_class, ${list} FROM sluice.${table} WHERE at >= $1 AND at < $5::timestamptz AND ${where}
  UNION ALL
  SELECT minute, service_class, ${list} FROM sluice.series_minute WHERE minute >= $5 AND minute < $2 AND ${whereMinutes}) s`;
}

/** Where the sums of tenants and destinations end, within the range and on a step of theirs. */
async function summedTo(sql: Reader, { from, to }: Omit<Span, "stepMs">, widthMs: number): Promise<Date> {
  const [row] = await sql<{ at: Date }>(
    "SELECT summed_to AS at FROM sluice.series_summed WHERE what = 'series'",
  );
  const end = Math.floor(to.getTime() / widthMs) * widthMs;
  return new Date(Math.max(from.getTime(), Math.min(row?.at.getTime() ?? 0, end)));
}

/** Steps that had an attempt, oldest first; from the minute of `from` to before the minute of `to`. */
export async function readCounts(sql: Reader, level: SeriesLevel, span: Span): Promise<CountRow[]> {
  const { where, value } = levelClause(level);
  const values: unknown[] = [span.from, span.to, span.stepMs, value];
  const select = `SELECT ${bin("minute")} AS t, service_class, ${COUNTS}, ${level.kind === "destination" ? SERVICES : NO_SERVICES}`;
  const group = `GROUP BY 1, 2 ORDER BY 1 DESC LIMIT ${2 * MAX_STEPS}`;
  const kept = sumsOf(level);
  if (inSteps(span, kept.widthMs)) {
    const end = new Date(Math.floor(span.to.getTime() / QUARTER_MS) * QUARTER_MS);
    values.push(value === null ? end : await summedTo(sql, span, kept.widthMs));
    return (await sql<CountRow>(`${select} FROM ${sumsText(kept, where)} ${group}`, values)).reverse();
  }
  const rows = await sql<CountRow>(
    `${select}
       FROM sluice.series_minute
      WHERE minute >= date_trunc('minute', $1::timestamptz) AND minute < $2 AND ${where}
      ${group}`,
    values,
  );
  return rows.reverse();
}

/** Whole sums in each step, and the first of them whole. */
function inSteps({ from, stepMs }: Span, widthMs: number): boolean {
  return stepMs % widthMs === 0 && from.getTime() % widthMs === 0;
}

/** Requests of each minute with the gaps to those before them, oldest first. For a span of minutes, not of days. */
export async function readGaps(
  sql: Reader,
  level: SeriesLevel,
  span: Omit<Span, "stepMs">,
): Promise<{ t: number; requests: number; gaps: number[] }[]> {
  const { where, value } = levelClause(level);
  return sql(
    `SELECT ${bin("minute")} AS t, ${total("requests")}, ${sums("gaps", GAP_BUCKETS)}
       FROM sluice.series_minute
      WHERE minute >= date_trunc('minute', $1::timestamptz) AND minute < $2 AND ${where}
      GROUP BY 1 ORDER BY 1 LIMIT ${MAX_STEPS}`,
    [span.from, span.to, 60_000, value],
  );
}

/** Dead letters that one statement counts as gone. */
const MAX_GONE = 100_000;

/** $4 the tenants, $5 the destination. */
const SET_ASIDE = `
  SELECT ${bin("g.at")} AS t, count(*)::integer AS n FROM (
    SELECT d.will_not_replay_at AS at FROM sluice.dead_letter d
     WHERE d.will_not_replay_at BETWEEN $1 AND $2 AND ($4::uuid[] IS NULL OR d.tenant_id = ANY ($4))
       AND ($5::uuid IS NULL OR d.destination_id = $5) LIMIT ${MAX_GONE}) g
   GROUP BY 1 LIMIT ${MAX_STEPS}`;

/** The same of what replays released. Whose it was stands with the delivery, wherever that is by now. */
const RELEASED = `
  SELECT ${bin("g.at")} AS t, count(*)::integer AS n FROM (
    SELECT i.released_at AS at FROM sluice.replay_item i
     WHERE i.released_at BETWEEN $1 AND $2
       AND ($4::uuid[] IS NULL OR EXISTS (SELECT 1 FROM sluice.delivery_all a WHERE a.id = i.delivery_id AND a.tenant_id = ANY ($4)
                                                 AND ($5::uuid IS NULL OR a.destination_id = $5)))
     LIMIT ${MAX_GONE}) g
   GROUP BY 1 LIMIT ${MAX_STEPS}`;
/** Most ranges have no replay: then the view over all partitions is not even planned. */
const ANY_RELEASED = "SELECT 1 FROM sluice.replay_item i WHERE i.released_at BETWEEN $1 AND $2 LIMIT 1";

/** How many dead letters stopped waiting in each step: set aside by a person, or released by a replay. */
export async function readGone(sql: Reader, level: SeriesLevel, span: Span): Promise<Map<number, number>> {
  const destinationId = level.kind === "destination" ? level.destinationId : null;
  const values = [span.from, span.to, span.stepMs, tenantsOfLevel(level), destinationId];
  const replayed = (await sql(ANY_RELEASED, [span.from, span.to])).length > 0;
  const gone = new Map<number, number>();
  for (const text of replayed ? [SET_ASIDE, RELEASED] : [SET_ASIDE]) {
    for (const { t, n } of await sql<{ t: number; n: number }>(text, values))
      gone.set(t, (gone.get(t) ?? 0) + n);
  }
  return gone;
}
