/**
 * The daily partitions of payload, attempt and archive: made ahead, dropped past their time, and the DEFAULT ones kept
 * empty of whatever has a day of its own. It must never drop a body that a live or dead delivery needs, and never wait
 * long for a lock: writers would wait behind it.
 */
import type { Pool, PoolClient } from "pg";
import { transact } from "../transact.ts";

/** Most partitions that one pass drops. */
export const MAX_DROPS = 50;
/** Most rows and bytes of a DEFAULT partition that are moved at once: writers of the table wait meanwhile. */
export const MAX_MOVED_ROWS = 20_000;
export const MAX_MOVED_BYTES = 256 * 1024 * 1024;
const LOCK_TIMEOUT_MS = 200;
const LOCK_TRIES = 5;
const DAYS_AHEAD = 7;
const LOCK_NOT_AVAILABLE = "55P03";
/** Two-integer advisory lock; (5301, 1) is the claim's. */
const PARTITION_LOCK = "5301, 2";

export const PARENTS = ["payload", "attempt", "delivery_archive"] as const;
export type Parent = (typeof PARENTS)[number];

/** Days that each partitioned kind of row is kept. */
export interface PartitionDays {
  readonly attempt: number;
  readonly archive: number;
  readonly payload: number;
}

/** Makes what is missing. Returns the names it made; null when the lock was never free. */
export function makePartitions(pool: Pool): Promise<string[] | null> {
  return withLock(pool, ensure);
}

async function ensure(client: PoolClient): Promise<string[]> {
  const made = await client.query<{ name: string }>("SELECT * FROM sluice.ensure_partitions($1) AS name", [
    DAYS_AHEAD,
  ]);
  return made.rows.map((row) => row.name);
}

export interface DroppedPartitions {
  readonly dropped: string[];
  /** Past their time, but a live or dead delivery needs them, or they could not be locked. */
  readonly kept: string[];
}

/** Drops whole days past their time, the oldest first. */
export async function dropOldPartitions(pool: Pool, days: PartitionDays): Promise<DroppedPartitions> {
  const { candidates, needed } = await oldPartitions(pool, days);
  const dropped: string[] = [];
  const kept = [...needed];
  for (const candidate of candidates) {
    const gone = await withLock(pool, (client) => dropPartition(client, candidate));
    (gone === true ? dropped : kept).push(candidate.name);
  }
  return { dropped, kept };
}

interface OldPartition {
  readonly parent: Parent;
  readonly name: string;
  /** YYYYMMDD. */
  readonly day: string;
}

/**
 * Days of payloads that are still needed are set apart before the bound is applied: dead letters can wait for a person
 * for months, and their days must not stand in the way of the later ones.
 */
async function oldPartitions(
  pool: Pool,
  days: PartitionDays,
): Promise<{ candidates: OldPartition[]; needed: string[] }> {
  const { rows } = await pool.query<OldPartition>(
    `SELECT p.relname AS parent, c.relname AS name, right(c.relname, 8) AS day
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
      WHERE p.relnamespace = 'sluice'::regnamespace AND c.relname ~ '_[0-9]{8}$'
        AND to_date(right(c.relname, 8), 'YYYYMMDD') < (clock_timestamp() AT TIME ZONE 'UTC')::date
            - CASE p.relname WHEN 'attempt' THEN $1::integer WHEN 'delivery_archive' THEN $2::integer WHEN 'payload' THEN $3::integer END
      ORDER BY c.relname`,
    [days.attempt, days.archive, days.payload],
  );
  const inUse = rows.some(({ parent }) => parent === "payload")
    ? await neededDays(pool, days.payload)
    : new Set<string>();
  const isNeeded = ({ parent, day }: OldPartition) => parent === "payload" && inUse.has(day);
  return {
    candidates: rows.filter((row) => !isNeeded(row)).slice(0, MAX_DROPS),
    needed: rows.filter(isNeeded).map(({ name }) => name),
  };
}

/** YYYYMMDD of every old payload that a live or dead delivery has: one read of both tables, whatever the number of days. */
async function neededDays(pool: Pool, payloadDays: number): Promise<Set<string>> {
  const { rows } = await pool.query<{ day: string }>(
    `WITH old AS (SELECT sluice.uuid_floor(((clock_timestamp() AT TIME ZONE 'UTC')::date - $1::integer)::timestamp AT TIME ZONE 'UTC') AS bound),
          used AS (SELECT d.payload_id FROM sluice.delivery d, old WHERE d.payload_id < old.bound
                   UNION ALL SELECT d.payload_id FROM sluice.dead_letter d, old WHERE d.payload_id < old.bound)
     SELECT DISTINCT to_char(to_timestamp(('x' || left(replace(payload_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC',
                             'YYYYMMDD') AS day FROM used`,
    [payloadDays],
  );
  return new Set(rows.map(({ day }) => day));
}

