/** The business row that a writer of the bench inserts, in a table that the bench makes in its own database. */
import type { Pool } from "pg";

export const INSERT_BUSINESS =
  "INSERT INTO public.bench_business (id, tenant_id, amount_minor, note) VALUES ($1::uuid, $2::uuid, $3, $4)";

/** What a worker's connection says to hear hints. */
export const LISTEN_WAKE = "LISTEN sluice_wake";

export async function makeBusinessTable(pool: Pool): Promise<void> {
  await pool.query(
    `CREATE TABLE public.bench_business (
       id uuid PRIMARY KEY, tenant_id uuid NOT NULL, amount_minor bigint NOT NULL, note text NOT NULL,
       created_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  );
}

/** Empties what a turn wrote, so that turns are alike, and returns how many rows stood in either table. */
export async function clearWritten(pool: Pool): Promise<{ business: number; deliveries: number }> {
  const counted = await pool.query<{ business: number; deliveries: number }>(
    `SELECT (SELECT count(*) FROM public.bench_business)::integer AS business,
            (SELECT count(*) FROM sluice.delivery d JOIN sluice.payload p ON p.id = d.payload_id
               JOIN sluice.delivery_key k ON k.delivery_id = d.id)::integer AS deliveries`,
  );
  await pool.query("TRUNCATE public.bench_business, sluice.delivery, sluice.payload, sluice.delivery_key");
  await pool.query("CHECKPOINT");
  return counted.rows[0] ?? { business: 0, deliveries: 0 };
}
