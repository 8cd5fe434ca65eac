/**
 * One replay batch for its page: what was frozen, who did what, how each destination does, and every stop condition with its
 * value at this moment. Reads only; the conditions come from the same readings as the runner's.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { progressText, type ReplayCounts, type ReplayState } from "#domain/replay.ts";
import type { ReplayPolicy } from "#domain/replay-plan.ts";
import { drawSample, REVIEW_SAMPLE_ITEMS } from "#domain/replay-sample.ts";
import { type ConditionState, checkStop } from "#domain/replay-stop.ts";
import { readReadings } from "../../queue/replay-readings.ts";
import { BATCH_COLUMNS, type ReplayBatchRow, readPolicy } from "../../queue/replay-rows.ts";
import type { Queryable } from "../../queue/types.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import {
  type BatchRow,
  ITEM_COLUMNS,
  type ItemRow,
  ROW_COLUMNS,
  scopeTerm,
  toReplayItem,
  toReplayRow,
  wholeCounts,
} from "./list-replays.ts";
import type {
  ReplayDetail,
  ReplayEventView,
  ReplayItemView,
  ReplayLaneView,
  ReplayProbe,
} from "./replay-views.ts";

const MAX_EVENTS = 200;

type WholeRow = BatchRow &
  ReplayBatchRow & { selection: unknown; excluded: Record<string, number>; approval_comment: string | null };

/** Null when there is no such batch in the scope. @throws SluiceError `not_found` for a region outside it, `bad_id` */
export async function readReplay(
  access: AccessScope,
  region: Region,
  batchId: string,
): Promise<RegionAnswer<ReplayDetail | null>> {
  const tenants = tenantsIn(access, region);
  const id = fromPublicId("rpl", batchId);
  return readRegion(region, async (sql) => {
    const values: unknown[] = [id];
    const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
    const [row] = await sql<WholeRow>(
      `SELECT ${BATCH_COLUMNS}, ${ROW_COLUMNS}, b.selection, b.excluded, b.approval_comment FROM sluice.replay_batch b WHERE b.id = $1 AND ${term}`,
      values,
    );
    if (row === undefined) return null;
    const on = asQueryable(sql);
    const { policy } = await readPolicy(on);
    return {
      ...toReplayRow(row),
      ...factsOf(row, policy),
      conditions: await conditionsOf(on, row, policy),
      lanes: await lanesOf(sql, id),
      events: await eventsOf(sql, id, "true"),
      ...(await samplesOf(sql, row)),
      orderCanChange: true,
    };
  });
}

/** The statements of the queue's folder in the reader's own snapshot. */
export function asQueryable(sql: Reader): Queryable {
  return {
    query: async (text: string, values?: unknown[]) => ({ rows: await sql(text, values) }),
  } as unknown as Queryable;
}

const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());

function factsOf(row: WholeRow, policy: ReplayPolicy) {
  const spans: Partial<Record<ReplayState, [number | null, number]>> = {
    in_review: [row.submitted_ms, policy.reviewMs],
    approved: [row.approved_ms, policy.approvalMs],
  };
  const [sinceMs, spanMs] = spans[row.state] ?? [null, 0];
  const { plan } = row;
  return {
    rootCause: row.root_cause,
    fixUrl: row.fix_url,
    checklist: row.checklist,
    selection: row.selection,
    excluded: row.excluded,
    plan,
    policy,
    rateCap: row.rate_cap,
    sha256: row.frozen_sha256?.toString("hex") ?? null,
    editors: row.editors,
    inspected: row.inspected.map((id) => toPublicId("dlv", id)),
    pausedFrom: row.state === "paused" ? row.paused_from : null,
    autoPauses: row.auto_pauses,
    submittedAt: iso(row.submitted_ms),
    approvedAt: iso(row.approved_ms),
    approvalComment: row.approval_comment,
    expiresAt: sinceMs === null ? null : iso(sinceMs + spanMs),
    holdEndsAt:
      row.state === "canary_hold" && row.held_ms !== null ? iso(row.held_ms + policy.canaryHoldMs) : null,
    progress: progressText(wholeCounts(row.counts)),
  };
}

async function conditionsOf(on: Queryable, row: WholeRow, policy: ReplayPolicy): Promise<ConditionState[]> {
  // Before the start nobody expects turns of it, and after its end nobody asks any more.
  const turns = ["canary", "canary_hold", "running", "stopping"].includes(row.state)
    ? row.last_turn_ms
    : null;
  const startedMs = turns === null ? null : row.started_ms;
  const readings = await readReadings(on, { ...row, last_turn_ms: turns, started_ms: startedMs }, policy);
  return checkStop(readings, row.plan.stop, policy);
}

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
  succeeded: number;
  failed: number;
  rate_limited: number;
  breaker_open: boolean;
  gate_until: Date | null;
}

