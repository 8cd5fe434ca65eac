/**
 * The statements of the desk that Prisma's models cannot say: what another tick is busy with is left to it, and what is
 * taken is changed in the same statement. Nothing here touches a table of the receiving side.
 */

/** Whether somebody is still there to be told; what is for a deleted destination is settled without a delivery. */
const WANTED = `EXISTS (SELECT 1 FROM sluice.destination d JOIN sluice.tenant n ON n.id = d.tenant_id
                  WHERE d.id = t.destination_id AND d.tenant_id = t.tenant_id
                    AND d.deleted_at IS NULL AND n.deleted_at IS NULL) AS wanted`;
const TICKET = `t.id::text AS id, t.tenant_id::text AS tenant_id, t.destination_id::text AS destination_id,
                t.subject, t.version, ${WANTED}`;

/**
 * Takes follow-ups whose moment has come, the oldest first. $1: region, $2: most rows.
 * The moment comes as text with microseconds: it is part of the key and must not pass through a JavaScript date.
 */
export const TAKE_FOLLOW_UPS = `
WITH due AS MATERIALIZED (
  SELECT id, follow_up_at FROM sluice.demo_support_ticket
   WHERE region = $1 AND follow_up_at <= (SELECT clock_timestamp())
   ORDER BY follow_up_at, id LIMIT $2::integer FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE sluice.demo_support_ticket t SET follow_up_at = NULL FROM due WHERE t.id = due.id
  RETURNING due.follow_up_at, ${TICKET}
)
SELECT taken.*, to_char(follow_up_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS follow_up_text
  FROM taken ORDER BY taken.follow_up_at, taken.id`;

/** Takes tickets that have changed since they were last enriched. $1: region, $2: most rows. */
export const TAKE_CHANGED = `
WITH changed AS MATERIALIZED (
  SELECT id FROM sluice.demo_support_ticket
   WHERE region = $1 AND enriched_version < version ORDER BY id LIMIT $2::integer FOR UPDATE SKIP LOCKED
), taken AS (
  UPDATE sluice.demo_support_ticket t SET enriched_version = t.version FROM changed WHERE t.id = changed.id
  RETURNING ${TICKET}
)
SELECT * FROM taken ORDER BY id`;

/**
 * Locks the oldest unfinished batch that no other tick is busy with. $1: region.
 * start_ms: its first write, or now, in milliseconds since 1970; elapsed_ms: since then, by the database's clock.
 */
export const LOCK_BATCH = `
SELECT t.id::text AS id, t.tenant_id::text AS tenant_id, t.destination_id::text AS destination_id, t.generation,
       t.last_ticket_id::text AS last_ticket_id, t.written, ${WANTED},
       (extract(epoch FROM coalesce(t.started_at, m.at)) * 1000)::float8 AS start_ms,
       (extract(epoch FROM m.at - coalesce(t.started_at, m.at)) * 1000)::float8 AS elapsed_ms
  FROM (SELECT clock_timestamp() AS at) m, sluice.demo_support_index_batch t
 WHERE t.region = $1 AND t.finished_at IS NULL
 ORDER BY t.ordered_at, t.id LIMIT 1 FOR UPDATE OF t SKIP LOCKED`;

/** The batch's next tickets. $1: tenant, $2: the last ticket that is written or null, $3: most rows. */
export const READ_BATCH_TICKETS = `
SELECT id::text AS id, subject, version FROM sluice.demo_support_ticket
 WHERE tenant_id = $1::uuid AND ($2::uuid IS NULL OR id > $2::uuid)
 ORDER BY id LIMIT $3::integer`;

/**
 * Moves a batch on. $1: id, $2: last ticket or null to leave it, $3: how many were written, $4: whether it is over,
 * $5: its start in milliseconds since 1970, which the first write stores.
 */
export const ADVANCE_BATCH = `
UPDATE sluice.demo_support_index_batch
   SET last_ticket_id = coalesce($2::uuid, last_ticket_id), written = written + $3::integer,
       started_at = coalesce(started_at, to_timestamp($5::float8 / 1000)),
       finished_at = CASE WHEN $4::boolean THEN clock_timestamp() END
 WHERE id = $1::uuid`;

/**
 * Orders the tenant's next batch, unless one is unfinished. $1: new id, $2: region, $3: tenant, $4: destination.
 * Two orders at once leave one batch.
 */
export const ORDER_BATCH = `
INSERT INTO sluice.demo_support_index_batch (id, region, tenant_id, destination_id, generation)
SELECT $1::uuid, $2, $3::uuid, $4::uuid, 1 + coalesce(max(b.generation), 0)
  FROM sluice.demo_support_index_batch b WHERE b.tenant_id = $3::uuid
HAVING coalesce(bool_and(b.finished_at IS NOT NULL), true)
ON CONFLICT DO NOTHING`;
