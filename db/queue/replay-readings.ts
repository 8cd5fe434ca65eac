/**
 * What the stop conditions of a replay batch look at, read in the very transaction that releases. Reads only. A number that
 * is not there comes back as null, never as zero.
 */

import type { ReplayPolicy } from "#domain/replay-plan.ts";
import type { ReplayAttempt, ReplayReadings } from "#domain/replay-stop.ts";
import { FIRST_AGE_BOUNDS_MS, quantileOf } from "#domain/series.ts";
import type { ReplayBatchRow } from "./replay-rows.ts";
import type { Queryable } from "./types.ts";

const P95 = 0.95;

const REGION = `
  WITH sampled AS MATERIALIZED (
    SELECT max(r.at) AS at FROM sluice.sample_run r WHERE r.scope = 'class' AND r.ok AND r.at > clock_timestamp() - interval '1 day')
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms,
         (SELECT (extract(epoch FROM s.at) * 1000)::float8 FROM sampled s) AS sampled_ms,
         (SELECT (extract(epoch FROM r.rolled_at) * 1000)::float8 FROM sluice.series_run r WHERE r.what = 'attempts') AS rolled_ms,
         (SELECT max(q.due_age_ms)::float8 FROM sluice.queue_sample q, sampled s WHERE q.scope = 'class' AND q.at = s.at) AS due_lag_ms`;

const AGES = `
  SELECT m.service_class, m.first_ages, m.first_age_max_ms::float8 AS max_ms FROM sluice.series_minute m
   WHERE m.tenant_id IS NULL AND m.minute = date_trunc('minute', clock_timestamp()) - interval '1 minute' LIMIT 2`;

const ATTEMPTS = `
  SELECT a.destination_id AS "destinationId", (extract(epoch FROM a.started_at) * 1000)::float8 AS "startedMs", a.outcome, a.status,
         a.error_code AS "errorCode"
    FROM sluice.attempt a
   WHERE a.replay_batch_id = $1 AND a.started_at >= (SELECT coalesce(b.window_since, b.started_at) FROM sluice.replay_batch b WHERE b.id = $1)
     AND a.kind IN ('http', 'not_sent')
     AND NOT EXISTS (SELECT 1 FROM sluice.replay_lane l WHERE l.batch_id = $1 AND l.destination_id = a.destination_id AND l.stopped_at IS NOT NULL)
   ORDER BY a.started_at DESC LIMIT $2`;

/** Everything that the conditions look at. `batch.last_turn_ms` is that of the turn before. */
export async function readReadings(
  client: Queryable,
  batch: Pick<ReplayBatchRow, "id" | "started_ms" | "last_turn_ms" | "plan">,
  policy: Pick<ReplayPolicy, "windowAttempts">,
): Promise<ReplayReadings> {
  const region = await client.query<{
    now_ms: number;
    sampled_ms: number | null;
    rolled_ms: number | null;
    due_lag_ms: number | null;
  }>(REGION);
  const ages = await client.query<{ service_class: string; first_ages: number[]; max_ms: number }>(AGES);
  const p95 = (name: string) => {
    const row = ages.rows.find(({ service_class }) => service_class === name);
    return row === undefined ? null : quantileOf(row.first_ages, FIRST_AGE_BOUNDS_MS, P95, row.max_ms);
  };
  const attempts = await client.query<ReplayAttempt>(ATTEMPTS, [batch.id, policy.windowAttempts]);
  const row = region.rows[0];
  return {
    nowMs: row?.now_ms ?? Number.NaN,
    startedMs: batch.started_ms,
    endsBeforeMs: batch.plan.endsBefore == null ? null : Date.parse(batch.plan.endsBefore),
    sampledMs: row?.sampled_ms ?? null,
    rolledMs: row?.rolled_ms ?? null,
    lastTurnMs: batch.last_turn_ms,
    dueLagMs: row?.due_lag_ms ?? null,
    urgentFirstP95Ms: p95("urgent"),
    routineFirstP95Ms: p95("routine"),
    attempts: attempts.rows,
  };
}

