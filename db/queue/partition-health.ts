/**
 * Whether the daily partitions stand as they should: for retention's alarm and for the doctor. Reads only. What it finds
 * costs nobody a delivery by itself, but the next thing that goes wrong would.
 */
import { BLOCKS, PARENTS, type Parent } from "./partitions.ts";
import type { Queryable } from "./types.ts";

/** Rows of a DEFAULT partition are counted up to this. */
export const MAX_COUNTED_ROWS = 10_000;

export interface DefaultPartition {
  readonly parent: Parent;
  /** False: a row that fits no day is refused, and with it the batch that holds it. */
  readonly there: boolean;
  /** Up to MAX_COUNTED_ROWS. */
  readonly rows: number;
  /** Rows whose own day cannot be made because they are here. */
  readonly blocksDays: boolean;
}

export interface PartitionHealth {
  readonly defaults: readonly DefaultPartition[];
  /** Partitions of yesterday, today and tomorrow that do not exist: their rows fall into DEFAULT. */
  readonly missingDays: readonly string[];
  /** What is wrong, one sentence each; empty when all is well. */
  readonly alarms: readonly string[];
  /** What is unusual but in order. */
  readonly notes: readonly string[];
}

export async function readPartitionHealth(pool: Queryable): Promise<PartitionHealth> {
  const defaults: DefaultPartition[] = [];
  for (const parent of PARENTS) defaults.push(await readDefault(pool, parent));
  const missingDays = await readMissingDays(pool);
  return { defaults, missingDays, ...judge(defaults, missingDays) };
}

async function readDefault(pool: Queryable, parent: Parent): Promise<DefaultPartition> {
  const name = `${parent}_default`;
  const attached = await pool.query(
    `SELECT 1 FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
      WHERE p.relnamespace = 'sluice'::regnamespace AND p.relname = $1 AND c.relname = $2`,
    [parent, name],
  );
  if (attached.rowCount === 0) return { parent, there: false, rows: 0, blocksDays: false };
  const { rows } = await pool.query<{ n: number; blocks: boolean }>(
    `SELECT (SELECT count(*)::integer FROM (SELECT 1 FROM sluice.${name} LIMIT ${MAX_COUNTED_ROWS}) r) AS n,
            EXISTS (SELECT 1 FROM sluice.${name} r WHERE ${BLOCKS[parent]}) AS blocks`,
  );
  return { parent, there: true, rows: rows[0]?.n ?? 0, blocksDays: rows[0]?.blocks === true };
}

async function readMissingDays(pool: Queryable): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT p.parent || '_' || to_char((clock_timestamp() AT TIME ZONE 'UTC')::date + d.day, 'YYYYMMDD') AS name
       FROM unnest($1::text[]) p(parent) CROSS JOIN generate_series(-1, 1) d(day)
      WHERE to_regclass('sluice.' || p.parent || '_' || to_char((clock_timestamp() AT TIME ZONE 'UTC')::date + d.day, 'YYYYMMDD')) IS NULL
      ORDER BY 1`,
    [PARENTS],
  );
  return rows.map(({ name }) => name);
}

function judge(
  defaults: readonly DefaultPartition[],
  missingDays: readonly string[],
): Pick<PartitionHealth, "alarms" | "notes"> {
  const alarms: string[] = [];
  const notes: string[] = [];
  for (const { parent, there, rows, blocksDays } of defaults) {
    const name = `${parent}_default`;
    const count = rows >= MAX_COUNTED_ROWS ? `${MAX_COUNTED_ROWS} rows or more` : `${rows} rows`;
    if (!there) alarms.push(`${name} is missing: rows outside all days are refused`);
    else if (blocksDays) alarms.push(`${name} holds ${count}, and days that cannot be made because of them`);
    // Deliveries that are older than the archive's days when they end have no other place.
    else if (rows > 0 && parent === "delivery_archive") notes.push(`${name} holds ${count} of older days`);
    else if (rows > 0)
      alarms.push(`${name} holds ${count} of days far from now: some writer's clock is wrong`);
  }
  if (missingDays.length > 0) alarms.push(`missing: ${missingDays.join(", ")}`);
  return { alarms, notes };
}
