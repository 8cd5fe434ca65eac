/** The age that people are shown, by its one definition in the database. */
import type { Pool } from "pg";

/** Milliseconds since the oldest due time of a delivery without a stored outcome; 0 when there is none. */
export async function firstAttemptAgeMs(pool: Pool): Promise<number> {
  const result = await pool.query<{ age_ms: number | null }>(
    `SELECT max(extract(epoch FROM n.at - q.first_due_at) * 1000)::float8 AS age_ms
       FROM (SELECT clock_timestamp() AS at) n, sluice.queue_age(n.at) q`,
  );
  return Math.max(0, result.rows[0]?.age_ms ?? 0);
}
