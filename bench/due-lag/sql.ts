/** What the database stored about due times, for comparison with what the receiver saw. */
import type { Pool } from "pg";
import { toPublicId } from "#domain/ids.ts";

export interface StoredAttempt {
  readonly webhookId: string;
  readonly number: number;
  /** The due time that stood on the row when it was claimed, in milliseconds since 1970 with a fraction. */
  readonly dueAtMs: number;
  /** Started before that, by the database's own clock. */
  readonly early: boolean;
}

/** Every HTTP attempt of the tenant. */
export async function storedAttempts(pool: Pool, tenantId: string): Promise<StoredAttempt[]> {
  const result = await pool.query<{ delivery_id: string; number: number; due_ms: number; early: boolean }>(
    `SELECT delivery_id, number, (extract(epoch FROM due_at) * 1000)::float8 AS due_ms, started_at < due_at AS early
       FROM sluice.attempt WHERE tenant_id = $1 AND kind = 'http'`,
    [tenantId],
  );
  return result.rows.map((row) => ({
    webhookId: toPublicId("dlv", row.delivery_id),
    number: row.number,
    dueAtMs: row.due_ms,
    early: row.early,
  }));
}
