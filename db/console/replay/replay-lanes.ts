/**
 * The destinations of a batch for its page: numbers, pace, what holds or stops each at this moment, whether its cause seems
 * to be gone, and what the whole would ask of the region. Reads only; the runner has readings of its own, by the same rules.
 */
import { toPublicId } from "#domain/ids.ts";
import { isEnded, type ReplayCounts, rampShare } from "#domain/replay.ts";
import { defaultRate, plannedMs, type ReplayPolicy } from "#domain/replay-plan.ts";
import { failuresInARow, type ReplayAttempt } from "#domain/replay-stop.ts";
import type { ReplayBatchRow } from "../../queue/replay-rows.ts";
import type { Reader } from "../read-region.ts";
import { wholeCounts } from "./replay-row.ts";
import type { ReplayEstimate, ReplayLaneView, ReplayProbe } from "./replay-views.ts";

/** The normal of a destination is seven days of minutes: it is looked up before the start, and of so many at most. */
const MAX_MEASURED_LANES = 100;
/** A worker that was not heard of for so long counts for nothing. */
const HEARTBEAT_S = 30;
const HOUR_S = 3_600;

interface LaneRow {
  destination_id: string;
  name: string | null;
  tenant_id: string;
  rate_per_second: number | null;
  counts: Partial<ReplayCounts>;
  held_why: string | null;
  stopped_at: Date | null;
  stop_condition: string | null;
  stop_text: string | null;
  hold: string | null;
  trouble: string | null;
  limit_per_second: number | null;
  normal_per_second: number | null;
  canary_items: number;
  canary_delivered: number;
  canary_open: number;
  attempts: ReplayAttempt[];
  succeeded: number;
  failed: number;
  rate_limited: number;
  breaker_open: boolean;
  gate_until: Date | null;
}

// From the items, so that a draft has its destinations too.
const LANES = `
  SELECT g.destination_id, x.name, g.tenant_id, l.rate_per_second::float8 AS rate_per_second, g.counts, l.held_why, l.stopped_at, l.stop_condition,
         l.stop_text,
         CASE WHEN rc.draining THEN 'region_draining'
              WHEN t.pause_until > clock_timestamp() THEN 'tenant_paused'
              WHEN x.pause_until > clock_timestamp() THEN 'destination_paused' END AS hold,
         CASE WHEN x.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'destination_deleted'
              WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled'
              WHEN $2 AND sluice.destination_print(l.destination_id) <> l.print THEN 'destination_changed'
              WHEN s.breaker = 'open' THEN 'circuit_open' END AS trouble,
         x.rate_per_second::float8 AS limit_per_second,
         CASE WHEN $3 THEN (SELECT nullif(sum(n.delivered), 0)::float8 / 604800 FROM sluice.series_minute n
                             WHERE n.destination_id = g.destination_id AND n.minute > clock_timestamp() - interval '7 days') END AS normal_per_second,
         g.canary_items, g.canary_delivered, g.canary_open, a.attempts, coalesce(m.succeeded, 0)::integer AS succeeded,
         coalesce(m.failed, 0)::integer AS failed, coalesce(m.rate_limited, 0)::integer AS rate_limited,
         coalesce(s.breaker = 'open', false) AS breaker_open, CASE WHEN s.hold_until > clock_timestamp() THEN s.hold_until END AS gate_until
    FROM (SELECT c.destination_id, c.tenant_id, jsonb_object_agg(c.state, c.n) AS counts, sum(c.canary_items)::integer AS canary_items,
                 sum(c.canary_delivered)::integer AS canary_delivered, sum(c.canary_open)::integer AS canary_open
            FROM (SELECT i.destination_id, i.tenant_id, i.state, count(*)::integer AS n,
                         count(*) FILTER (WHERE i.canary AND i.state NOT IN ('skipped', 'recalled', 'not_released')) AS canary_items,
                         count(*) FILTER (WHERE i.canary AND i.state = 'delivered') AS canary_delivered,
                         count(*) FILTER (WHERE i.canary AND i.state IN ('frozen', 'released')) AS canary_open
                    FROM sluice.replay_item i WHERE i.batch_id = $1 GROUP BY 1, 2, 3) c
           GROUP BY 1, 2) g
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.replay_lane l ON l.batch_id = $1 AND l.destination_id = g.destination_id AND $2
    LEFT JOIN sluice.tenant t ON t.id = g.tenant_id
    LEFT JOIN sluice.destination x ON x.id = g.destination_id
    LEFT JOIN sluice.destination_state s ON s.destination_id = g.destination_id
    LEFT JOIN LATERAL (
      SELECT sum(m.delivered) AS succeeded, sum(m.rate_limited) AS rate_limited, sum(m.permanent + m.server_error + m.network) AS failed
        FROM sluice.series_minute m WHERE m.destination_id = g.destination_id AND m.minute > clock_timestamp() - interval '10 minutes') m ON true
   CROSS JOIN LATERAL (
     SELECT coalesce(json_agg(r.* ORDER BY r."startedMs" DESC), '[]') AS attempts FROM (
       SELECT q.destination_id AS "destinationId", (extract(epoch FROM q.started_at) * 1000)::float8 AS "startedMs", q.outcome, q.status,
              q.error_code AS "errorCode"
         FROM sluice.attempt q
        WHERE $4::timestamptz IS NOT NULL AND q.replay_batch_id = $1 AND q.destination_id = g.destination_id AND q.kind IN ('http', 'not_sent')
          AND q.started_at >= $4 ORDER BY q.started_at DESC LIMIT $5) r) a
   ORDER BY g.destination_id LIMIT 5000`;

