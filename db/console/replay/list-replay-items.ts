/**
 * The entries of a replay batch, page by page, each with what it stands at now. Reads only. It is shown to those who may
 * read every tenant of the batch; no body and no header of one is ever part of it.
 */
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, type TenantScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayItemState } from "#domain/replay.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { type Reader, type RegionAnswer, readRegion } from "../read-region.ts";
import { scopeTerm } from "./replay-row.ts";
import type { ReplayItemPage, ReplayItemView } from "./replay-views.ts";

/** Of its cursors. */
const LIST = "replay-items";

export interface ReplayItemFilter {
  region: Region;
  /** `rpl_...` */
  batchId: string;
  state?: ReplayItemState | undefined;
  /** `dst_...` */
  destination?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** Of the item `i` and of its delivery `v`. */
const ITEM_COLUMNS = `i.delivery_id, i.tenant_id, i.destination_id, i.reason, i.state, i.skip_reason, i.canary, i.seq, i.recalls,
  i.died_at, i.released_at, i.ended_at, v.attempts, v.last_status, v.last_outcome`;

const OF_DELIVERY =
  "LEFT JOIN LATERAL (SELECT a.attempts, a.last_status, a.last_outcome FROM sluice.delivery_all a WHERE a.id = i.delivery_id LIMIT 1) v ON true";

interface ItemRow {
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
  attempts: number | null;
  last_status: number | null;
  last_outcome: string | null;
}

/**
 * The items of a batch in the order of their ids; null when there is no such batch in the scope.
 * @throws SluiceError `not_found` for a region outside it, `bad_id`, `bad_cursor`
 */
export async function listReplayItems(
  access: AccessScope,
  filter: ReplayItemFilter,
): Promise<RegionAnswer<ReplayItemPage | null>> {
  const tenants = tenantsIn(access, filter.region);
  const id = fromPublicId("rpl", filter.batchId);
  const values: unknown[] = [filter.limit + 1, id];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = ["i.batch_id = $2"];
  if (filter.state !== undefined) terms.push(`i.state = ${bind(filter.state)}`);
  if (filter.destination !== undefined)
    terms.push(`i.destination_id = ${bind(fromPublicId("dst", filter.destination))}::uuid`);
  if (filter.cursor !== undefined)
    terms.push(`i.delivery_id > ${bind(readCursor(LIST, filter.cursor).id)}::uuid`);
  return readRegion(filter.region, async (sql) => {
    if (!(await isVisible(sql, id, tenants))) return null;
    const found = await sql<ItemRow>(
      `SELECT ${ITEM_COLUMNS}
         FROM (SELECT i.* FROM sluice.replay_item i WHERE ${terms.join(" AND ")} ORDER BY i.delivery_id LIMIT $1) i ${OF_DELIVERY}
        ORDER BY i.delivery_id`,
      values,
    );
    const rows = found.slice(0, filter.limit);
    const last = rows.at(-1);
    return {
      rows: rows.map(toReplayItem),
      next: found.length > filter.limit && last ? writeCursor(LIST, { id: last.delivery_id }) : null,
    };
  });
}

/** Some items of a batch that the caller has read already, in the order of the ids given. */
export async function readItems(
  sql: Reader,
  batchId: string,
  ids: readonly string[],
): Promise<ReplayItemView[]> {
  if (ids.length === 0) return [];
  const rows = await sql<ItemRow>(
    `SELECT ${ITEM_COLUMNS} FROM sluice.replay_item i ${OF_DELIVERY} WHERE i.batch_id = $1 AND i.delivery_id = ANY ($2::uuid[]) LIMIT 5000`,
    [batchId, ids],
  );
  const byId = new Map(rows.map((row) => [row.delivery_id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []).map(toReplayItem);
}

export async function isVisible(sql: Reader, id: string, tenants: TenantScope): Promise<boolean> {
  const values: unknown[] = [id];
  const term = scopeTerm(tenants, (value) => `$${values.push(value)}`);
  return (await sql(`SELECT 1 FROM sluice.replay_batch b WHERE b.id = $1 AND ${term}`, values)).length > 0;
}

function toReplayItem(row: ItemRow): ReplayItemView {
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
    attempts: row.attempts,
    lastStatus: row.last_status,
    lastOutcome: row.last_outcome,
  };
}
