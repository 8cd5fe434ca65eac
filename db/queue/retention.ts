/**
 * Makes tomorrow's partitions and removes what is past its time: whole partitions where possible, chunks elsewhere.
 * It must never remove anything that a live or dead delivery still needs, and never wait long for a lock.
 */
import type { Pool } from "pg";
import { readPartitionHealth } from "./partition-health.ts";
import {
  type DroppedPartitions,
  dropOldPartitions,
  makePartitions,
  type PartitionDays,
  type TidiedDefaults,
  tidyDefaults,
} from "./partitions.ts";

/** Days that each kind of row is kept. */
export interface RetentionDays extends PartitionDays {
  readonly key: number;
  readonly sample: number;
}

export const DEFAULT_RETENTION: RetentionDays = { attempt: 30, archive: 30, payload: 30, key: 90, sample: 7 };
/** Most rows that one chunk removes. */
export const MAX_CHUNK_ROWS = 5_000;
/** Most chunks of one table in a pass: retention must keep up with a region that writes thousands of rows a second. */
const MAX_CHUNKS = 200;

export interface RetentionResult extends DroppedPartitions, Omit<TidiedDefaults, "made"> {
  readonly created: string[];
  readonly removedRows: number;
  /** DEFAULT partitions that were missing and are there again: an alarm, since rows may have been refused meanwhile. */
  readonly defaultMissing: string[];
  /** What still is wrong with the partitions after the pass, one sentence each: an alarm. */
  readonly alarms: readonly string[];
}

/** One pass. Safe to run in several processes at once. What cannot be done now is left for the next one. */
export async function applyRetention(
  pool: Pool,
  days: RetentionDays = DEFAULT_RETENTION,
): Promise<RetentionResult> {
  const created = (await makePartitions(pool)) ?? [];
  const { made, ...tidied } = await tidyDefaults(pool, days);
  const dropped = await dropOldPartitions(pool, days);
  const removedRows = await removeOldRows(pool, days);
  const { alarms } = await readPartitionHealth(pool);
  const defaultMissing = created.filter((name) => name.endsWith("_default"));
  return { created: [...created, ...made], ...tidied, ...dropped, removedRows, defaultMissing, alarms };
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
