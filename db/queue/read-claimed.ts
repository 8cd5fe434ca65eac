/**
 * Reads what a claim has leased: envelope and body, moments before the request. A missing or erased body comes back
 * as null and ends as `payload_erased`. It must never read a row whose lease token is not the caller's.
 */
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import { uuidV7Floor } from "#domain/ids.ts";
import type { Queryable } from "./types.ts";

export interface ClaimedDelivery {
  readonly id: string;
  readonly token: string;
  readonly tenantId: string;
  readonly destinationId: string;
  /** Version of the destination's row, for the worker's cache of its configuration. */
  readonly destinationVersion: number;
  readonly eventType: string;
  readonly idempotencyKey: string;
  readonly traceparent: string | null;
  readonly serviceClass: ServiceClass;
  readonly lane: Lane;
  readonly replayBatchId: string | null;
  /** Of a replay: attempts that its batch allows it in this cycle. */
  readonly replayAttempts?: number | null;
  /** Of a replay: its tenant wants the batch's id under a second name too. */
  readonly replayHeader?: boolean | null;
  readonly dueMs: number;
  readonly attempts: number;
  readonly failures: number;
  readonly rejections: number;
  readonly throttles: number;
  readonly throttledMs: number;
  readonly lostLeases: number;
  readonly cycle: number;
  /** Gates of the destination in a row, before this attempt. */
  readonly consecutiveGates: number;
  readonly payloadBytes: number;
  readonly contentType: string | null;
  readonly body: Buffer | null;
}

/** `hasPayload`: the body was looked at where it was expected; without it, it may still stand elsewhere. */
type ReadRow = ClaimedDelivery & { readonly payloadId: string; readonly hasPayload: boolean };

// Envelope and body in one round trip. The bounds are what partitions are left out by when a prepared statement begins: with one partition
// left, each row costs one look into it.
const READ_CLAIMED = `
  SELECT d.id, d.lease_token AS "token", d.tenant_id AS "tenantId", d.destination_id AS "destinationId",
         x.version AS "destinationVersion", d.payload_id AS "payloadId", d.event_type AS "eventType",
         d.idempotency_key AS "idempotencyKey", d.traceparent, d.service_class AS "serviceClass", d.lane,
         d.replay_batch_id AS "replayBatchId", (SELECT b.attempt_budget FROM sluice.replay_batch b WHERE b.id = d.replay_batch_id) AS "replayAttempts",
         CASE WHEN d.replay_batch_id IS NOT NULL THEN (SELECT t.replay_header FROM sluice.tenant t WHERE t.id = d.tenant_id) END AS "replayHeader",
         extract(epoch FROM d.due_at)::float8 * 1000 AS "dueMs", d.attempts, d.failures,
         d.rejections, d.throttles, d.throttled_ms::float8 AS "throttledMs", d.lost_leases AS "lostLeases", d.cycle,
         coalesce(s.consecutive_gates, 0) AS "consecutiveGates", d.payload_bytes AS "payloadBytes",
         p.content_type AS "contentType", p.body, p.id IS NOT NULL AS "hasPayload"
    FROM sluice.delivery d
   CROSS JOIN LATERAL (SELECT x.version FROM sluice.destination x WHERE x.id = d.destination_id) x
    LEFT JOIN LATERAL (SELECT s.consecutive_gates FROM sluice.destination_state s WHERE s.destination_id = d.destination_id) s ON true
    LEFT JOIN LATERAL (SELECT p.id, p.content_type, p.body FROM sluice.payload p
                        WHERE p.id = d.payload_id AND p.id >= $3 AND p.id < $4 OFFSET 0) p ON true
   WHERE d.id = ANY($1::uuid[]) AND d.lease_token = $2`;

// What was not where it was expected: one array for all, in the same form.
const READ_PAYLOADS =
  "SELECT p.id, p.content_type, p.body FROM sluice.payload p WHERE p.id = ANY($1::uuid[]) AND p.id >= $2 AND p.id <= $3";

/** A body is written with its delivery, so their ids are of about the same time; a body that is shared or written by others may be older. */
const PAYLOAD_NEAR_MS = 60_000;
const LATEST_ID_MS = 2 ** 48 - 1;

/** The rows of one claim, in no particular order. Rows that are no longer ours are left out. */
export async function readClaimed(
  pool: Queryable,
  ids: readonly string[],
  token: string,
): Promise<ClaimedDelivery[]> {
  if (ids.length === 0) return [];
  const { rows } = await pool.query<ReadRow>({
    name: "sluice-read-claimed",
    text: READ_CLAIMED,
    values: [ids, token, ...payloadBounds(ids)],
  });
  const elsewhere = rows.filter(({ hasPayload }) => !hasPayload).map(({ payloadId }) => payloadId);
  const payloads = await readPayloads(pool, [...new Set(elsewhere)]);
  return rows.map(({ payloadId, hasPayload, ...delivery }) =>
    hasPayload ? delivery : { ...delivery, ...(payloads.get(payloadId) ?? NO_PAYLOAD) },
  );
}

/** Where the bodies of these deliveries are expected: from the first bound on, below the second. */
function payloadBounds(ids: readonly string[]): [from: string, below: string] {
  let [lowest, highest] = [ids[0] ?? "", ids[0] ?? ""];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  const fromMs = Math.max(0, timeBits(lowest) - PAYLOAD_NEAR_MS);
  return [uuidV7Floor(fromMs), uuidV7Floor(Math.min(LATEST_ID_MS, timeBits(highest) + PAYLOAD_NEAR_MS))];
}

/** The time of a UUIDv7. Of any other id it is some number: its body is looked for a second time then. */
function timeBits(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

type Payload = Pick<ClaimedDelivery, "contentType" | "body">;
const NO_PAYLOAD: Payload = { contentType: null, body: null };

async function readPayloads(pool: Queryable, ids: readonly string[]): Promise<Map<string, Payload>> {
  const first = ids[0];
  if (first === undefined) return new Map();
  let [lowest, highest] = [first, first];
  for (const id of ids) {
    if (id < lowest) lowest = id;
    if (id > highest) highest = id;
  }
  const { rows } = await pool.query<{ id: string; content_type: string; body: Buffer | null }>({
    name: "sluice-read-payloads",
    text: READ_PAYLOADS,
    values: [ids, lowest, highest],
  });
  return new Map(rows.map((row) => [row.id, { contentType: row.content_type, body: row.body }]));
}
