/**
 * What the worker's tests read from and write to a region database beside the product's own statements.
 * Only tests import this.
 */
import type { Pool } from "pg";
import type { ServiceClass } from "#domain/delivery.ts";
import type { Region } from "#domain/region.ts";

/** A delivery wherever it stands: live, dead or archived. */
export interface DeliveryRow {
  readonly state: string;
  readonly lane: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly failures: number;
  readonly throttles: number;
  readonly lost_leases: number | null;
  readonly key: string;
  readonly due_ms: number;
  readonly first_due_ms: number;
  readonly leased: boolean;
}

/** @throws Error when there is no such delivery. */
export async function readDelivery(pool: Pool, id: string): Promise<DeliveryRow> {
  const { rows } = await pool.query<DeliveryRow>(
    `SELECT state, lane, reason, attempts, failures, throttles, lost_leases, idempotency_key AS key,
            (extract(epoch FROM due_at) * 1000)::float8 AS due_ms,
            (extract(epoch FROM first_due_at) * 1000)::float8 AS first_due_ms, lease_until IS NOT NULL AS leased
       FROM sluice.delivery_all WHERE id = $1`,
    [id],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`no delivery ${id}`);
  return row;
}

export interface AttemptRow {
  readonly kind: string;
  readonly number: number;
  readonly outcome: string;
  readonly decision: string;
  readonly reason: string | null;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly error_detail: string | null;
  readonly counted_failure: boolean;
  readonly retry_after_raw: string | null;
  readonly retry_after_read: string | null;
  readonly retry_after_asked_ms: number | null;
  readonly retry_after_clamped: string | null;
  readonly fallback: boolean | null;
  readonly jitter_ms: number | null;
  readonly delay_ms: number | null;
  readonly next_due_ms: number | null;
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly response_content_type: string | null;
  readonly response_body: Buffer | null;
  readonly response_bytes: number | null;
  readonly response_truncated: boolean | null;
  readonly worker_id: string;
}

/** All attempts of a delivery, oldest first. */
export async function readAttempts(pool: Pool, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await pool.query<AttemptRow>(
    `SELECT a.*, (extract(epoch FROM next_due_at) * 1000)::float8 AS next_due_ms,
            (extract(epoch FROM started_at) * 1000)::float8 AS started_ms
       FROM sluice.attempt a WHERE delivery_id = $1 ORDER BY started_at, recorded_at`,
    [deliveryId],
  );
  return rows;
}

export interface LiveCounts {
  readonly ready: number;
  readonly leased: number;
  readonly delayed: number;
  readonly dead: number;
  readonly delivered: number;
}

/** Counts of all deliveries, or of one destination. */
export async function countDeliveries(pool: Pool, destinationId: string | null = null): Promise<LiveCounts> {
  const { rows } = await pool.query<LiveCounts>(
    `SELECT count(*) FILTER (WHERE state = 'ready')::integer AS ready, count(*) FILTER (WHERE state = 'leased')::integer AS leased,
            count(*) FILTER (WHERE state = 'delayed')::integer AS delayed, count(*) FILTER (WHERE state = 'dead')::integer AS dead,
            count(*) FILTER (WHERE state = 'delivered')::integer AS delivered
       FROM sluice.delivery_all WHERE $1::uuid IS NULL OR destination_id = $1`,
    [destinationId],
  );
  return rows[0] ?? { ready: 0, leased: 0, delayed: 0, dead: 0, delivered: 0 };
}

/** Live leases, whoever holds them. */
export async function countLeases(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.delivery WHERE state = 'leased'",
  );
  return rows[0]?.n ?? 0;
}

/** Puts a new version of a class's policy in force. */
export async function writePolicy(pool: Pool, serviceClass: ServiceClass, body: unknown): Promise<void> {
  await pool.query(
    `INSERT INTO sluice.policy (service_class, version, region, body, created_by, reason)
     SELECT $1, coalesce((SELECT max(version) FROM sluice.policy WHERE service_class = $1), 0) + 1, region, $2, 'test', 'test'
       FROM sluice.region_control`,
    [serviceClass, JSON.stringify(body)],
  );
}

export interface WakeJob {
  readonly run_ms: number;
  readonly attempts: number;
  readonly payload: unknown;
}

/** The region's wake-up as graphile-worker's own view shows it, or null. */
export async function readWakeJob(pool: Pool, region: Region): Promise<WakeJob | null> {
  const { rows } = await pool.query<WakeJob>(
    `SELECT (extract(epoch FROM j.run_at) * 1000)::float8 AS run_ms, j.attempts, p.payload
       FROM graphile_worker.jobs j JOIN graphile_worker._private_jobs p ON p.id = j.id WHERE j.key = $1`,
    [`dispatch:${region}`],
  );
  return rows[0] ?? null;
}

/** Makes the leases of these deliveries end in the past, as if the worker that holds them had died long ago. */
export async function expireLeases(pool: Pool, ids: readonly string[]): Promise<void> {
  await pool.query(
    "UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 second' WHERE id = ANY($1::uuid[]) AND state = 'leased'",
    [ids],
  );
}

/** Ends the leases of a process that was killed, as if their time had passed. Returns how many. */
export async function endLeasesOf(pool: Pool, pid: number): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE sluice.delivery d SET lease_until = clock_timestamp() - interval '1 second'
       FROM sluice.worker_process w WHERE w.id = d.leased_by AND w.pid = $1 AND d.state = 'leased'`,
    [pid],
  );
  return rowCount ?? 0;
}

/** Makes waiting deliveries due, as if the time until then had passed. */
export async function makeDue(pool: Pool, ids: readonly string[]): Promise<void> {
  await pool.query("UPDATE sluice.delivery SET due_at = clock_timestamp() WHERE id = ANY($1::uuid[])", [ids]);
}

/** Attempts at a destination that started between two moments of the database's clock. */
export async function countStarts(
  pool: Pool,
  destinationId: string,
  fromMs: number,
  toMs: number,
): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM sluice.attempt WHERE destination_id = $1
        AND started_at BETWEEN to_timestamp($2::float8 / 1000) AND to_timestamp($3::float8 / 1000)`,
    [destinationId, fromMs, toMs],
  );
  return rows[0]?.n ?? 0;
}

/** Ends every session of this database that has the application name. Returns how many. */
export async function terminateSessions(pool: Pool, applicationName: string): Promise<number> {
  const { rows } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE $1 AND pid <> pg_backend_pid()`,
    [applicationName],
  );
  return rows.length;
}

/** Whether a session of this name hears hints by now. */
export async function isListening(pool: Pool, applicationName: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1 AND query LIKE 'LISTEN%' AND state = 'idle'",
    [applicationName],
  );
  return rowCount !== 0;
}

/** Worker processes that are on record. */
export async function countWorkerProcesses(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.worker_process",
  );
  return rows[0]?.n ?? 0;
}
