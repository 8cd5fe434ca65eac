/**
 * The curves of a batch: what it released and what came of it, step by step, beside the region's own ages. Reads only. The
 * number of points is bounded, however long the batch ran; no attempt is a real zero, and no sample is a gap.
 */
import { fromPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { isEnded, type ReplayState } from "#domain/replay.ts";
import type { ReplayPlan } from "#domain/replay-plan.ts";
import { MAX_REPLAY_POINTS, replayStepMs } from "#domain/replay-series.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import { eventsOf } from "./read-replay.ts";
import { scopeTerm } from "./replay-row.ts";
import type { ReplayPoint, ReplaySeries } from "./replay-views.ts";

const MINUTE_MS = 60_000;
const MAX_MARKS = 100;
const MARKS =
  "(e.kind IN ('lane_stopped', 'lane_held', 'lane_goes_on', 'rate') OR e.from_state IS NOT NULL AND e.to_state NOT IN ('draft', 'in_review', 'approved'))";

interface SpanRow {
  state: ReplayState;
  plan: ReplayPlan;
  from_ms: number | null;
  to_ms: number;
  rate: number | null;
}

const SPAN = `
  SELECT b.state, b.plan, (extract(epoch FROM b.started_at) * 1000)::float8 AS from_ms,
         (extract(epoch FROM coalesce(b.ended_at, clock_timestamp())) * 1000)::float8 AS to_ms,
         (SELECT sum(least(l.rate_per_second, coalesce(b.rate_cap, l.rate_per_second)))::float8 FROM sluice.replay_lane l
           WHERE l.batch_id = b.id AND l.stopped_at IS NULL AND b.state <> 'draft') AS rate
    FROM sluice.replay_batch b WHERE b.id = $1`;

// $1 batch, $2 and $3 the span in milliseconds, $4 the step. A bucket is counted from the beginning of the span.
const BUCKET = (column: string) =>
  `floor(((extract(epoch FROM ${column}) * 1000)::float8 - $2::float8) / $4::float8)::integer`;

const ATTEMPTS = `
  SELECT ${BUCKET("a.started_at")} AS step, count(*)::integer AS requests, count(*) FILTER (WHERE a.outcome = 'delivered')::integer AS delivered,
         count(*) FILTER (WHERE a.outcome = 'rate_limited')::integer AS rate_limited
    FROM sluice.attempt a
   WHERE a.replay_batch_id = $1 AND a.kind IN ('http', 'not_sent')
     AND a.started_at >= to_timestamp($2::float8 / 1000) AND a.started_at <= to_timestamp($3::float8 / 1000)
   GROUP BY 1 LIMIT ${MAX_REPLAY_POINTS}`;

const RELEASED = `
  SELECT ${BUCKET("i.released_at")} AS step, count(*)::integer AS released FROM sluice.replay_item i
   WHERE i.batch_id = $1 AND i.released_at >= to_timestamp($2::float8 / 1000) AND i.released_at <= to_timestamp($3::float8 / 1000)
   GROUP BY 1 LIMIT ${MAX_REPLAY_POINTS}`;

const SAMPLES = `
  SELECT ${BUCKET("q.at")} AS step, max(q.due_age_ms)::float8 AS due_lag_ms, max(q.first_attempt_age_ms)::float8 AS first_age_ms
    FROM sluice.queue_sample q
   WHERE $1::uuid IS NOT NULL AND q.scope = 'class' AND q.at >= to_timestamp($2::float8 / 1000) AND q.at <= to_timestamp($3::float8 / 1000)
   GROUP BY 1 LIMIT ${MAX_REPLAY_POINTS}`;

/** Null when there is no such batch in the scope. @throws SluiceError `not_found` for a region outside it, `bad_id` */
export async function readReplaySeries(
  access: AccessScope,
  region: Region,
  batchId: string,
): Promise<RegionAnswer<ReplaySeries | null>> {
  const tenants = tenantsIn(access, region);
  const id = fromPublicId("rpl", batchId);
  return readRegion(region, async (sql) => {
    const values: unknown[] = [id];
    const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
    const [span] = await sql<SpanRow>(`${SPAN} AND ${term}`, values);
    if (span === undefined) return null;
    const fromMs = span.from_ms ?? span.to_ms;
    const stepMs = replayStepMs(span.to_ms - fromMs);
    const { stop } = span.plan;
    return {
      from: new Date(fromMs).toISOString(),
      to: new Date(span.to_ms).toISOString(),
      stepMs,
      capPerMinute: span.rate === null || isEnded(span.state) ? null : span.rate * 60,
      rateLimitedLimit: stop.rateLimitedShare,
      failedLimit: stop.failedShare,
      dueLagLimitMs: stop.dueLagMs,
      points: span.from_ms === null ? [] : await pointsOf(sql, id, { fromMs, toMs: span.to_ms, stepMs }),
      marks: await marksOf(sql, id),
    };
  });
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

interface Tried {
  step: number;
  requests: number;
  delivered: number;
  rate_limited: number;
}

interface Sampled {
  step: number;
  due_lag_ms: number;
  first_age_ms: number;
}

async function pointsOf(sql: Reader, id: string, { fromMs, toMs, stepMs }: Span): Promise<ReplayPoint[]> {
  const values = [id, fromMs, toMs, stepMs];
  const tried = byStep(await sql<Tried>(ATTEMPTS, values));
  const released = byStep(await sql<{ step: number; released: number }>(RELEASED, values));
  const samples = byStep(await sql<Sampled>(SAMPLES, values));
  const steps = Math.min(MAX_REPLAY_POINTS, Math.floor((toMs - fromMs) / stepMs) + 1);
  return Array.from({ length: steps }, (_, step) => {
    const { requests, delivered, rate_limited: rateLimited } = tried.get(step) ?? NOTHING;
    const failed = requests - delivered;
    const sample = samples.get(step);
    const part = (n: number) => (requests === 0 ? null : n / requests);
    return {
      at: new Date(fromMs + step * stepMs).toISOString(),
      released: released.get(step)?.released ?? 0,
      requests,
      delivered,
      rateLimited,
      failed,
      perMinute: (requests * MINUTE_MS) / stepMs,
      rateLimitedShare: part(rateLimited),
      failedShare: part(failed),
      dueLagMs: sample?.due_lag_ms ?? null,
      firstAttemptAgeMs: sample?.first_age_ms ?? null,
    };
  });
}

const NOTHING = { requests: 0, delivered: 0, rate_limited: 0 };

function byStep<Row extends { readonly step: number }>(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.step, row]));
}

async function marksOf(sql: Reader, id: string): Promise<ReplaySeries["marks"]> {
  const events = await eventsOf(sql, id, MARKS, MAX_MARKS);
  return events
    .map(({ at, kind, detail }) => ({ at, kind, text: detail ?? kind.replaceAll("_", " ") }))
    .reverse();
}
