/** Brings a destination into a state in which nothing leaves, for tests. */
import type { Pool } from "pg";

const HOUR_MS = 3_600_000;

/** Shuts its gate for an hour, as a 429 would. */
export async function shutGate(pool: Pool, destinationId: string): Promise<void> {
  await pool.query(
    "SELECT sluice.shut_gate($1, NULL, $2, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
    [destinationId, HOUR_MS],
  );
}
