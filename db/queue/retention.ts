/**
 * Makes tomorrow's partitions and removes what is past its time: whole partitions where possible, chunks elsewhere.
 * It must never remove anything that a live or dead delivery still needs, and never wait long for a lock.
 */
import type { Pool, PoolClient } from "pg";

/** Days that each kind of row is kept. */
export interface RetentionDays {
  readonly attempt: number;
  readonly archive: number;
  readonly payload: number;
  readonly key: number;
  readonly sample: number;
}

export const DEFAULT_RETENTION: RetentionDays = { attempt: 30, archive: 30, payload: 30, key: 90, sample: 7 };
/** Most rows that one chunk removes. */
export const MAX_CHUNK_ROWS = 5_000;
/** Most chunks of one table in a pass: retention must keep up with a region that writes thousands of rows a second. */
const MAX_CHUNKS = 200;
/** Most partitions that one pass drops. */
export const MAX_DROPS = 50;
const LOCK_TIMEOUT_MS = 200;
const LOCK_TRIES = 5;
const DAYS_AHEAD = 7;
const LOCK_NOT_AVAILABLE = "55P03";
/** Two-integer advisory lock; (5301, 1) is the claim's. */
const PARTITION_LOCK = "5301, 2";

type Parent = "attempt" | "payload" | "delivery_archive";

export interface RetentionResult {
  readonly created: string[];
  readonly dropped: string[];
  /** Partitions past their time that a live or dead delivery still needs, or that could not be locked. */
  readonly kept: string[];
  readonly removedRows: number;
  /** DEFAULT partitions that hold rows: an alarm, since a new day's partition cannot be made over them. */
  readonly defaultInUse: string[];
}

/** One pass. Safe to run in several processes at once. */
export async function applyRetention(
  pool: Pool,
  days: RetentionDays = DEFAULT_RETENTION,
): Promise<RetentionResult> {
  const created = await withLock(pool, async (client) => {
    const made = await client.query<{ name: string }>("SELECT * FROM sluice.ensure_partitions($1) AS name", [
      DAYS_AHEAD,
    ]);
    return made.rows.map((row) => row.name);
  });
  const dropped: string[] = [];
  const kept: string[] = [];
  for (const candidate of await oldPartitions(pool, days)) {
    const gone = await withLock(pool, (client) => dropPartition(client, candidate));
    (gone === true ? dropped : kept).push(candidate.name);
  }
  const removedRows = await removeOldRows(pool, days);
  return { created: created ?? [], dropped, kept, removedRows, defaultInUse: await usedDefaults(pool) };
}

interface OldPartition {
  readonly parent: Parent;
  readonly name: string;
  /** YYYYMMDD. */
  readonly day: string;
}

async function oldPartitions(pool: Pool, days: RetentionDays): Promise<OldPartition[]> {
  const result = await pool.query<{ parent: Parent; name: string; day: string }>(
    `SELECT p.relname AS parent, c.relname AS name, right(c.relname, 8) AS day
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
      WHERE p.relnamespace = 'sluice'::regnamespace AND c.relname ~ '_[0-9]{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < (clock_timestamp() AT TIME ZONE 'UTC')::date
            - CASE p.relname WHEN 'attempt' THEN $1::integer WHEN 'delivery_archive' THEN $2::integer WHEN 'payload' THEN $3::integer END
      ORDER BY c.relname LIMIT $4`,
    [days.attempt, days.archive, days.payload, MAX_DROPS],
  );
  return result.rows;
}

/**
 * False when a live or dead delivery still needs a payload of that day (their ids are made in the same millisecond).
 * Attempts and the archive go by age alone: a dead letter carries its own counts. The names come from pg_class.
 */
