/** What became of a delivery and of its body, wherever its row is by now. It only looks. */
import type { Pool } from "pg";

/** Its state and the reason of its end; null when there is no such delivery. */
export async function readState(
  pool: Pool,
  id: string,
): Promise<{ state: string; reason: string | null } | null> {
  const { rows } = await pool.query<{ state: string; reason: string | null }>(
    "SELECT state, reason FROM sluice.delivery_all WHERE id = $1",
    [id],
  );
  return rows[0] ?? null;
}

/** Where the bytes of its body are: in their one place, kept apart, or gone. */
export async function readBody(pool: Pool, id: string): Promise<"stored" | "restricted" | "gone"> {
  const { rows } = await pool.query<{ stored: boolean; restricted: boolean }>(
    `SELECT p.body IS NOT NULL AS stored, r.payload_id IS NOT NULL AS restricted
       FROM sluice.delivery_all d
       LEFT JOIN sluice.payload p ON p.id = d.payload_id
       LEFT JOIN sluice.payload_restricted r ON r.payload_id = d.payload_id
      WHERE d.id = $1`,
    [id],
  );
  if (rows[0]?.stored) return "stored";
  return rows[0]?.restricted ? "restricted" : "gone";
}

/** Deliveries of a tenant that have been delivered. */
export async function countDelivered(pool: Pool, tenantId: string): Promise<number> {
  const { rows } = await pool.query<{ delivered: number }>(
    "SELECT count(*)::integer AS delivered FROM sluice.delivery_archive WHERE tenant_id = $1 AND state = 'delivered'",
    [tenantId],
  );
  return rows[0]?.delivered ?? 0;
}
