/**
 * Rows that a job for each delivery needs when its system keeps what Sluice keeps: the body in its place, the state, and
 * what each attempt came to. Made in a database of its own.
 */
import type { Pool } from "pg";
import type { BenchJob } from "../send.ts";

export async function makeRecordTables(pool: Pool): Promise<void> {
  await pool.query(
    `CREATE TABLE public.bench_delivery (
       id uuid PRIMARY KEY, n integer NOT NULL, body bytea NOT NULL, state text NOT NULL DEFAULT 'ready',
       attempts integer NOT NULL DEFAULT 0, created_at timestamptz NOT NULL DEFAULT clock_timestamp(), finished_at timestamptz);
     CREATE TABLE public.bench_attempt (
       delivery_id uuid NOT NULL, number integer NOT NULL, started_at timestamptz NOT NULL, duration_ms integer NOT NULL,
       status smallint NOT NULL, recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (delivery_id, number))`,
  );
}

export async function clearRecords(pool: Pool): Promise<void> {
  await pool.query("TRUNCATE public.bench_delivery, public.bench_attempt");
}

export async function insertDeliveries(pool: Pool, jobs: readonly BenchJob[]): Promise<void> {
  await pool.query(
    "INSERT INTO public.bench_delivery (id, n, body) SELECT u.id, u.n, $3 FROM unnest($1::uuid[], $2::integer[]) AS u(id, n)",
    [jobs.map(({ id }) => id), jobs.map(({ n }) => n), Buffer.from(jobs[0]?.body ?? "")],
  );
}

/** @throws Error when the row is not there */
export async function readDelivery(pool: Pool, id: string): Promise<{ n: number; body: Buffer }> {
  const result = await pool.query<{ n: number; body: Buffer }>({
    name: "bench-read",
    text: "SELECT n, body FROM public.bench_delivery WHERE id = $1 AND state <> 'delivered'",
    values: [id],
  });
  const row = result.rows[0];
  if (row === undefined) throw new Error("a job's delivery is not there");
  return row;
}

export async function recordDelivered(pool: Pool, id: string, durationMs: number): Promise<void> {
  await pool.query({
    name: "bench-record",
    text: `WITH done AS (
             UPDATE public.bench_delivery SET state = 'delivered', attempts = attempts + 1, finished_at = clock_timestamp()
              WHERE id = $1 RETURNING id, attempts)
           INSERT INTO public.bench_attempt (delivery_id, number, started_at, duration_ms, status)
           SELECT id, attempts, clock_timestamp() - $2 * interval '1 millisecond', $2, 200 FROM done`,
    values: [id, Math.round(durationMs)],
  });
}
