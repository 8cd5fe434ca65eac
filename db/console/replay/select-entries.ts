/**
 * Which dead letters a selection means at this moment, which of them can be replayed, and why the others cannot. Reads only.
 * The filter is never run again after the draft: what it finds is a list of ids.
 */

import type { ReplaySelection } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import type { TenantScope } from "#domain/permissions.ts";
import type { Exclusion } from "#domain/replay.ts";
import type { Queryable } from "../../queue/types.ts";
import { DEAD_AGAIN } from "./replay-links.ts";

/** Matches are counted up to here. */
export const SELECTION_COUNT_LIMIT = 100_000;

export interface SelectedEntry {
  readonly id: string;
  readonly tenant_id: string;
  readonly destination_id: string;
  readonly version: number;
  readonly cycle: number;
  readonly reason: string;
  readonly died_ms: number;
  readonly payload_bytes: number;
  readonly exclusion: Exclusion | null;
}

export interface Selected {
  /** The oldest ones, excluded ones among them. */
  readonly entries: readonly SelectedEntry[];
  /** All that match, up to SELECTION_COUNT_LIMIT. */
  readonly matching: number;
  /** Ids that were named and are no dead letters here. */
  readonly notDead: number;
}

const WHY = `
  CASE WHEN d.will_not_replay_at IS NOT NULL THEN 'will_not_replay'
       WHEN EXISTS (SELECT 1 FROM sluice.replay_item i WHERE i.delivery_id = d.id AND i.state IN ('frozen', 'released')) THEN 'in_another_batch'
       WHEN NOT EXISTS (SELECT 1 FROM sluice.payload p WHERE p.id = d.payload_id AND p.body IS NOT NULL) THEN 'payload_gone'
       WHEN x.id IS NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'destination_deleted'
       WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled'
       WHEN t.pause_until > clock_timestamp() THEN 'tenant_paused'
       WHEN x.pause_until > clock_timestamp() THEN 'destination_paused' END`;

/**
 * @param tenants whose entries there are for the caller; null: all. What lies outside is in no count, not even as what is no dead letter
 * @throws SluiceError `not_found` for a cause that does not exist or has no entry of these tenants; `bad_id`
 */
export async function selectEntries(
  client: Queryable,
  selection: ReplaySelection,
  limit: number,
  tenants: TenantScope,
): Promise<Selected> {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const terms = await termsOf(client, selection, tenants, bind);
  if (tenants !== null) terms.push(`d.tenant_id = ANY (${bind(tenants)}::uuid[])`);
  const where = `FROM sluice.dead_letter d WHERE ${terms.join(" AND ")}`;
  const counted = await client.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM (SELECT 1 ${where} LIMIT ${SELECTION_COUNT_LIMIT}) r`,
    values,
  );
  const matching = counted.rows[0]?.n ?? 0;
  const { rows } = await client.query<SelectedEntry>(
    `SELECT d.id, d.tenant_id, d.destination_id, d.version, d.cycle, d.reason, (extract(epoch FROM d.died_at) * 1000)::float8 AS died_ms,
            d.payload_bytes, ${WHY} AS exclusion
       FROM (SELECT d.* ${where} ORDER BY d.died_at, d.id LIMIT ${bind(limit)}) d
       LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
       LEFT JOIN sluice.destination x ON x.id = d.destination_id
      ORDER BY d.died_at, d.id`,
    values,
  );
  const named = "ids" in selection ? new Set(selection.ids).size : matching;
  return { entries: rows, matching, notDead: named - matching };
}

async function termsOf(
  client: Queryable,
  selection: ReplaySelection,
  tenants: TenantScope,
  bind: (value: unknown) => string,
): Promise<string[]> {
  if ("ids" in selection) {
    return [`d.id = ANY (${bind(selection.ids.map((id) => fromPublicId("dlv", id)))}::uuid[])`];
  }
  if ("deadAgainOf" in selection) {
    const batch = bind(fromPublicId("rpl", selection.deadAgainOf));
    // What another batch has taken up since then is not this one's any more.
    return [`d.id IN (${DEAD_AGAIN.replaceAll("$1", batch)})`, `d.replay_batch_id = ${batch}::uuid`];
  }
  if ("groupId" in selection) {
    const { rows } = await client.query<{ fingerprint: string }>(
      `SELECT g.fingerprint FROM sluice.dead_letter_group g WHERE g.id = $1 AND ($2::uuid[] IS NULL OR EXISTS (
         SELECT 1 FROM sluice.dead_letter d WHERE d.fingerprint = g.fingerprint AND d.tenant_id = ANY ($2)))`,
      [fromPublicId("dlg", selection.groupId), tenants],
    );
    const group = rows[0];
    if (group === undefined)
      throw new SluiceError("not_found", `${selection.groupId} does not exist in this region`);
    const terms = [`d.fingerprint = ${bind(group.fingerprint)}`];
    if (selection.until !== undefined) terms.push(`d.died_at <= ${bind(selection.until)}::timestamptz`);
    return terms;
  }
  const { tenantId, destinationId, reason, from, until } = selection.filter;
  const terms: string[] = [];
  if (tenantId !== undefined) terms.push(`d.tenant_id = ${bind(fromPublicId("ten", tenantId))}::uuid`);
  if (destinationId !== undefined)
    terms.push(`d.destination_id = ${bind(fromPublicId("dst", destinationId))}::uuid`);
  if (reason !== undefined) terms.push(`d.reason = ${bind(reason)}`);
  if (terms.length === 0)
    throw new SluiceError("bad_selection", "a filter needs a tenant, a destination or a reason");
  if (from !== undefined) terms.push(`d.died_at >= ${bind(from)}::timestamptz`);
  if (until !== undefined) terms.push(`d.died_at <= ${bind(until)}::timestamptz`);
  return terms;
}

/** How many are excluded for each reason. */
export function exclusionsOf({ entries, notDead }: Selected): Partial<Record<Exclusion, number>> {
  const counts: Partial<Record<Exclusion, number>> = notDead > 0 ? { not_dead: notDead } : {};
  for (const { exclusion } of entries) {
    if (exclusion !== null) counts[exclusion] = (counts[exclusion] ?? 0) + 1;
  }
  return counts;
}
