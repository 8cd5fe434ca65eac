/**
 * The statements of the receiving endpoint. A key is claimed, its effect applied and its result stored between one BEGIN
 * and one COMMIT. Of the sender's tables only LIVE_SECRETS looks at one, in place of a person who copies the secrets.
 */

/** The endpoint's tenant and its sealed secrets. $1: destination, $2: region. */
export const LIVE_SECRETS = `
SELECT tenant_id::text AS tenant_id, secret_current, secret_previous,
       extract(epoch FROM secret_previous_until) * 1000 AS previous_until_ms
  FROM sluice.destination
 WHERE id = $1::uuid AND region = $2 AND deleted_at IS NULL`;

/**
 * Claims a key. No row comes back when the key or the webhook-id is known; a transaction that is about to claim either
 * is waited for, so that two requests at once cannot both be the first.
 * $1: endpoint, $2: key, $3: region, $4: webhook-id, $5: SHA-256 of the body.
 */
export const CLAIM_KEY = `
INSERT INTO sluice.demo_inbound_key (endpoint_id, idempotency_key, region, webhook_id, body_sha256)
VALUES ($1::uuid, $2, $3, $4, $5::bytea)
ON CONFLICT DO NOTHING
RETURNING idempotency_key`;

/** What stands under the key or under the webhook-id: one row, or two when they belong to different deliveries. */
export const READ_KEY = `
SELECT idempotency_key, webhook_id, body_sha256, result FROM sluice.demo_inbound_key
 WHERE endpoint_id = $1::uuid AND (idempotency_key = $2 OR webhook_id = $3)`;

/** Persists the result. $1: endpoint, $2: key, $3: result. */
export const STORE_RESULT = `
UPDATE sluice.demo_inbound_key SET result = $3 WHERE endpoint_id = $1::uuid AND idempotency_key = $2`;

/** $1: region, $2: endpoint, $3: ticket, $4: kind, $5: key, $6: detail. */
export const ADD_ACTIVITY = `
INSERT INTO sluice.demo_inbound_activity (region, endpoint_id, ticket_id, kind, idempotency_key, detail)
VALUES ($1, $2::uuid, $3::uuid, $4, $5, $6)`;

/** Writes a document unless a newer one stands there. $1: endpoint, $2: ticket, $3: region, $4: version, $5: subject. */
export const PUT_DOCUMENT = `
INSERT INTO sluice.demo_inbound_document AS d (endpoint_id, ticket_id, region, version, subject)
VALUES ($1::uuid, $2::uuid, $3, $4, $5)
ON CONFLICT (endpoint_id, ticket_id) DO UPDATE
   SET version = excluded.version, subject = excluded.subject, writes = d.writes + 1, updated_at = clock_timestamp()
 WHERE d.version <= excluded.version
RETURNING writes`;

/**
 * Forgets keys, and activities, older than $1 milliseconds, at most $2 of each. A key that is forgotten lets its effect
 * happen again, so the time must be longer than the sender may come back.
 */
export const FORGET_KEYS = `
WITH old AS MATERIALIZED (
  SELECT endpoint_id, idempotency_key FROM sluice.demo_inbound_key
   WHERE received_at < (SELECT clock_timestamp()) - $1::float8 * interval '1 millisecond'
   ORDER BY received_at LIMIT $2::integer FOR UPDATE SKIP LOCKED
), past AS MATERIALIZED (
  SELECT id FROM sluice.demo_inbound_activity
   WHERE at < (SELECT clock_timestamp()) - $1::float8 * interval '1 millisecond' ORDER BY at LIMIT $2::integer
), gone AS (
  DELETE FROM sluice.demo_inbound_activity a USING past WHERE a.id = past.id
)
DELETE FROM sluice.demo_inbound_key k USING old
 WHERE k.endpoint_id = old.endpoint_id AND k.idempotency_key = old.idempotency_key`;