/** A lane with what its destination is like at this moment. */
export interface ReplayLaneRow {
  readonly destination_id: string;
  readonly tenant_id: string;
  readonly rate_per_second: number;
  readonly rate_tat_ms: number | null;
  readonly held_why: string | null;
  readonly stopped: boolean;
  /** What holds it now, of domain/replay-stop.ts LANE_HOLDS. */
  readonly hold: string | null;
  /** What stops it now, of LANE_STOPS. */
  readonly trouble: string | null;
  /** Its gate is shut: what is released would only wait. */
  readonly gated: boolean;
  readonly frozen: number;
  readonly out: number;
  readonly canary_items: number;
  readonly canary_delivered: number;
  readonly canary_open: number;
  /** Newest first. */
  readonly attempts: readonly ReplayAttempt[];
}

const LANES = `
  SELECT l.destination_id, l.tenant_id, l.rate_per_second::float8 AS rate_per_second, (extract(epoch FROM l.rate_tat) * 1000)::float8 AS rate_tat_ms,
         l.held_why, l.stopped_at IS NOT NULL AS stopped,
         CASE WHEN rc.draining THEN 'region_draining'
              WHEN t.pause_until > clock_timestamp() THEN 'tenant_paused'
              WHEN x.pause_until > clock_timestamp() THEN 'destination_paused' END AS hold,
         CASE WHEN x.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'destination_deleted'
              WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled'
              WHEN sluice.destination_print(l.destination_id) <> l.print THEN 'destination_changed'
              WHEN s.breaker = 'open' THEN 'circuit_open' END AS trouble,
         coalesce(s.hold_until > clock_timestamp(), false) AS gated,
         n.frozen, n.out, n.canary_items, n.canary_delivered, n.canary_open, a.attempts
    FROM sluice.replay_lane l
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.tenant t ON t.id = l.tenant_id
    LEFT JOIN sluice.destination x ON x.id = l.destination_id
    LEFT JOIN sluice.destination_state s ON s.destination_id = l.destination_id
    JOIN (
     SELECT i.destination_id, count(*) FILTER (WHERE i.state = 'frozen')::integer AS frozen,
            count(*) FILTER (WHERE i.state = 'released')::integer AS out,
            -- What was skipped says nothing about the destination.
            count(*) FILTER (WHERE i.canary AND i.state NOT IN ('skipped', 'recalled', 'not_released'))::integer AS canary_items,
            count(*) FILTER (WHERE i.canary AND i.state = 'delivered')::integer AS canary_delivered,
            count(*) FILTER (WHERE i.canary AND i.state IN ('frozen', 'released'))::integer AS canary_open
       FROM sluice.replay_item i WHERE i.batch_id = $1 GROUP BY 1) n ON n.destination_id = l.destination_id
   CROSS JOIN LATERAL (
     SELECT coalesce(json_agg(r.* ORDER BY r."startedMs" DESC), '[]') AS attempts FROM (
       SELECT q.destination_id AS "destinationId", (extract(epoch FROM q.started_at) * 1000)::float8 AS "startedMs", q.outcome, q.status,
              q.error_code AS "errorCode"
         FROM sluice.attempt q
        WHERE q.replay_batch_id = $1 AND q.destination_id = l.destination_id AND q.kind IN ('http', 'not_sent')
          AND q.started_at >= (SELECT coalesce(b.window_since, b.started_at) FROM sluice.replay_batch b WHERE b.id = $1)
        ORDER BY q.started_at DESC LIMIT $2) r) a
   WHERE l.batch_id = $1 ORDER BY l.destination_id LIMIT 5000`;

export async function readLanes(
  client: Queryable,
  batchId: string,
  equalFailures: number,
): Promise<ReplayLaneRow[]> {
  const { rows } = await client.query<ReplayLaneRow>(LANES, [batchId, equalFailures]);
  return rows;
}
