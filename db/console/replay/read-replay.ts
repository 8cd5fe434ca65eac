/**
 * One replay batch for its page: what was frozen, who did what, how each destination does, every stop condition with its
 * value at this moment, and what the caller may do. Reads only; the conditions come from the same readings as the runner's.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, permitsOf, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { isEnded, type ReplayState, rampShare } from "#domain/replay.ts";
import { PERMITS_OF_REPLAY, type ReplayActions, replayActions } from "#domain/replay-actions.ts";
import type { ReplayPolicy } from "#domain/replay-plan.ts";
import { drawSample, REVIEW_SAMPLE_ITEMS } from "#domain/replay-sample.ts";
import { type ConditionState, checkStop, describeBreaches } from "#domain/replay-stop.ts";
import { readReadings } from "../../queue/replay-readings.ts";
import { BATCH_COLUMNS, readPolicy } from "../../queue/replay-rows.ts";
import type { Queryable } from "../../queue/types.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import { diffOf } from "./freeze-record.ts";
import { readItems } from "./list-replay-items.ts";
import { estimateOf, type LaneBatch, lanesOf } from "./replay-lanes.ts";
import { type Family, familyOf } from "./replay-links.ts";
import {
  type BatchRow,
  NOBODY,
  type ReplayViewer,
  ROW_COLUMNS,
  ROW_JOINS,
  scopeTerm,
  targetOf,
  toReplayRow,
} from "./replay-row.ts";
import type { ReplayDetail, ReplayEventView, ReplayItemView, ReplayLaneView } from "./replay-views.ts";

const MAX_EVENTS = 200;

type WholeRow = BatchRow &
  LaneBatch & {
    selection: unknown;
    excluded: Record<string, number>;
    approval_comment: string | null;
    break_glass_at: Date | null;
    canary_size: number | null;
  };

/**
 * Null when there is no such batch in the scope.
 * @param viewer who looks: without one, nothing is allowed
 * @throws SluiceError `not_found` for a region outside it, `bad_id`
 */
export async function readReplay(
  access: AccessScope,
  region: Region,
  batchId: string,
  viewer: ReplayViewer = NOBODY,
): Promise<RegionAnswer<ReplayDetail | null>> {
  const tenants = tenantsIn(access, region);
  const id = fromPublicId("rpl", batchId);
  return readRegion(region, async (sql) => {
    const row = await readRow(sql, id, tenants);
    if (row === null) return null;
    const on = asQueryable(sql);
    const { policy } = await readPolicy(on);
    const conditions = await conditionsOf(on, row, policy);
    const lanes = await lanesOf(sql, row, policy, row.destinations);
    const events = await eventsOf(sql, id, "true", MAX_EVENTS + 1);
    const family = await familyOf(sql, row, tenants);
    return {
      ...toReplayRow(row, region, viewer),
      ...factsOf(row, policy),
      ...rampOf(row, policy),
      ...family,
      actions: await actionsOf({ on, region, row, policy, viewer }, lanes, family),
      mine: viewer.actor === row.requested_by,
      edited: viewer.actor === row.requested_by || row.editors.includes(viewer.actor),
      diff: await diffOf(sql, row),
      estimate: await estimateOf(sql, row, lanes),
      conditions,
      lanes,
      events: events.slice(0, MAX_EVENTS),
      eventsMore: events.length > MAX_EVENTS,
      ...(await samplesOf(sql, row)),
      orderCanChange: true,
    };
  });
}

async function readRow(sql: Reader, id: string, tenants: TenantScope): Promise<WholeRow | null> {
  const values: unknown[] = [id];
  const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
  const [row] = await sql<WholeRow>(
    `SELECT ${BATCH_COLUMNS}, ${ROW_COLUMNS}, b.selection, b.excluded, b.approval_comment, b.break_glass_at, b.canary_size,
            CASE WHEN b.started_at IS NOT NULL THEN coalesce(b.window_since, b.started_at) END AS window_since
       FROM (SELECT b.* FROM sluice.replay_batch b WHERE b.id = $1 AND ${term}) b ${ROW_JOINS}`,
    values,
  );
  return row ?? null;
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
    submittedBy: row.submitted_by,
    approvedAt: iso(row.approved_ms),
    approvalComment: row.approval_comment,
    breakGlassAt: row.break_glass_at?.toISOString() ?? null,
    canarySize: row.canary_size,
    turnAgeMs: row.last_turn_ms === null ? null : Math.max(0, row.now_ms - row.last_turn_ms),
    expiresAt: sinceMs === null ? null : iso(sinceMs + spanMs),
    holdEndsAt:
      row.state === "canary_hold" && row.held_ms !== null ? iso(row.held_ms + policy.canaryHoldMs) : null,
  };
}

/** How far the rate has been let go, and when it is let go further. */
function rampOf(row: WholeRow, { rampHoldMs }: ReplayPolicy) {
  if (row.state !== "running") return { rampShare: null, rampNextAt: null };
  const since = row.ramp_ms ?? row.now_ms;
  const share = rampShare(row.now_ms - since, rampHoldMs);
  const steps = rampHoldMs === 0 ? 0 : Math.floor((row.now_ms - since) / rampHoldMs) + 1;
  return { rampShare: share, rampNextAt: share < 1 ? iso(since + steps * rampHoldMs) : null };
}

