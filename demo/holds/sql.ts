/** The one statement of the sweep that Prisma's models cannot say: rows that another sweep holds are left to it. */

/**
 * Expired active holds, oldest first, locked until the transaction ends. $1: region, $2: most rows.
 * The expiry comes as text with microseconds: it is part of the key and must not pass through a JavaScript date.
 * wanted: whether there is still somebody to tell; a hold whose destination was deleted is released all the same.
 */
export const SELECT_EXPIRED = `
SELECT h.id::text AS id, h.tenant_id::text AS tenant_id, h.destination_id::text AS destination_id,
       h.amount_minor::text AS amount_minor, h.currency, h.card_last4,
       to_char(h.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS expires_at,
       EXISTS (SELECT 1 FROM sluice.destination d JOIN sluice.tenant t ON t.id = d.tenant_id
                WHERE d.id = h.destination_id AND d.tenant_id = h.tenant_id
                  AND d.deleted_at IS NULL AND t.deleted_at IS NULL) AS wanted,
       clock_timestamp() AS now
  FROM sluice.demo_card_hold h
 WHERE h.region = $1 AND h.state = 'active' AND h.expires_at <= (SELECT clock_timestamp())
 ORDER BY h.expires_at, h.id
 LIMIT $2::integer
   FOR UPDATE OF h SKIP LOCKED`;
