/**
 * The newest attempts at one destination. The table of attempts has no index by destination (each attempt would pay for
 * it), so the attempts by minute say where to look: at most as many minutes as attempts are wanted, each a small range of
 * one partition. Without a bound of time this must never look into the table. No response body is read.
 */
import type { Lane } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, tenantsIn } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import { type RegionAnswer, readRegion } from "./read-region.ts";

/** Attempts shown of one destination. */
export const MAX_DESTINATION_ATTEMPTS = 50;
/** Further back there is no look for them. */
export const ATTEMPT_DAYS = 7;
/** What was recorded this lately may not be counted by minute yet. */
const UNCOUNTED_MS = 3 * 60_000;

export interface DestinationAttempt {
  /** `att_...` */
  id: string;
  /** `dlv_...` */
  deliveryId: string;
  kind: "http" | "not_sent" | "lease_expired" | "stale_result";
  number: number;
  lane: Lane;
  startedAt: string;
  durationMs: number;
  outcome: string;
  status: number | null;
  errorCode: string | null;
  retryAfterRaw: string | null;
  decision: "delivered" | "delayed" | "dead" | "ignored";
  reason: string | null;
  nextDueAt: string | null;
}

export interface DestinationAttempts {
  /** Newest first. */
  attempts: DestinationAttempt[];
  /** There are older ones within `days`. */
  more: boolean;
  days: number;
}

/** $1 the time of the answer, $2 the destination, $3 how many, $4 the uncounted time in ms, $5 the days. */
const ATTEMPTS = `
  WITH counted AS MATERIALIZED (
    SELECT DISTINCT r.minute FROM (
      SELECT r.minute FROM sluice.attempt_rollup r
       WHERE r.destination_id = $2 AND r.minute >= $1::timestamptz - $5::integer * interval '1 day'
       ORDER BY r.minute DESC LIMIT $3) r
  ), spans AS MATERIALIZED (
    SELECT c.minute AS low, c.minute + interval '1 minute' AS high FROM counted c
     WHERE c.minute < date_trunc('minute', $1::timestamptz - $4::integer * interval '1 millisecond')
    UNION ALL
    SELECT date_trunc('minute', $1::timestamptz - $4::integer * interval '1 millisecond'), 'infinity'
  )
  SELECT a.id, a.delivery_id, a.kind, a.number, a.lane, a.started_at, a.duration_ms, a.outcome, a.status, a.error_code,
         a.retry_after_raw, a.decision, a.reason, a.next_due_at
    FROM spans s
   CROSS JOIN LATERAL (
     SELECT * FROM sluice.attempt a
      WHERE a.started_at >= s.low AND a.started_at < s.high AND a.destination_id = $2
      ORDER BY a.started_at DESC, a.id DESC LIMIT $3) a
   ORDER BY a.started_at DESC, a.id DESC LIMIT $3`;

interface AttemptRow {
  id: string;
  delivery_id: string;
  kind: DestinationAttempt["kind"];
  number: number;
  lane: Lane;
  started_at: Date;
  duration_ms: number;
  outcome: string;
  status: number | null;
  error_code: string | null;
  retry_after_raw: string | null;
  decision: DestinationAttempt["decision"];
  reason: string | null;
  next_due_at: Date | null;
}

/**
 * @param publicId `dst_...`
 * @throws SluiceError `not_found` for a region or a destination outside the scope, `bad_id`
 */
export async function readDestinationAttempts(
  access: AccessScope,
  region: Region,
  publicId: string,
): Promise<RegionAnswer<DestinationAttempts>> {
  const id = fromPublicId("dst", publicId);
  const tenantIds = tenantsIn(access, region);
  const answer = await readRegion(region, async (sql, asOf) => {
    const known = await sql(
      "SELECT 1 FROM sluice.destination WHERE id = $1 AND ($2::uuid[] IS NULL OR tenant_id = ANY ($2)) LIMIT 1",
      [id, tenantIds],
    );
    if (known.length === 0) return null;
    return sql<AttemptRow>(ATTEMPTS, [asOf, id, MAX_DESTINATION_ATTEMPTS + 1, UNCOUNTED_MS, ATTEMPT_DAYS]);
  });
  if (answer.status === "unavailable") return answer;
  if (answer.data === null)
    throw new SluiceError("not_found", `No such destination in ${region} in your scope.`);
  const attempts = answer.data.slice(0, MAX_DESTINATION_ATTEMPTS).map(toAttempt);
  return {
    ...answer,
    data: { attempts, more: answer.data.length > MAX_DESTINATION_ATTEMPTS, days: ATTEMPT_DAYS },
  };
}

function toAttempt(row: AttemptRow): DestinationAttempt {
  return {
    id: toPublicId("att", row.id),
    deliveryId: toPublicId("dlv", row.delivery_id),
    kind: row.kind,
    number: row.number,
    lane: row.lane,
    startedAt: row.started_at.toISOString(),
    durationMs: row.duration_ms,
    outcome: row.outcome,
    status: row.status,
    errorCode: row.error_code,
    retryAfterRaw: row.retry_after_raw,
    decision: row.decision,
    reason: row.reason,
    nextDueAt: row.next_due_at?.toISOString() ?? null,
  };
}
