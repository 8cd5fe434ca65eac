/** Where Postgres spends its time, by its own counters of functions. Only in a database that the bench made. */
import type { Pool } from "pg";

/** Sessions that connect from now on count the time of functions. */
export async function trackFunctions(pool: Pool): Promise<void> {
  await pool.query(
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET track_functions = ''all''', current_database()); END $$",
  );
}

export async function resetCounters(pool: Pool): Promise<void> {
  await pool.query("SELECT pg_stat_reset()");
}

export interface FunctionTime {
  readonly name: string;
  readonly calls: number;
  /** Milliseconds of the wall clock in it and in what it called. */
  readonly totalMs: number;
}

/** Our functions, the dearest first. A session reports its counts with a delay of up to a second after it goes idle. */
export async function functionTimes(pool: Pool): Promise<FunctionTime[]> {
  const result = await pool.query<{ name: string; calls: number; total_ms: number }>(
    `SELECT funcname AS name, calls::integer AS calls, total_time AS total_ms
       FROM pg_stat_user_functions WHERE schemaname = 'sluice' ORDER BY total_time DESC`,
  );
  return result.rows.map((row) => ({ name: row.name, calls: row.calls, totalMs: row.total_ms }));
}
