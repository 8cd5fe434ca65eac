/**
 * Records outcomes in one statement, fenced by (id, lease token). It must never report a row as recorded that the
 * statement did not return, and never let one row's data refuse its neighbours for good (the caller bisects).
 */
import { withPartitions } from "./missing-partition.ts";
import type { Queryable } from "./types.ts";

/** Most rows of one call; the SQL function refuses more than 500. */
export const MAX_FINISH_ROWS = 250;

/** One outcome, with the column names of `sluice.finish`. Response bytes are base64. */
export interface FinishRow {
  readonly id: string;
  readonly lease_token: string;
  readonly attempt_id: string;
  readonly worker_id: string;
  /** Database time of the request's start. */
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly outcome: string;
  readonly decision: "delivered" | "delayed" | "dead";
  readonly reason?: string;
  readonly status?: number;
  readonly error_code?: string;
  readonly error_detail?: string;
  /** False when the delivery ended without a request. */
  readonly sent: boolean;
  readonly failure?: boolean;
  readonly rejection?: boolean;
  readonly throttle?: boolean;
  /** The answer was no limit: if this was the gate's probe, the gate opens. */
  readonly opens_gate: boolean;
  readonly retry_after_raw?: string;
  readonly retry_after_read?: string;
  readonly retry_after_asked_ms?: number;
  readonly retry_after_clamped?: "min" | "max";
  readonly fallback?: boolean;
  readonly jitter_ms?: number;
  readonly delay_ms?: number;
  readonly content_type?: string;
  readonly body?: string;
  readonly body_bytes?: number;
  readonly truncated?: boolean;
  readonly fingerprint?: string;
}

/** Delivery id -> its due time in database time, for each row that was recorded; the rest were not ours (any more). */
export async function finish(pool: Queryable, rows: readonly FinishRow[]): Promise<Map<string, number>> {
  const result = await withPartitions(pool, () =>
    pool.query<{ id: string; due_at: Date }>({
      name: "sluice-finish",
      text: "SELECT id, due_at FROM sluice.finish($1::json)",
      values: [JSON.stringify(rows)],
    }),
  );
  return new Map(result.rows.map((row) => [row.id, row.due_at.getTime()]));
}