/**
 * False when a live or dead delivery needs a payload of that day after all. Attempts and the archive go by age alone: a
 * dead letter carries its own counts. The names come from pg_class.
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

/** Rows of a DEFAULT partition that are not past their time, or are needed all the same. $1 is the number of days. */
const KEEP: Readonly<Record<Parent, string>> = {
  attempt: "r.started_at >= clock_timestamp() - $1::integer * interval '1 day'",
  // By its end, not by its id: a delivery may be older than the archive's days when it is delivered at last.
  delivery_archive: "r.finished_at >= clock_timestamp() - $1::integer * interval '1 day'",
  payload: `(r.id >= sluice.uuid_floor(clock_timestamp() - $1::integer * interval '1 day')
             OR EXISTS (SELECT 1 FROM sluice.delivery d WHERE d.payload_id = r.id)
             OR EXISTS (SELECT 1 FROM sluice.dead_letter d WHERE d.payload_id = r.id))`,
};

/** Rows of a DEFAULT partition that have a day of their own, from yesterday on, which cannot be made because of them. */
export const BLOCKS: Readonly<Record<Parent, string>> = {
  attempt: `r.started_at >= ((clock_timestamp() AT TIME ZONE 'UTC')::date - 1)::timestamp AT TIME ZONE 'UTC'
            AND r.started_at < ((clock_timestamp() AT TIME ZONE 'UTC')::date + ${DAYS_AHEAD + 1})::timestamp AT TIME ZONE 'UTC'`,
  delivery_archive: blocksById(),
  payload: blocksById(),
};

function blocksById(): string {
  const at = (days: number) =>
    `sluice.uuid_floor(((clock_timestamp() AT TIME ZONE 'UTC')::date + ${days})::timestamp AT TIME ZONE 'UTC')`;
  return `r.id >= ${at(-1)} AND r.id < ${at(DAYS_AHEAD + 1)}`;
}

export interface TidiedDefaults {
  /** DEFAULT partitions that were emptied of rows with a day of their own, or of rows past their time. */
  readonly tidied: string[];
  /** Those that hold too much to be moved while writers wait: a person has to (docs/controls.md). */
  readonly tooFull: string[];
  /** Days that could be made at last. */
  readonly made: string[];
}

/**
 * A DEFAULT partition that holds rows of a day keeps that day from being made, and nothing in it would ever go by day.
 * It is taken out, made anew, and its rows are written back to where they belong, without those past their time.
 */
export async function tidyDefaults(pool: Pool, days: PartitionDays): Promise<TidiedDefaults> {
  const tidied: string[] = [];
  const tooFull: string[] = [];
  const made: string[] = [];
  for (const parent of PARENTS) {
    const keptDays = daysOf(parent, days);
    if (!(await needsTidying(pool, parent, keptDays))) continue;
    const name = `${parent}_default`;
    if (await isTooFull(pool, name)) {
      tooFull.push(name);
      continue;
    }
    const names = await withLock(pool, (client) => writeBack(client, parent, keptDays));
    if (names === null) continue;
    tidied.push(name);
    made.push(...names.filter((each) => each !== name));
  }
  return { tidied, tooFull, made };
}

async function needsTidying(pool: Pick<Pool, "query">, parent: Parent, days: number): Promise<boolean> {
  const there = await pool.query<{ there: boolean }>("SELECT to_regclass($1) IS NOT NULL AS there", [
    `sluice.${parent}_default`,
  ]);
  if (there.rows[0]?.there !== true) return false;
  const { rowCount } = await pool.query(
    `SELECT 1 FROM sluice.${parent}_default r WHERE (${BLOCKS[parent]}) OR NOT (${KEEP[parent]}) LIMIT 1`,
    [days],
  );
  return rowCount !== 0;
}

async function isTooFull(pool: Pool, name: string): Promise<boolean> {
  const { rows } = await pool.query<{ full: boolean }>(
    // Null: another process has just replaced it.
    `SELECT coalesce(pg_table_size('sluice.${name}') > $1, false)
         OR (SELECT count(*) FROM (SELECT 1 FROM sluice.${name} LIMIT ${MAX_MOVED_ROWS + 1}) r) > ${MAX_MOVED_ROWS} AS full`,
    [MAX_MOVED_BYTES],
  );
  return rows[0]?.full !== false;
}

/**
 * All of it or nothing: a failure leaves the old DEFAULT partition where it was. Returns what was made; null when another
 * process has done it.
 */
async function writeBack(client: PoolClient, parent: Parent, days: number): Promise<string[] | null> {
  if (!(await needsTidying(client, parent, days))) return null;
  const aside = `${parent}_aside`;
  await client.query(`ALTER TABLE sluice.${parent} DETACH PARTITION sluice.${parent}_default`);
  await client.query(`ALTER TABLE sluice.${parent}_default RENAME TO ${aside}`);
  const made = await ensure(client);
  await client.query(`INSERT INTO sluice.${parent} SELECT r.* FROM sluice.${aside} r WHERE ${KEEP[parent]}`, [
    days,
  ]);
  await client.query(`DROP TABLE sluice.${aside}`);
  return made;
}

function daysOf(parent: Parent, days: PartitionDays): number {
  return parent === "delivery_archive" ? days.archive : days[parent];
}

/**
 * Runs the work in a transaction that waits at most LOCK_TIMEOUT_MS for a lock; null when it never got it. One process
 * at a time: two that make or drop the same partition would end in an error.
 */
async function withLock<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T | null> {
  for (let attempt = 0; attempt < LOCK_TRIES; attempt++) {
    try {
      return await transact(pool, { lockMs: LOCK_TIMEOUT_MS }, async (client) => {
        await client.query(`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
        return work(client);
      });
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
    }
  }
  return null;
}
