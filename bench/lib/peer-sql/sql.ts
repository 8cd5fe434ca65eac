/** What the bench asks the tables of other queues, in databases that it made for them. It must never see one of ours. */
import type { Pool } from "pg";

export async function clearGraphile(pool: Pool): Promise<void> {
  await pool.query("TRUNCATE graphile_worker._private_jobs");
}

/** Jobs that are not completed; a failed one counts, and a run with one never ends well. */
export async function anyGraphileJobs(pool: Pool): Promise<boolean> {
  const result = await pool.query<{ left: boolean }>(
    "SELECT EXISTS (SELECT 1 FROM graphile_worker._private_jobs) AS left",
  );
  return result.rows[0]?.left ?? true;
}

export async function anyBossJobs(pool: Pool, queue: string): Promise<boolean> {
  const result = await pool.query<{ left: boolean }>(
    "SELECT EXISTS (SELECT 1 FROM pgboss.job WHERE name = $1 AND state < 'completed') AS left",
    [queue],
  );
  return result.rows[0]?.left ?? true;
}

/** Statistics of what was just filled, as for our own rows before a round. */
export async function analyzePeer(pool: Pool): Promise<void> {
  await pool.query("ANALYZE");
}
