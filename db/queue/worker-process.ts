/** The row by which a worker process is known: written at start, every second, and deleted after a clean stop. */
import type { Region } from "#domain/region.ts";
import type { Queryable } from "./types.ts";

export interface WorkerProcess {
  readonly id: string;
  readonly region: Region;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly slots: number;
}

/** Adds the row; a row of a process that has not been heard of for a day goes. */
export async function registerWorker(pool: Queryable, worker: WorkerProcess): Promise<void> {
  await pool.query(
    "DELETE FROM sluice.worker_process WHERE heartbeat_at < clock_timestamp() - interval '1 day'",
  );
  await pool.query(
    "INSERT INTO sluice.worker_process (id, region, host, pid, version, slots) VALUES ($1, $2, $3, $4, $5, $6)",
    [worker.id, worker.region, worker.host, worker.pid, worker.version, worker.slots],
  );
}

export interface Heartbeat {
  readonly id: string;
  readonly inFlight: number;
  readonly state: "running" | "stopping";
}

/** Returns the database's time, in milliseconds, or null when the row is gone. */
export async function heartbeat(pool: Queryable, beat: Heartbeat): Promise<number | null> {
  const result = await pool.query<{ now_ms: number }>({
    name: "sluice-heartbeat",
    text: `UPDATE sluice.worker_process SET heartbeat_at = clock_timestamp(), in_flight = $2, state = $3 WHERE id = $1
           RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms`,
    values: [beat.id, beat.inFlight, beat.state],
  });
  return result.rows[0]?.now_ms ?? null;
}

/** After a clean stop. */
export async function removeWorker(pool: Queryable, id: string): Promise<void> {
  await pool.query("DELETE FROM sluice.worker_process WHERE id = $1", [id]);
}
