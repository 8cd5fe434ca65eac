/**
 * A batch as a row of lists and the head of its page: the columns, the joins, and what they mean in words. Reads only. It
 * must never name a tenant or a destination of a batch that the caller may not read: the scope's term comes first.
 */
import { toPublicId } from "#domain/ids.ts";
import { type Grant, permitsOf, scopeOf, type TenantScope } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  countsOf,
  openCount,
  progressText,
  REPLAY_ITEM_STATES,
  type ReplayCounts,
  type ReplayState,
} from "#domain/replay.ts";
import { mayReview } from "#domain/replay-actions.ts";
import type { ReplayRow } from "./replay-views.ts";

/** Who looks: what they may do is told from their grants, as the commands do. */
export interface ReplayViewer {
  readonly grants: readonly Grant[];
  readonly actor: string;
}

/** May do nothing: for reads that nobody acts on. */
export const NOBODY: ReplayViewer = { grants: [], actor: "" };

/** Counts by state as one JSON object, of the batch `b`. */
const COUNTS = `(SELECT coalesce(jsonb_object_agg(c.state, c.n), '{}') FROM (
  SELECT i.state, count(*)::integer AS n FROM sluice.replay_item i WHERE i.batch_id = b.id GROUP BY 1) c) AS counts`;

/** Columns of BatchRow, of what ROW_JOINS makes of the batch `b`. */
export const ROW_COLUMNS = `b.id, b.name, b.state, b.version, b.reason, b.ticket, b.requested_by, b.approved_by, b.break_glass_by, b.editors,
  b.tenant_ids, cardinality(b.tenant_ids) AS tenants, b.created_at, b.started_at, b.ended_at, b.paused_auto, b.parent_id,
  greatest(b.updated_at, b.last_turn_at) AS updated_at,
  CASE WHEN b.state = 'paused' THEN b.pause_cause ELSE b.stop_cause END AS cause, t.slug AS tenant_slug, t.name AS tenant_name,
  o.n AS destinations, o.id AS only_destination, x.name AS destination_name, r.rate, ${COUNTS}`;

/** A draft has no lanes yet, or those of a freeze that was dropped. */
export const ROW_JOINS = `
  LEFT JOIN sluice.tenant t ON cardinality(b.tenant_ids) = 1 AND t.id = b.tenant_ids[1]
  LEFT JOIN LATERAL (
    SELECT count(*)::integer AS n, CASE WHEN count(*) = 1 THEN min(g.destination_id::text)::uuid END AS id FROM (
      SELECT l.destination_id FROM sluice.replay_lane l WHERE l.batch_id = b.id AND b.state <> 'draft'
      UNION SELECT i.destination_id FROM sluice.replay_item i WHERE i.batch_id = b.id AND b.state = 'draft') g) o ON true
  LEFT JOIN sluice.destination x ON x.id = o.id
  LEFT JOIN LATERAL (
    SELECT sum(least(l.rate_per_second, coalesce(b.rate_cap, l.rate_per_second)))::float8 AS rate FROM sluice.replay_lane l
     WHERE l.batch_id = b.id AND l.stopped_at IS NULL AND b.state <> 'draft') r ON true`;

export interface BatchRow {
  id: string;
  name: string;
  state: ReplayState;
  version: number;
  reason: string;
  ticket: string | null;
  requested_by: string;
  approved_by: string | null;
  break_glass_by: string | null;
  editors: readonly string[];
  tenant_ids: readonly string[];
  tenants: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  paused_auto: boolean;
  parent_id: string | null;
  updated_at: Date;
  cause: string | null;
  tenant_slug: string | null;
  tenant_name: string | null;
  destinations: number;
  only_destination: string | null;
  destination_name: string | null;
  rate: number | null;
  counts: Partial<ReplayCounts>;
}

/** `bind` puts a value into the statement; null sees all. */
export function scopeTerm(tenants: TenantScope, bind: (value: unknown) => string): string {
  return tenants === null ? "true" : `b.tenant_ids <@ ${bind(tenants)}::uuid[]`;
}

/**
 * Whether the viewer may be the second person of the batch `b`, which waits for one: one's own batch is nobody's to review,
 * and one of several tenants is a matter of the region.
 */
export function awaitingTerm(
  { grants, actor }: ReplayViewer,
  region: Region,
  bind: (value: unknown) => string,
): string {
  const approves = scopeOf(grants, "replay_approve")[region];
  if (approves === undefined) return "false";
  const [who, tenants] = [`${bind(actor)}::text`, `${bind(approves)}::uuid[]`];
  return `b.state = 'in_review' AND b.requested_by <> ${who} AND NOT ${who} = ANY (b.editors)
    AND (${tenants} IS NULL OR cardinality(b.tenant_ids) = 1 AND b.tenant_ids <@ ${tenants})`;
}

export function wholeCounts(counts: Partial<ReplayCounts>): ReplayCounts {
  return countsOf(REPLAY_ITEM_STATES.map((state) => ({ state, n: counts[state] ?? 0 })));
}

/** What an action is aimed at: a batch of several tenants is a matter of the region. */
export function targetOf(
  region: Region,
  { tenant_ids }: Pick<BatchRow, "tenant_ids">,
): { region: Region; tenantId: string | null } {
  return { region, tenantId: tenant_ids.length === 1 ? (tenant_ids[0] ?? null) : null };
}

export function toReplayRow(row: BatchRow, region: Region, viewer: ReplayViewer): ReplayRow {
  const counts = wholeCounts(row.counts);
  const items = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const tried = counts.delivered + counts.dead_again;
  return {
    id: toPublicId("rpl", row.id),
    name: row.name,
    state: row.state,
    version: row.version,
    reason: row.reason,
    ticket: row.ticket,
    requestedBy: row.requested_by,
    approvedBy: row.approved_by,
    breakGlassBy: row.break_glass_by,
    tenants: row.tenants,
    items,
    counts,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    cause: row.cause,
    reviewer: row.approved_by ?? row.break_glass_by,
    scope: scopeOfRow(row),
    ratePerSecond: row.rate,
    progress: progressText(counts),
    finishedShare: items === 0 ? 0 : (items - counts.selected - openCount(counts)) / items,
    successShare: tried === 0 ? null : counts.delivered / tried,
    pausedBy: row.state !== "paused" ? null : row.paused_auto ? "auto" : "person",
    updatedAt: row.updated_at.toISOString(),
    parentId: row.parent_id === null ? null : toPublicId("rpl", row.parent_id),
    mayReview: mayReview({
      state: row.state,
      actor: viewer.actor,
      requestedBy: row.requested_by,
      editors: row.editors,
      permit: permitsOf(viewer.grants, ["replay_approve"], targetOf(region, row)).replay_approve,
    }),
  };
}

/** What is gone keeps its id as its name. */
function scopeOfRow(row: BatchRow): ReplayRow["scope"] {
  const [only] = row.tenants === 1 ? row.tenant_ids : [];
  const tenantId = only === undefined ? null : toPublicId("ten", only);
  const destinationId = row.only_destination === null ? null : toPublicId("dst", row.only_destination);
  return {
    tenants: row.tenants,
    destinations: row.destinations,
    tenant:
      tenantId === null
        ? null
        : {
            id: tenantId,
            slug: row.tenant_slug ?? tenantId,
            name: row.tenant_name ?? "Deleted tenant",
          },
    destination:
      destinationId === null
        ? null
        : { id: destinationId, name: row.destination_name ?? "Deleted destination" },
  };
}
