/**
 * Replay batches of a region, newest first, and the items of one. Reads only. A batch is shown to those who may read every
 * tenant that it touches, and to nobody else.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import {
  countsOf,
  REPLAY_ITEM_STATES,
  type ReplayCounts,
  type ReplayItemState,
  type ReplayState,
} from "#domain/replay.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import type { ReplayItemPage, ReplayItemView, ReplayPage, ReplayRow } from "./replay-views.ts";

export interface ReplayFilter {
  region: Region;
  state?: ReplayState | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Counts by state as one JSON object, of the batch `b`. */
const COUNTS = `(SELECT coalesce(jsonb_object_agg(c.state, c.n), '{}') FROM (
  SELECT i.state, count(*)::integer AS n FROM sluice.replay_item i WHERE i.batch_id = b.id GROUP BY 1) c) AS counts`;

export const ROW_COLUMNS = `b.id, b.name, b.state, b.version, b.reason, b.ticket, b.requested_by, b.approved_by, b.break_glass_by,
  cardinality(b.tenant_ids) AS tenants, b.created_at, b.started_at, b.ended_at,
  CASE WHEN b.state = 'paused' THEN b.pause_cause ELSE b.stop_cause END AS cause, ${COUNTS}`;

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
  tenants: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
  cause: string | null;
  counts: Partial<ReplayCounts>;
}

/** `$n` is where the tenants stand; null sees all. */
export function scopeTerm(tenants: TenantScope, bind: (value: unknown) => string): string {
  return tenants === null ? "true" : `b.tenant_ids <@ ${bind(tenants)}::uuid[]`;
}

/** @throws SluiceError `not_found` for a region outside the scope, `bad_cursor` */
export async function listReplays(
  access: AccessScope,
  filter: ReplayFilter,
): Promise<RegionAnswer<ReplayPage>> {
  const tenants = tenantsIn(access, filter.region);
  const values: unknown[] = [filter.limit + 1];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = [scopeTerm(tenants, bind)];
  if (filter.state !== undefined) terms.push(`b.state = ${bind(filter.state)}`);
  // The ids are of UUIDv7: their order is that of the creation.
  if (filter.cursor !== undefined) terms.push(`b.id < ${bind(readCursor(filter.cursor).id)}::uuid`);
  const text = `SELECT ${ROW_COLUMNS} FROM sluice.replay_batch b WHERE ${terms.join(" AND ")} ORDER BY b.id DESC LIMIT $1`;
  return readRegion(filter.region, async (sql) => {
    const found = await sql<BatchRow>(text, values);
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(toReplayRow),
      next: found.length > filter.limit && last ? writeCursor({ id: last.id }) : null,
    };
  });
}

export function wholeCounts(counts: Partial<ReplayCounts>): ReplayCounts {
  return countsOf(REPLAY_ITEM_STATES.map((state) => ({ state, n: counts[state] ?? 0 })));
}

export function toReplayRow(row: BatchRow): ReplayRow {
  const counts = wholeCounts(row.counts);
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
    items: Object.values(counts).reduce((sum, n) => sum + n, 0),
    counts,
    createdAt: row.created_at.toISOString(),
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    cause: row.cause,
  };
}

export interface ReplayItemFilter {
  region: Region;
  /** `rpl_...` */
  batchId: string;
  state?: ReplayItemState | undefined;
  cursor?: string | undefined;
  limit: number;
}

export const ITEM_COLUMNS = `i.delivery_id, i.tenant_id, i.destination_id, i.reason, i.state, i.skip_reason, i.canary, i.seq, i.recalls,
  i.died_at, i.released_at, i.ended_at`;

export interface ItemRow {
  delivery_id: string;
  tenant_id: string;
  destination_id: string;
  reason: string;
  state: ReplayItemState;
  skip_reason: string | null;
  canary: boolean;
  seq: number | null;
  recalls: number;
  died_at: Date | null;
  released_at: Date | null;
  ended_at: Date | null;
}

/** The items of a batch in the order of their ids; null when there is no such batch in the scope. */
export async function listReplayItems(
  access: AccessScope,
  filter: ReplayItemFilter,
): Promise<RegionAnswer<ReplayItemPage | null>> {
  const tenants = tenantsIn(access, filter.region);
  const id = fromPublicId("rpl", filter.batchId);
  return readRegion(filter.region, async (sql) => {
    if (!(await isVisible(sql, id, tenants))) return null;
    const values: unknown[] = [filter.limit + 1, id];
    const bind = (value: unknown) => `$${values.push(value)}`;
    const terms = ["i.batch_id = $2"];
    if (filter.state !== undefined) terms.push(`i.state = ${bind(filter.state)}`);
    if (filter.cursor !== undefined)
      terms.push(`i.delivery_id > ${bind(readCursor(filter.cursor).id)}::uuid`);
    const found = await sql<ItemRow>(
      `SELECT ${ITEM_COLUMNS} FROM sluice.replay_item i WHERE ${terms.join(" AND ")} ORDER BY i.delivery_id LIMIT $1`,
      values,
    );
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(toReplayItem),
      next: found.length > filter.limit && last ? writeCursor({ id: last.delivery_id }) : null,
    };
  });
}

async function isVisible(sql: Reader, id: string, tenants: TenantScope): Promise<boolean> {
  const values: unknown[] = [id];
  const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
  return (await sql(`SELECT 1 FROM sluice.replay_batch b WHERE b.id = $1 AND ${term}`, values)).length > 0;
}

export function toReplayItem(row: ItemRow): ReplayItemView {
  return {
    id: toPublicId("dlv", row.delivery_id),
    tenantId: toPublicId("ten", row.tenant_id),
    destinationId: toPublicId("dst", row.destination_id),
    reason: row.reason,
    state: row.state,
    why: row.skip_reason,
    canary: row.canary,
    seq: row.seq,
    recalls: row.recalls,
    diedAt: row.died_at?.toISOString() ?? null,
    releasedAt: row.released_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}
