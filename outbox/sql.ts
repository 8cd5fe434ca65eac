/**
 * The two statements of the outbox. They take JSON text and one byte string, because those pass unchanged through
 * every version of Prisma's raw queries; the bodies themselves are never part of the JSON.
 * Nothing here may touch a row that two business writers share, take a lock beyond the new rows, or NOTIFY.
 */
import { createHash } from "node:crypto";
import { WAKE_CHANNEL } from "#domain/wake.ts";

/**
 * Checks all deliveries, and writes all that are new or, when one has a problem, nothing.
 * $1: JSON array of deliveries; $2: JSON array of bodies; $3: the bodies' bytes, one behind the other; $4: longest
 * delay in milliseconds. Returns a row per delivery: position, problem, database_region, created.
 *
 * - OFFSET 0 keeps the look-ups on the primary keys: the planner knows nothing about the length of a JSON array.
 * - Keys are inserted in order, so that two bulk calls with the same keys wait for each other and never deadlock.
 * - An open transaction with the same key is waited for, as any unique key requires; when it commits, the key is
 *   simply not among the new ones.
 * - One clock reading for all rows: delays of a call are exact to each other.
 * - A parameter is worked out once, in a place of its own, not for each row: Postgres believes in thousands of rows here, would
 *   save itself that sum by planning the statement anew in every call, and the planning takes longer than all the rest.
 */
export const ENQUEUE = `
WITH moment AS MATERIALIZED (
  SELECT n.at, n.at + $4::text::double precision * interval '1 millisecond' AS latest FROM (SELECT clock_timestamp() AS at OFFSET 0) n
), input AS MATERIALIZED (
  SELECT i.*, coalesce(to_timestamp(i.due_ms / 1000), m.at + coalesce(i.delay_ms, 0) * interval '1 millisecond') AS due_at
    FROM moment m, json_to_recordset($1::text::json) AS i(
      position integer, insertable boolean, body integer, delivery_id uuid, region text, tenant_id uuid, destination_id uuid,
      event_type text, idempotency_key text, service_class text, traceparent text,
      delay_ms double precision, due_ms double precision)
), body AS MATERIALIZED (
  SELECT b.* FROM json_to_recordset($2::text::json) AS b(
    number integer, payload_id uuid, sha256 text, content_type text, start integer, bytes integer)
), checked AS MATERIALIZED (
  SELECT i.*, rc.region AS database_region,
         CASE WHEN rc.region <> i.region THEN 'wrong_region'
              WHEN t.deleted IS DISTINCT FROM false THEN 'unknown_tenant'
              WHEN d.deleted IS DISTINCT FROM false THEN 'unknown_destination'
              WHEN d.tenant_id <> i.tenant_id THEN 'foreign_destination'
              WHEN i.due_at > m.latest THEN 'bad_due_time' END AS problem
    FROM moment m CROSS JOIN sluice.region_control rc CROSS JOIN input i
    LEFT JOIN LATERAL (SELECT x.deleted_at IS NOT NULL AS deleted
                         FROM sluice.tenant x WHERE x.id = i.tenant_id OFFSET 0) t ON true
    LEFT JOIN LATERAL (SELECT x.tenant_id, x.deleted_at IS NOT NULL AS deleted
                         FROM sluice.destination x WHERE x.id = i.destination_id OFFSET 0) d ON true
), fine AS MATERIALIZED (
  SELECT c.*, b.sha256, b.payload_id, b.bytes
    FROM checked c JOIN body b ON b.number = c.body
   WHERE c.insertable AND NOT EXISTS (SELECT 1 FROM checked p WHERE p.problem IS NOT NULL)
), new_key AS (
  INSERT INTO sluice.delivery_key (idempotency_key, destination_id, region, delivery_id, body_sha256)
  SELECT f.idempotency_key, f.destination_id, f.region, f.delivery_id, decode(f.sha256, 'hex')
    FROM fine f ORDER BY f.idempotency_key COLLATE "C", f.destination_id
  ON CONFLICT (idempotency_key, destination_id) DO NOTHING
  RETURNING delivery_id
), created AS MATERIALIZED (
  SELECT f.* FROM fine f WHERE f.delivery_id IN (SELECT k.delivery_id FROM new_key k)
), payload AS (
  INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
  SELECT b.payload_id, rc.region, substring($3::bytea FROM b.start + 1 FOR b.bytes), b.content_type, b.bytes
    FROM body b CROSS JOIN sluice.region_control rc
   WHERE b.number IN (SELECT c.body FROM created c)
), delivery AS (
  INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type,
                               idempotency_key, traceparent, service_class, created_at, first_due_at, due_at)
  SELECT c.delivery_id, c.region, c.tenant_id, c.destination_id, c.payload_id, c.bytes, c.event_type,
         c.idempotency_key, c.traceparent, c.service_class::sluice.service_class, m.at, c.due_at, c.due_at
    FROM created c CROSS JOIN moment m
)
SELECT c.position, c.problem, c.database_region,
       c.delivery_id IN (SELECT n.delivery_id FROM created n) AS created
  FROM checked c ORDER BY c.position`;

/**
 * What stands under known keys. $1: JSON array of position, idempotency_key, destination_id.
 * Returns a row per key that is there: position, delivery_id, sha256 (hex).
 */
export const READ_KNOWN = `
SELECT i.position, k.delivery_id, k.sha256
  FROM json_to_recordset($1::text::json) AS i(position integer, idempotency_key text, destination_id uuid)
 CROSS JOIN LATERAL (SELECT x.delivery_id::text AS delivery_id, encode(x.body_sha256, 'hex') AS sha256
                       FROM sluice.delivery_key x
                      WHERE x.idempotency_key = i.idempotency_key AND x.destination_id = i.destination_id OFFSET 0) k`;

/** Names under which a connection may keep the statements prepared. A changed text gets another name. */
const PREPARED: ReadonlyMap<string, string> = new Map(
  [ENQUEUE, READ_KNOWN].map((text) => [text, nameOf(text)]),
);

/**
 * For Prisma's adapter: `new PrismaPg(pool, { statementNameGenerator: outboxStatementName })` keeps the outbox's
 * statements prepared, which halves the time of an enqueue; all other statements stay as they are (the empty name).
 * Leave it out behind a transaction pooler that does not know prepared statements.
 */
export function outboxStatementName(query: { readonly sql: string }): string {
  return PREPARED.get(query.sql) ?? "";
}

/** Tells the workers of this database that something was committed. The payload stays empty. */
export const NOTIFY_WAKE = `NOTIFY ${WAKE_CHANNEL}`;

function nameOf(text: string): string {
  return `sluice_${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;
}
