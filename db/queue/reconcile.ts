/**
 * Brings back what a dead worker left behind, and cancels what has nowhere to go. Every statement takes at most its
 * limit and skips locked rows, so that any number of processes may run it at once. Time is the database's.
 * It must never touch a lease that has not expired, and never make a new id or key.
 */
import { MAX_LOST_LEASES } from "#domain/delivery.ts";
import { LANES_AND_CLASSES } from "./discover.ts";
import { withPartitions } from "./missing-partition.ts";
import type { Queryable } from "./types.ts";

/** Most rows of one pass. */
export const MAX_RECONCILE_ROWS = 500;

export interface ExpiredLeases {
  /** Rows that wait again, in the lane they came from. */
  readonly returned: number;
  /** Rows that lost their third lease in a row. */
  readonly dead: number;
}

// attempts rises: the lost claim counts as a possible start. due_at stays, so that the age goes on.
const EXPIRED = `
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
  lost AS MATERIALIZED (
    SELECT d.ctid AS row_id, d.id, d.lease_token, d.leased_by, d.leased_at, d.lost_leases
      FROM sluice.delivery d
     WHERE d.state = 'leased' AND d.lease_until < (SELECT now FROM clock)
     ORDER BY d.lease_until LIMIT $1 FOR UPDATE SKIP LOCKED),
  returned AS (
    UPDATE sluice.delivery d
       SET state = 'delayed', attempts = d.attempts + 1, lost_leases = d.lost_leases + 1, last_outcome = 'lease_expired', last_status = NULL,
           lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL
      FROM lost l WHERE d.ctid = l.row_id AND l.lost_leases + 1 < $2
    RETURNING d.*),
  gone AS (
    DELETE FROM sluice.delivery d USING lost l WHERE d.ctid = l.row_id AND l.lost_leases + 1 >= $2 RETURNING d.*),
  tried AS (
    INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, worker_id,
                                lease_token, replay_batch_id, due_at, started_at, duration_ms, outcome, decision, reason, next_due_at)
    SELECT gen_random_uuid(), r.region, r.id, r.tenant_id, r.destination_id, r.service_class, r.lane, r.cycle, 'lease_expired', r.number,
           l.leased_by, l.lease_token, r.replay_batch_id, r.due_at, l.leased_at,
           least(extract(epoch FROM (SELECT now FROM clock) - l.leased_at) * 1000, 2147483647)::integer, 'lease_expired', r.decision, r.reason, r.next_due_at
      FROM (SELECT id, region, tenant_id, destination_id, service_class, lane, cycle, attempts AS number, replay_batch_id, due_at,
                   'delayed' AS decision, NULL AS reason, due_at AS next_due_at FROM returned
            UNION ALL
            SELECT id, region, tenant_id, destination_id, service_class, lane, cycle, attempts + 1, replay_batch_id, due_at,
                   'dead', 'worker_lost', NULL FROM gone) r
      JOIN lost l ON l.id = r.id
    RETURNING 1),
  died AS (
    INSERT INTO sluice.dead_letter
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle, replay_batch_id,
       first_attempt_at, first_failure_at, last_failure_at, last_outcome, last_status)
    SELECT g.id, g.region, g.tenant_id, g.destination_id, g.payload_id, g.payload_bytes, g.event_type, g.idempotency_key, g.traceparent,
           g.service_class, g.created_at, g.first_due_at, g.due_at, 'worker_lost', 'worker_lost:' || g.destination_id, g.attempts + 1, g.failures,
           g.rejections, g.throttles, g.throttled_ms, g.lost_leases + 1, g.cycle, g.replay_batch_id, g.first_attempt_at,
           coalesce(g.first_failure_at, (SELECT now FROM clock)), (SELECT now FROM clock), 'lease_expired', NULL
      FROM gone g
    RETURNING fingerprint, region),
  grouped AS (
    INSERT INTO sluice.dead_letter_group (fingerprint, region) SELECT DISTINCT fingerprint, region FROM died ORDER BY 1
    ON CONFLICT (fingerprint) DO NOTHING RETURNING 1)
  SELECT (SELECT count(*) FROM returned)::integer AS returned, (SELECT count(*) FROM gone)::integer AS dead,
         (SELECT count(*) FROM tried)::integer + (SELECT count(*) FROM grouped)::integer AS written`;

/** Returns expired leases to waiting, same lane, same key; a row that lost its third in a row dies as `worker_lost`. */
export async function returnExpiredLeases(
  pool: Queryable,
  limit = MAX_RECONCILE_ROWS,
): Promise<ExpiredLeases> {
  const result = await withPartitions(pool, () =>
    pool.query<ExpiredLeases>({
      name: "sluice-expired-leases",
      text: EXPIRED,
      values: [limit, MAX_LOST_LEASES],
    }),
  );
  return { returned: result.rows[0]?.returned ?? 0, dead: result.rows[0]?.dead ?? 0 };
}

// By lane, class, destination and due time, which is the order of the waiting index: the table is never read whole.
const CANCEL = `
  WITH dropped AS MATERIALIZED (
    -- Each by its own index: every process asks every second, and as a rule nothing is deleted.
    SELECT x.id, x.tenant_id FROM sluice.destination x WHERE x.deleted_at IS NOT NULL
    UNION
    SELECT x.id, x.tenant_id FROM sluice.tenant t JOIN sluice.destination x ON x.tenant_id = t.id WHERE t.deleted_at IS NOT NULL),
  doomed AS MATERIALIZED (
    SELECT w.row_id FROM dropped x CROSS JOIN ${LANES_AND_CLASSES}
     CROSS JOIN LATERAL (
       SELECT d.ctid AS row_id FROM sluice.delivery d
        WHERE d.state <> 'leased' AND d.lane = k.lane AND d.service_class = k.service_class
          AND d.tenant_id = x.tenant_id AND d.destination_id = x.id
        ORDER BY d.due_at, d.id FOR UPDATE SKIP LOCKED) w
     LIMIT $1),
  gone AS (DELETE FROM sluice.delivery d USING doomed x WHERE d.ctid = x.row_id RETURNING d.*),
  archived AS (
    INSERT INTO sluice.delivery_archive
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, state, reason, attempts, failures, throttles, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status)
    SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
           first_due_at, due_at, 'cancelled', 'destination_deleted', attempts, failures, throttles, cycle, replay_batch_id, first_attempt_at,
           last_outcome, last_status
      FROM gone RETURNING 1)
  SELECT count(*)::integer AS cancelled FROM archived`;

/** Waiting rows of deleted destinations become `cancelled`, a chunk at a time. Returns how many. */
export async function cancelDeleted(pool: Queryable, limit = MAX_RECONCILE_ROWS): Promise<number> {
  const result = await withPartitions(pool, () =>
    pool.query<{ cancelled: number }>({
      name: "sluice-cancel-deleted",
      text: CANCEL,
      values: [limit],
    }),
  );
  return result.rows[0]?.cancelled ?? 0;
}
