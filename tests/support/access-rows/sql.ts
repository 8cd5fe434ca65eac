/** What happens to accounts behind the console's back, for tests. */
import type { Pool } from "pg";

/** Ends every session of a person, as its end or an administrator would. */
export async function endSessions(pool: Pool, email: string): Promise<void> {
  await pool.query(
    `UPDATE sluice.console_session SET expires_at = clock_timestamp() - interval '1 second'
      WHERE user_id = (SELECT id FROM sluice.console_user WHERE email = $1)`,
    [email],
  );
}

/** Disables an account and leaves its sessions, so that the check itself has to notice. */
export async function disableAccount(pool: Pool, email: string): Promise<void> {
  await pool.query("UPDATE sluice.console_user SET disabled_at = clock_timestamp() WHERE email = $1", [
    email,
  ]);
}

/** The audit's rows of an actor, newest first. */
export async function readAuditOf(
  pool: Pool,
  actor: string,
): Promise<{ action: string; result: string; target_id: string }[]> {
  const { rows } = await pool.query<{ action: string; result: string; target_id: string }>(
    "SELECT action, result, target_id FROM sluice.operator_action WHERE actor = $1 ORDER BY at DESC LIMIT 50",
    [actor],
  );
  return rows;
}

/** The version of a row that commands check; the region's own row has no id. */
export async function readVersion(
  pool: Pool,
  table: "tenant" | "region_control",
  id: string | null,
): Promise<number> {
  const { rows } = await pool.query<{ version: number }>(
    `SELECT version FROM sluice.${table} WHERE $1::uuid IS NULL OR ${table === "tenant" ? "id = $1" : "true"}`,
    [id],
  );
  return rows[0]?.version ?? 0;
}
