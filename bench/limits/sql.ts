/** A limit changed as a row, without a hint and without a barrier: the slowest way in which a change can come to count. */
import type { Pool } from "pg";
import { toPublicId } from "#domain/ids.ts";

/** Resolves when it is committed. */
export async function setRate(pool: Pool, destinationId: string, perSecond: number): Promise<void> {
  await pool.query(
    "UPDATE sluice.destination SET rate_per_second = $2, version = version + 1 WHERE id = $1",
    [destinationId, perSecond],
  );
}

/** Resolves when it is committed. */
export async function setConcurrency(pool: Pool, destinationId: string, limit: number): Promise<void> {
  await pool.query(
    "UPDATE sluice.destination SET concurrency_limit = $2, version = version + 1 WHERE id = $1",
    [destinationId, limit],
  );
}

/** When the requests of a destination started, in milliseconds since 1970 with a fraction, by delivery (`dlv_...`) and attempt. */
export async function recordedStarts(
  pool: Pool,
  destinationId: string,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ delivery_id: string; number: number; started_ms: number }>(
    `SELECT delivery_id, number, (extract(epoch FROM started_at) * 1000)::float8 AS started_ms
       FROM sluice.attempt WHERE destination_id = $1 AND kind = 'http'`,
    [destinationId],
  );
  return new Map(
    rows.map((row) => [`${toPublicId("dlv", row.delivery_id)} ${row.number}`, row.started_ms] as const),
  );
}
