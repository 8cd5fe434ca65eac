/** Rows that are late, and what became of others: for tests that look at a console with something to show. */
import type { Pool } from "pg";

/** A waiting delivery that should have gone out `by` (a Postgres interval) before its due time. */
export async function makeLate(pool: Pool, deliveryId: string, by: string): Promise<void> {
  await pool.query(
    `UPDATE sluice.delivery SET first_due_at = first_due_at - $2::interval, due_at = due_at - $2::interval WHERE id = $1`,
    [deliveryId, by],
  );
}

/** Dead letters of a tenant, and whether (1) or not (0) the gate of a destination is shut. */
export async function readTrouble(
  pool: Pool,
  tenantId: string,
  destinationId: string,
): Promise<{ dead: number; shut: number } | undefined> {
  const { rows } = await pool.query<{ dead: number; shut: number }>(
    `SELECT (SELECT count(*)::integer FROM sluice.dead_letter WHERE tenant_id = $1) AS dead,
            (SELECT count(*)::integer FROM sluice.destination_state
              WHERE destination_id = $2 AND hold_until > clock_timestamp()) AS shut`,
    [tenantId, destinationId],
  );
  return rows[0];
}

/** Ends the hold of gates at this moment. */
export async function endGates(pool: Pool, destinationIds: readonly string[]): Promise<void> {
  await pool.query(
    "UPDATE sluice.destination_state SET hold_until = clock_timestamp() WHERE destination_id = ANY($1::uuid[])",
    [destinationIds],
  );
}