// From the items, so that a draft has its destinations too.
const LANES = `
  SELECT g.destination_id, x.name, g.tenant_id, l.rate_per_second::float8 AS rate_per_second, g.counts, l.held_why, l.stopped_at, l.stop_condition,
         l.stop_text, coalesce(m.succeeded, 0)::integer AS succeeded, coalesce(m.failed, 0)::integer AS failed,
         coalesce(m.rate_limited, 0)::integer AS rate_limited, coalesce(s.breaker = 'open', false) AS breaker_open,
         CASE WHEN s.hold_until > clock_timestamp() THEN s.hold_until END AS gate_until
    FROM (SELECT c.destination_id, c.tenant_id, jsonb_object_agg(c.state, c.n) AS counts FROM (
            SELECT i.destination_id, i.tenant_id, i.state, count(*)::integer AS n FROM sluice.replay_item i WHERE i.batch_id = $1 GROUP BY 1, 2, 3) c
           GROUP BY 1, 2) g
    LEFT JOIN sluice.replay_lane l ON l.batch_id = $1 AND l.destination_id = g.destination_id
    LEFT JOIN sluice.destination x ON x.id = g.destination_id
    LEFT JOIN sluice.destination_state s ON s.destination_id = g.destination_id
    LEFT JOIN LATERAL (
      SELECT sum(m.delivered) AS succeeded, sum(m.rate_limited) AS rate_limited, sum(m.permanent + m.server_error + m.network) AS failed
        FROM sluice.series_minute m WHERE m.destination_id = g.destination_id AND m.minute > clock_timestamp() - interval '10 minutes') m ON true
   ORDER BY g.destination_id LIMIT 5000`;

async function lanesOf(sql: Reader, batchId: string): Promise<ReplayLaneView[]> {
  const rows = await sql<LaneRow>(LANES, [batchId]);
  return rows.map((row) => ({
    destinationId: toPublicId("dst", row.destination_id),
    destinationName: row.name,
    tenantId: toPublicId("ten", row.tenant_id),
    ratePerSecond: row.rate_per_second ?? 0,
    counts: wholeCounts(row.counts),
    heldWhy: row.held_why,
    stoppedAt: row.stopped_at?.toISOString() ?? null,
    stopCondition: row.stop_condition,
    stopText: row.stop_text,
    probe: probeOf(row),
  }));
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

/** Newest first. @param term condition of the event `e`; never from outside */
export async function eventsOf(sql: Reader, batchId: string, term: string): Promise<ReplayEventView[]> {
  const rows = await sql<{
    at: Date;
    kind: string;
    actor: string;
    from_state: ReplayState | null;
    to_state: ReplayState | null;
    detail: string | null;
    facts: Record<string, unknown>;
  }>(
    `SELECT e.at, e.kind, e.actor, e.from_state, e.to_state, e.detail, e.facts FROM sluice.replay_event e
      WHERE e.batch_id = $1 AND ${term} ORDER BY e.at DESC, e.id DESC LIMIT ${MAX_EVENTS}`,
    [batchId],
  );
  return rows.map(({ at, from_state, to_state, ...event }) => ({
    ...event,
    at: at.toISOString(),
    from: from_state,
    to: to_state,
  }));
}

async function samplesOf(
  sql: Reader,
  row: WholeRow,
): Promise<{ sample: ReplayItemView[]; reviewSample: ReplayItemView[] }> {
  const rows = await sql<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM sluice.replay_item i WHERE i.batch_id = $1 LIMIT 5000`,
    [row.id],
  );
  const items = rows.map((item) => ({ ...item, id: item.delivery_id, destinationId: item.destination_id }));
  const seed = row.sample_seed ?? row.id;
  const sample = drawSample(items, seed);
  const seen = new Set([...sample.map(({ id }) => id), ...row.inspected]);
  // Drawn anew for each freeze. A small batch may have none left that the author did not see.
  const fresh = drawSample(
    items,
    `${seed}:${row.frozen_sha256?.toString("hex") ?? "draft"}`,
    REVIEW_SAMPLE_ITEMS,
    seen,
  );
  const reviewSample = fresh.length > 0 ? fresh : sample.slice(0, REVIEW_SAMPLE_ITEMS);
  return { sample: sample.map(toReplayItem), reviewSample: reviewSample.map(toReplayItem) };
}
