/**
 * The attempts of one delivery in their order, with everything that explains the next due time.
 * Of a response it reads the size and the type; the stored bytes stay in the database.
 */
import type { Lane } from "#domain/delivery.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Reader } from "./read-region.ts";

/** Attempts shown of one delivery; the latest are kept. */
export const MAX_ATTEMPTS_SHOWN = 200;

export interface AttemptEntry {
  /** `att_...` */
  id: string;
  /** `not_sent`: it ended without a request. */
  kind: "http" | "not_sent" | "lease_expired" | "stale_result";
  number: number;
  cycle: number;
  lane: Lane;
  /** Under which replay batch it ran. */
  replay: { id: string; name: string } | null;
  /** Host and process number of the worker; null when unknown. */
  worker: string | null;
  dueAt: string;
  startedAt: string;
  durationMs: number;
  outcome: string;
  decision: "delivered" | "delayed" | "dead" | "ignored";
  reason: string | null;
  status: number | null;
  errorCode: string | null;
  errorDetail: string | null;
  countedFailure: boolean;
  retryAfter: {
    raw: string;
    /** How it was read. */
    read: string | null;
    askedMs: number | null;
  } | null;
  clamped: "min" | "max" | null;
  /** True when the policy's backoff decided in place of a Retry-After. */
  fallback: boolean;
  jitterMs: number | null;
  delayMs: number | null;
  nextDueAt: string | null;
  /** `stored`: there are bytes that can be revealed. */
  response: { contentType: string | null; bytes: number; truncated: boolean; stored: boolean } | null;
  /** When the outcome was stored: the next due time counts from then. */
  recordedAt: string;
}

/** Exported for the test of its plan. */
export const ATTEMPTS = `
  SELECT a.id, a.kind, a.number, a.cycle, a.lane, w.host, w.pid, a.due_at, a.started_at, a.duration_ms, a.outcome, a.decision,
         a.reason, a.status, a.error_code, left(a.error_detail, 500) AS error_detail, a.counted_failure,
         a.retry_after_raw, a.retry_after_read, a.retry_after_asked_ms, a.retry_after_clamped, a.fallback, a.jitter_ms,
         a.delay_ms, a.next_due_at, a.response_content_type, a.response_bytes, a.response_truncated,
         a.response_body IS NOT NULL AS response_stored, a.recorded_at, a.replay_batch_id, rb.name AS replay_name
    FROM sluice.attempt a
    LEFT JOIN sluice.worker_process w ON w.id = a.worker_id
    LEFT JOIN sluice.replay_batch rb ON rb.id = a.replay_batch_id
   WHERE a.delivery_id = $1 AND a.started_at >= $2::timestamptz - interval '1 day'
   ORDER BY a.number DESC, a.started_at DESC, a.id DESC
   LIMIT $3`;

/** Oldest first. `createdAt` bounds the partitions that are looked into; a day is left for clocks that differ. */
export async function readAttempts(
  sql: Reader,
  deliveryId: string,
  createdAt: Date,
): Promise<{ attempts: AttemptEntry[]; attemptsTruncated: boolean }> {
  const rows = await sql<AttemptRow>(ATTEMPTS, [deliveryId, createdAt, MAX_ATTEMPTS_SHOWN + 1]);
  const shown = rows.slice(0, MAX_ATTEMPTS_SHOWN).reverse();
  return { attempts: shown.map(toEntry), attemptsTruncated: rows.length > MAX_ATTEMPTS_SHOWN };
}

interface AttemptRow {
  id: string;
  kind: AttemptEntry["kind"];
  number: number;
  cycle: number;
  lane: Lane;
  host: string | null;
  pid: number | null;
  due_at: Date;
  started_at: Date;
  duration_ms: number;
  outcome: string;
  decision: AttemptEntry["decision"];
  reason: string | null;
  status: number | null;
  error_code: string | null;
  error_detail: string | null;
  counted_failure: boolean;
  retry_after_raw: string | null;
  retry_after_read: string | null;
  retry_after_asked_ms: number | null;
  retry_after_clamped: "min" | "max" | null;
  fallback: boolean | null;
  jitter_ms: number | null;
  delay_ms: number | null;
  next_due_at: Date | null;
  response_content_type: string | null;
  response_bytes: number | null;
  response_truncated: boolean | null;
  response_stored: boolean;
  recorded_at: Date;
  replay_batch_id: string | null;
  replay_name: string | null;
}

function toEntry(row: AttemptRow): AttemptEntry {
  return {
    id: toPublicId("att", row.id),
    kind: row.kind,
    number: row.number,
    cycle: row.cycle,
    lane: row.lane,
    replay:
      row.replay_batch_id === null
        ? null
        : { id: toPublicId("rpl", row.replay_batch_id), name: row.replay_name ?? "a batch that is gone" },
    worker: row.host === null ? null : `${row.host}, process ${row.pid}`,
    dueAt: row.due_at.toISOString(),
    startedAt: row.started_at.toISOString(),
    durationMs: row.duration_ms,
    outcome: row.outcome,
    decision: row.decision,
    reason: row.reason,
    status: row.status,
    errorCode: row.error_code,
    errorDetail: row.error_detail,
    countedFailure: row.counted_failure,
    retryAfter:
      row.retry_after_raw === null
        ? null
        : { raw: row.retry_after_raw, read: row.retry_after_read, askedMs: row.retry_after_asked_ms },
    clamped: row.retry_after_clamped,
    fallback: row.fallback ?? false,
    jitterMs: row.jitter_ms,
    delayMs: row.delay_ms,
    nextDueAt: row.next_due_at?.toISOString() ?? null,
    response:
      row.response_bytes === null
        ? null
        : {
            contentType: row.response_content_type,
            bytes: row.response_bytes,
            truncated: row.response_truncated ?? false,
            stored: row.response_stored,
          },
    recordedAt: row.recorded_at.toISOString(),
  };
}
