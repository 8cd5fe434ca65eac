/** What the harness reads of a region's database: its processes, its progress, and the evidence at the end. */
import type { Pool } from "pg";
import type { AttemptEvidence, RowEvidence } from "./evidence.ts";

/** The worker of a process id that has registered itself, or null while it has not. */
export async function workerOf(pool: Pool, pid: number, sinceMs: number): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM sluice.worker_process WHERE pid = $1 AND started_at >= to_timestamp($2::float8 / 1000)
      ORDER BY started_at DESC LIMIT 1`,
    [pid, sinceMs],
  );
  return rows[0]?.id ?? null;
}

/** Deliveries that have not come to their end. */
export async function countLive(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>("SELECT count(*)::integer AS n FROM sluice.delivery");
  return rows[0]?.n ?? Number.NaN;
}

/** Live leases of one worker process, each in words: how old it is and what its row is. */
export async function leasesOf(pool: Pool, workerId: string): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `SELECT concat_ws(' ', round(extract(epoch FROM clock_timestamp() - leased_at)::numeric, 2), 's old,', lane,
                      'attempts', attempts, 'lost', lost_leases) AS line
       FROM sluice.delivery WHERE state = 'leased' AND leased_by = $1 LIMIT 1000`,
    [workerId],
  );
  return rows.map(({ line }) => line);
}

/** A few live deliveries, for the message of a run that does not come to rest. */
export async function describeLive(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `SELECT concat_ws(' ', d.state, d.lane, x.name, 'attempts', d.attempts, 'lost', d.lost_leases, 'due in',
                      round(extract(epoch FROM d.due_at - clock_timestamp())::numeric, 1)) AS line
       FROM sluice.delivery d JOIN sluice.destination x ON x.id = d.destination_id ORDER BY d.due_at LIMIT 5`,
  );
  return rows.map(({ line }) => line);
}

/** Every delivery wherever it stands, with the region that its row carries. */
export async function readRows(pool: Pool): Promise<RowEvidence[]> {
  const { rows } = await pool.query<RowEvidence>(
    `SELECT id, region, idempotency_key AS key, destination_id AS "destinationId", state, reason, attempts,
            (extract(epoch FROM first_due_at) * 1000)::float8 AS "firstDueMs" FROM sluice.delivery_all`,
  );
  return rows;
}

export async function readAttempts(pool: Pool): Promise<AttemptEvidence[]> {
  const { rows } = await pool.query<AttemptEvidence>(
    `SELECT delivery_id AS "deliveryId", region, kind, number, worker_id AS "workerId", decision, duration_ms AS "durationMs",
            (extract(epoch FROM started_at) * 1000)::float8 AS "startedMs",
            (extract(epoch FROM next_due_at) * 1000)::float8 AS "nextDueMs",
            (extract(epoch FROM recorded_at) * 1000)::float8 AS "recordedMs" FROM sluice.attempt`,
  );
  return rows;
}
