/**
 * Whose row a command is about: looked up before anything is done, so that permission is asked for the row's own tenant.
 * A row never changes its tenant. Reads only.
 */
import type { Pool } from "pg";
import { fromPublicId, type PublicIdPrefix } from "#domain/ids.ts";
import { findPayloadTenant } from "./erase-payload.ts";
import type { Facts } from "./run-command.ts";

type Reading = Pick<Pool, "query">;

export type RowKind =
  | "tenant"
  | "destination"
  | "delivery"
  | "payload"
  | "dead_letter_group"
  | "replay_batch";

/** The prefix of each kind's public id. */
export const PREFIX_OF: Readonly<Record<RowKind, PublicIdPrefix>> = {
  tenant: "ten",
  destination: "dst",
  delivery: "dlv",
  payload: "pay",
  dead_letter_group: "dlg",
  replay_batch: "rpl",
};

const TENANT_OF: Readonly<Record<Exclude<RowKind, "payload">, string>> = {
  tenant: "SELECT id AS tenant_id FROM sluice.tenant WHERE id = $1 AND deleted_at IS NULL",
  destination: "SELECT tenant_id FROM sluice.destination WHERE id = $1 AND deleted_at IS NULL",
  delivery: "SELECT tenant_id FROM sluice.delivery_all WHERE id = $1 LIMIT 1",
  // Of all its entries; null when they are of several tenants, which makes it a matter of the region. Without any: no row.
  dead_letter_group: `
    SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM sluice.dead_letter o WHERE o.fingerprint = g.fingerprint AND o.tenant_id <> d.tenant_id)
                THEN d.tenant_id END AS tenant_id
      FROM sluice.dead_letter_group g
     CROSS JOIN LATERAL (SELECT e.tenant_id FROM sluice.dead_letter e WHERE e.fingerprint = g.fingerprint LIMIT 1) d
     WHERE g.id = $1`,
  // A batch of several tenants is a matter of the region, as a group is.
  replay_batch:
    "SELECT CASE WHEN cardinality(tenant_ids) = 1 THEN tenant_ids[1] END AS tenant_id FROM sluice.replay_batch WHERE id = $1",
};

/**
 * The UUID of the tenant that the row belongs to. `tenantId` is null for a payload that no delivery uses any more, and for
 * a group of dead letters of several tenants.
 * @returns null when there is no such row in this region
 * @throws SluiceError `bad_id`
 */
export async function findTarget(
  pool: Reading,
  kind: RowKind,
  publicId: string,
): Promise<{ readonly tenantId: string | null } | null> {
  const id = fromPublicId(PREFIX_OF[kind], publicId);
  if (kind === "payload") return findPayloadTenant(pool, id);
  const { rows } = await pool.query<{ tenant_id: string | null }>(TENANT_OF[kind], [id]);
  return rows[0] === undefined ? null : { tenantId: rows[0].tenant_id };
}

/** Who changed a row last, for somebody whose version is old. */
export interface LastChange {
  readonly changedBy: string;
  /** UTC */
  readonly changedAt: string;
  readonly action: string;
  readonly before: Facts;
  readonly after: Facts;
}

/** The newest change in the audit of a target, of one action if it is named; null when there is none. */
export async function readLastChange(
  pool: Reading,
  kind: string,
  targetId: string,
  action: string | null = null,
): Promise<LastChange | null> {
  const { rows } = await pool.query<{
    actor: string;
    at: Date;
    action: string;
    before: Facts | null;
    after: Facts | null;
  }>(
    `SELECT actor, at, action, before, after FROM sluice.operator_action
      WHERE target_kind = $1 AND target_id = $2 AND result = 'done' AND ($3::text IS NULL OR action = $3)
      ORDER BY at DESC, id DESC LIMIT 1`,
    [kind, targetId, action],
  );
  const row = rows[0];
  if (row === undefined) return null;
  return {
    changedBy: row.actor,
    changedAt: row.at.toISOString(),
    action: row.action,
    before: row.before ?? {},
    after: row.after ?? {},
  };
}
