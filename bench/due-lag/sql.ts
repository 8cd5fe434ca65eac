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

export interface AttemptRow {
  delivery_id: string;
  number: number;
  due_ms: number;
  early: boolean;
}

/** A moment as a number. */
export const ms = (moment: string) => `(extract(epoch FROM ${moment}) * 1000)::float8`;
/** Columns of an AttemptRow, of `sluice.attempt a`. */
export const STORED = `a.delivery_id, a.number, ${ms("a.due_at")} AS due_ms, a.started_at < a.due_at AS early`;

/** Every HTTP attempt of the tenant. */
export async function storedAttempts(pool: Pool, tenantId: string): Promise<StoredAttempt[]> {
  const { rows } = await pool.query<AttemptRow>(
    `SELECT ${STORED} FROM sluice.attempt a WHERE a.tenant_id = $1 AND a.kind = 'http'`,
    [tenantId],
  );
  return rows.map(toStored);
}

export function toStored(row: AttemptRow): StoredAttempt {
  return {
    webhookId: toPublicId("dlv", row.delivery_id),
    number: row.number,
    dueAtMs: row.due_ms,
    early: row.early,
  };
}