export type LaneBatch = ReplayBatchRow & { readonly window_since: Date | null };

/** Before the start the normal of each destination is read too, which is what the default rate comes from. */
export async function lanesOf(
  sql: Reader,
  batch: LaneBatch,
  policy: ReplayPolicy,
  destinations: number,
): Promise<ReplayLaneView[]> {
  const isPlanned = ["draft", "in_review", "approved"].includes(batch.state);
  const rows = await sql<LaneRow>(LANES, [
    batch.id,
    batch.state !== "draft",
    isPlanned && destinations <= MAX_MEASURED_LANES,
    batch.window_since,
    batch.plan.stop.equalFailures,
  ]);
  const part = partOf(batch, policy);
  return rows.map((row) => toLane(row, batch, part));
}

/** Which part of their rate lanes use now. */
function partOf(batch: ReplayBatchRow, policy: ReplayPolicy): number {
  if (batch.state === "canary") return 1;
  if (batch.state !== "running") return 0;
  return rampShare(batch.now_ms - (batch.ramp_ms ?? batch.now_ms), policy.rampHoldMs);
}

function toLane(row: LaneRow, batch: LaneBatch, part: number): ReplayLaneView {
  const counts = wholeCounts(row.counts);
  const planned = plannedRate(row, batch);
  const rate = Math.min(row.rate_per_second ?? 0, batch.rate_cap ?? Infinity);
  const stopped = row.stopped_at !== null;
  return {
    destinationId: toPublicId("dst", row.destination_id),
    destinationName: row.name,
    tenantId: toPublicId("ten", row.tenant_id),
    ratePerSecond: row.rate_per_second ?? 0,
    counts,
    heldWhy: row.held_why,
    stoppedAt: row.stopped_at?.toISOString() ?? null,
    stopCondition: row.stop_condition,
    stopText: row.stop_text,
    items: Object.values(counts).reduce((sum, n) => sum + n, 0),
    hold: row.hold,
    trouble: stopped || isEnded(batch.state) ? null : row.trouble,
    effectiveRatePerSecond: stopped || row.hold !== null ? 0 : rate * part,
    plannedRatePerSecond: planned,
    normalPerSecond: row.normal_per_second,
    limitPerSecond: row.limit_per_second,
    equalFailures: { ...failuresInARow(row.attempts), limit: batch.plan.stop.equalFailures },
    canary: { items: row.canary_items, delivered: row.canary_delivered, open: row.canary_open },
    probe: probeOf(row),
  };
}

function plannedRate(row: LaneRow, { plan }: LaneBatch): number {
  const own = defaultRate({ normalPerSecond: row.normal_per_second, limitPerSecond: row.limit_per_second });
  return row.rate_per_second ?? plan.ratePerSecond ?? own;
}

function probeOf(row: LaneRow): ReplayProbe {
  const { succeeded, failed, rate_limited: rateLimited, breaker_open: circuitOpen } = row;
  const isBad = circuitOpen || rateLimited > 0 || failed > 0 || row.gate_until !== null;
  const causeGone = isBad ? false : succeeded > 0 ? true : null;
  return {
    succeeded,
    failed,
    rateLimited,
    circuitOpen,
    gateUntil: row.gate_until?.toISOString() ?? null,
    causeGone,
  };
}

const CAPACITY = `
  SELECT (SELECT sum(w.slots)::integer FROM sluice.worker_process w
           WHERE w.state = 'running' AND w.heartbeat_at > clock_timestamp() - ${HEARTBEAT_S} * interval '1 second') AS slots,
         (SELECT sum(m.delivered)::float8 / ${HOUR_S} FROM sluice.series_minute m
           WHERE m.tenant_id IS NULL AND m.minute > clock_timestamp() - interval '1 hour') AS per_second`;

/** What the batch asks of the region; null once it has ended. */
export async function estimateOf(
  sql: Reader,
  batch: ReplayBatchRow,
  lanes: readonly ReplayLaneView[],
): Promise<ReplayEstimate | null> {
  if (isEnded(batch.state)) return null;
  const [found] = await sql<{ slots: number | null; per_second: number | null }>(CAPACITY);
  const going = lanes.filter(({ stoppedAt }) => stoppedAt === null);
  const rateOf = (lane: ReplayLaneView) => Math.min(lane.plannedRatePerSecond, batch.rate_cap ?? Infinity);
  const ratePerSecond = going.reduce((sum, lane) => sum + rateOf(lane), 0);
  const concurrency = going.length * batch.plan.concurrency;
  const slots = found?.slots ?? null;
  const regionPerSecond = found?.per_second ? found.per_second : null;
  const span = (itemsOf: (lane: ReplayLaneView) => number) =>
    Math.round(plannedMs(going.map((lane) => ({ items: itemsOf(lane), ratePerSecond: rateOf(lane) }))));
  return {
    durationMs: span(({ items }) => items),
    leftMs: span(({ counts }) => counts.selected + counts.frozen),
    ratePerSecond,
    concurrency,
    slots,
    slotShare: slots === null ? null : concurrency / slots,
    regionPerSecond,
    regionShare: regionPerSecond === null ? null : ratePerSecond / regionPerSecond,
  };
}
