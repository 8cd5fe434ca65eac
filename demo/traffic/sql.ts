/** The statements of the demo's traffic that Prisma's models cannot say in a bounded way. */

/**
 * How much of each destination waits and is dead, counted up to a bound, by index look-ups only: a demo that somebody
 * has loaded with a million rows must not be slowed down by its own traffic.
 * $1: JSON array of destination ids; $2: count waiting rows of a lane and class up to; $3: count dead rows up to.
 */
export const READ_BACKLOG = `
SELECT d.id::text AS destination_id,
       (SELECT count(*)::integer
          FROM unnest(enum_range(NULL::sluice.lane)) AS lane (name)
         CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) AS class (name)
         CROSS JOIN LATERAL (SELECT 1 FROM sluice.delivery r
                              WHERE r.state <> 'leased' AND r.lane = lane.name AND r.service_class = class.name
                                AND r.tenant_id = d.tenant_id AND r.destination_id = d.id LIMIT $2::integer) w) AS waiting,
       (SELECT count(*)::integer
          FROM (SELECT 1 FROM sluice.dead_letter l WHERE l.destination_id = d.id LIMIT $3::integer) x) AS dead
  FROM json_array_elements_text($1::text::json) AS i (id)
  JOIN sluice.destination d ON d.id = i.id::uuid AND d.deleted_at IS NULL
  JOIN sluice.tenant t ON t.id = d.tenant_id AND t.deleted_at IS NULL`;

/** Forgets finished holds that are older than $1 milliseconds, at most $2, with their ledger entries. */
export const DELETE_OLD_HOLDS = `
WITH old AS MATERIALIZED (
  SELECT h.id FROM sluice.demo_card_hold h
   WHERE h.state <> 'active' AND h.created_at < (SELECT clock_timestamp()) - $1::integer * interval '1 millisecond'
   LIMIT $2::integer FOR UPDATE SKIP LOCKED
), entries AS (
  DELETE FROM sluice.demo_ledger_entry e USING old WHERE e.hold_id = old.id
)
DELETE FROM sluice.demo_card_hold h USING old WHERE h.id = old.id`;