async function dropPartition(client: PoolClient, partition: OldPartition): Promise<boolean> {
  const needed = await client.query<{ needed: boolean }>(
    `WITH bound AS (SELECT to_date($1, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' AS low)
     SELECT $2 = 'payload' AND EXISTS (
       SELECT 1 FROM bound CROSS JOIN LATERAL (
         (SELECT 1 FROM sluice.delivery d
           WHERE d.payload_id >= sluice.uuid_floor(low) AND d.payload_id < sluice.uuid_floor(low + interval '1 day') LIMIT 1)
         UNION ALL
         (SELECT 1 FROM sluice.dead_letter d
           WHERE d.payload_id >= sluice.uuid_floor(low) AND d.payload_id < sluice.uuid_floor(low + interval '1 day') LIMIT 1)) w) AS needed`,
    [partition.day, partition.parent],
  );
  if (needed.rows[0]?.needed !== false) return false;
  // Another process may have dropped it since it was listed.
  await client.query(`DROP TABLE IF EXISTS sluice.${client.escapeIdentifier(partition.name)}`);
  return true;
}

/**
 * Runs the work in a transaction that waits at most LOCK_TIMEOUT_MS for a lock; null when it never got it. One process
 * at a time: two that make or drop the same partition would end in an error.
 */
async function withLock<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T | null> {
  for (let attempt = 0; attempt < LOCK_TRIES; attempt++) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await client.query(`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
      const result = await work(client);
      await client.query("COMMIT");
      return result;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined);
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    } finally {
      client.release();
    }
  }
  return null;
}

async function removeOldRows(pool: Pool, days: RetentionDays): Promise<number> {
  let removed = 0;
  const statements: [string, unknown[]][] = [
    // A key outlives its delivery: it goes only when it is old and its delivery is neither live nor dead.
    [
      `DELETE FROM sluice.delivery_key k WHERE k.ctid = ANY (ARRAY(
         SELECT o.ctid FROM sluice.delivery_key o WHERE o.created_at < clock_timestamp() - $1::integer * interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM sluice.delivery d WHERE d.id = o.delivery_id)
            AND NOT EXISTS (SELECT 1 FROM sluice.dead_letter d WHERE d.id = o.delivery_id) LIMIT ${MAX_CHUNK_ROWS}))`,
      [days.key],
    ],
    [
      `DELETE FROM sluice.queue_sample s WHERE s.ctid = ANY (ARRAY(
         SELECT o.ctid FROM sluice.queue_sample o WHERE o.at < clock_timestamp() - $1::integer * interval '1 day' LIMIT ${MAX_CHUNK_ROWS}))`,
      [days.sample],
    ],
    [
      `DELETE FROM sluice.sample_run s WHERE s.ctid = ANY (ARRAY(
         SELECT o.ctid FROM sluice.sample_run o WHERE o.at < clock_timestamp() - $1::integer * interval '1 day' LIMIT ${MAX_CHUNK_ROWS}))`,
      [days.sample],
    ],
    [
      `DELETE FROM sluice.attempt_rollup s WHERE s.ctid = ANY (ARRAY(
         SELECT o.ctid FROM sluice.attempt_rollup o WHERE o.minute < clock_timestamp() - $1::integer * interval '1 day' LIMIT ${MAX_CHUNK_ROWS}))`,
      [days.attempt],
    ],
    [
      `DELETE FROM sluice.api_idempotency s WHERE s.ctid = ANY (ARRAY(
         SELECT o.ctid FROM sluice.api_idempotency o WHERE o.created_at < clock_timestamp() - interval '1 day' LIMIT ${MAX_CHUNK_ROWS}))`,
      [],
    ],
  ];
  for (const [text, values] of statements) {
    for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
      const rows = (await pool.query(text, values)).rowCount ?? 0;
      removed += rows;
      if (rows < MAX_CHUNK_ROWS) break;
    }
  }
  return removed;
}

async function usedDefaults(pool: Pool): Promise<string[]> {
  const result = await pool.query<{ name: string }>(
    `SELECT 'payload_default' AS name WHERE EXISTS (SELECT 1 FROM sluice.payload_default)
     UNION ALL SELECT 'attempt_default' WHERE EXISTS (SELECT 1 FROM sluice.attempt_default)
     UNION ALL SELECT 'delivery_archive_default' WHERE EXISTS (SELECT 1 FROM sluice.delivery_archive_default)`,
  );
  return result.rows.map((row) => row.name);
}