async function conditionsOf(on: Queryable, row: WholeRow, policy: ReplayPolicy): Promise<ConditionState[]> {
  // Before the start nobody expects turns of it, and after its end nobody asks any more.
  const turns = ["canary", "canary_hold", "running", "stopping"].includes(row.state)
    ? row.last_turn_ms
    : null;
  const startedMs = isEnded(row.state) ? null : row.started_ms;
  const readings = await readReadings(on, { ...row, last_turn_ms: turns, started_ms: startedMs }, policy);
  return checkStop(readings, row.plan.stop, policy);
}

interface Looking {
  readonly on: Queryable;
  readonly region: Region;
  readonly row: WholeRow;
  readonly policy: ReplayPolicy;
  readonly viewer: ReplayViewer;
}

/** As the commands will judge: a start, a resume and a continue do not look at attempts of before. */
async function actionsOf(
  { on, region, row, policy, viewer }: Looking,
  lanes: readonly ReplayLaneView[],
  { followUpItems }: Family,
): Promise<ReplayActions> {
  const lastTurn = row.state === "canary_hold" ? row.last_turn_ms : null;
  const readings = await readReadings(on, { ...row, last_turn_ms: lastTurn }, policy);
  const states = checkStop({ ...readings, attempts: [] }, row.plan.stop, policy);
  const heldMs = row.now_ms - (row.held_ms ?? row.now_ms);
  return replayActions({
    state: row.state,
    actor: viewer.actor,
    requestedBy: row.requested_by,
    editors: row.editors,
    permits: permitsOf(viewer.grants, PERMITS_OF_REPLAY, targetOf(region, row)),
    red: isEnded(row.state) ? "" : describeBreaches(states),
    startBlock: startBlockOf(row, policy, lanes),
    holdLeftMs: row.state === "canary_hold" ? Math.max(0, policy.canaryHoldMs - heldMs) : 0,
    followUpItems,
  });
}

function startBlockOf(row: WholeRow, policy: ReplayPolicy, lanes: readonly ReplayLaneView[]): string | null {
  const { startsAfter, endsBefore } = row.plan;
  if (row.approved_ms !== null && row.now_ms - row.approved_ms > policy.approvalMs)
    return "The approval is too old.";
  if (startsAfter !== null && row.now_ms < Date.parse(startsAfter))
    return `Its window begins at ${startsAfter}.`;
  if (endsBefore !== null && row.now_ms >= Date.parse(endsBefore))
    return `Its window ended at ${endsBefore}.`;
  return lanes.some(({ trouble }) => trouble === "destination_changed")
    ? "A destination was changed since the approval."
    : null;
}

/** Newest first. @param term condition of the event `e`; never from outside */
export async function eventsOf(
  sql: Reader,
  batchId: string,
  term: string,
  limit: number = MAX_EVENTS,
): Promise<ReplayEventView[]> {
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
      WHERE e.batch_id = $1 AND ${term} ORDER BY e.at DESC, e.id DESC LIMIT $2`,
    [batchId, limit],
  );
  return rows.map(({ at, from_state, to_state, ...event }) => ({
    ...event,
    at: at.toISOString(),
    from: from_state,
    to: to_state,
  }));
}

interface Samples {
  readonly sample: ReplayItemView[];
  readonly reviewSample: ReplayItemView[];
  readonly reviewSampleUnseen: number;
}

/** Nobody looks at samples of a batch that has been started. */
async function samplesOf(sql: Reader, row: WholeRow): Promise<Samples> {
  if (!["draft", "in_review", "approved"].includes(row.state))
    return { sample: [], reviewSample: [], reviewSampleUnseen: 0 };
  const items = await sql<{ id: string; destinationId: string; reason: string }>(
    `SELECT i.delivery_id AS id, i.destination_id AS "destinationId", i.reason FROM sluice.replay_item i WHERE i.batch_id = $1 LIMIT 5000`,
    [row.id],
  );
  const seed = row.sample_seed ?? row.id;
  const sample = drawSample(items, seed).map(({ id }) => id);
  const seen = new Set([...sample, ...row.inspected]);
  // Drawn anew for each freeze. A small batch may have too few left that the author did not see.
  const again = `${seed}:${row.frozen_sha256?.toString("hex") ?? "draft"}`;
  const fresh = drawSample(items, again, REVIEW_SAMPLE_ITEMS, seen).map(({ id }) => id);
  const others = drawSample(items, again, items.length, new Set(fresh)).map(({ id }) => id);
  const review = [...fresh, ...others.slice(0, Math.max(0, REVIEW_SAMPLE_ITEMS - fresh.length))];
  const views = await readItems(sql, row.id, [...new Set([...sample, ...review])]);
  const pick = (ids: readonly string[]) => {
    const wanted = new Set(ids.map((id) => toPublicId("dlv", id)));
    return views.filter(({ id }) => wanted.has(id));
  };
  return { sample: pick(sample), reviewSample: pick(review), reviewSampleUnseen: fresh.length };
}
