/** Statements by which faults are injected into a region's database, and by which they are put right again. */
import type { ClientBase, Pool } from "pg";
import { applicationOfWorkers } from "./names.ts";

type Queryable = Pick<Pool, "query">;

/** A session that waits for a lock. */
export interface Waiting {
  /** TCP port of its client, as the server sees it. */
  readonly clientPort: number;
}

export async function nowMs(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ ms: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms",
  );
  return rows[0]?.ms ?? Number.NaN;
}

/** Ends the sessions of a region's workers. Returns how many. */
export async function terminateWorkers(pool: Queryable, region: string, hintsOnly = false): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE $1 AND pid <> pg_backend_pid()`,
    [`${applicationOfWorkers(region)}${hintsOnly ? "-hints" : "%"}`],
  );
  return rowCount ?? 0;
}

export async function deleteJobs(pool: Queryable): Promise<number> {
  return (await pool.query("DELETE FROM graphile_worker._private_jobs")).rowCount ?? 0;
}

/** As if a worker had taken them and died. */
export async function lockJobs(pool: Queryable): Promise<number> {
  const { rowCount } = await pool.query(
    `UPDATE graphile_worker._private_jobs SET locked_at = clock_timestamp(), locked_by = 'a-worker-that-died'
      WHERE locked_at IS NULL`,
  );
  return rowCount ?? 0;
}

/** Sessions that wait for a lock in a statement that contains the text. */
export async function waitingIn(pool: Queryable, text: string): Promise<Waiting[]> {
  const { rows } = await pool.query<Waiting>(
    `SELECT client_port AS "clientPort" FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0 AND pid <> pg_backend_pid()`,
    [text],
  );
  return rows;
}

/** Takes the claim lock, to be held by the transaction that the client has open. */
export async function takeClaimLock(client: Queryable): Promise<void> {
  await client.query("SELECT sluice.barrier()");
}

/** Touches leased rows of a destination in the client's open transaction. Returns how many. */
export async function touchLeased(client: Queryable, destinationId: string, most: number): Promise<number> {
  const { rowCount } = await client.query(
    `UPDATE sluice.delivery d SET last_outcome = 'touched' WHERE d.id IN (
       SELECT o.id FROM sluice.delivery o WHERE o.state = 'leased' AND o.destination_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)`,
    [destinationId, most],
  );
  return rowCount ?? 0;
}

/** Locks leased rows of a destination in the client's open transaction without a change. Returns how many. */
export async function lockLeased(client: Queryable, destinationId: string, most: number): Promise<number> {
  const { rowCount } = await client.query(
    `SELECT o.id FROM sluice.delivery o WHERE o.state = 'leased' AND o.destination_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED`,
    [destinationId, most],
  );
  return rowCount ?? 0;
}

/** Whether somebody else than this worker has started a request since. */
export async function othersWork(pool: Queryable, workerId: string, sinceMs: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    "SELECT 1 FROM sluice.attempt WHERE started_at > to_timestamp($1::float8 / 1000) AND worker_id <> $2 AND kind = 'http' LIMIT 1",
    [sinceMs, workerId],
  );
  return rowCount !== 0;
}

/** Live leases, of one tenant or of all. */
export async function countLeases(pool: Queryable, tenantId: string | null): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::integer AS n FROM sluice.delivery WHERE state = 'leased' AND ($1::uuid IS NULL OR tenant_id = $1)",
    [tenantId],
  );
  return rows[0]?.n ?? Number.NaN;
}

/** Requests that were started since, of one tenant or of all. */
export async function countStarts(
  pool: Queryable,
  tenantId: string | null,
  sinceMs: number,
): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM sluice.attempt
      WHERE started_at > to_timestamp($2::float8 / 1000) AND kind = 'http' AND ($1::uuid IS NULL OR tenant_id = $1)`,
    [tenantId, sinceMs],
  );
  return rows[0]?.n ?? Number.NaN;
}

const PARENTS = ["payload", "attempt", "delivery_archive"] as const;
const LOCK_TIMEOUT = "300ms";

/** Drops the empty DEFAULT partitions. Returns how many went. */
export async function dropDefaults(client: ClientBase): Promise<number> {
  let dropped = 0;
  for (const parent of PARENTS) {
    await client.query("BEGIN");
    try {
      await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
      await client.query(`LOCK TABLE sluice.${parent}_default IN ACCESS EXCLUSIVE MODE`);
      const { rowCount } = await client.query(`SELECT 1 FROM sluice.${parent}_default LIMIT 1`);
      if (rowCount === 0) {
        await client.query(`DROP TABLE sluice.${parent}_default`);
        dropped++;
      }
      await client.query("COMMIT");
    } catch {
      // Somebody reads it: another one, or next time.
      await client.query("ROLLBACK");
    }
  }
  return dropped;
}

/** Puts every partition back that is missing. */
export async function ensurePartitions(pool: Queryable): Promise<void> {
  await pool.query("SELECT count(*) FROM sluice.ensure_partitions(7)");
}

/** Seven days from now: the last day that has a partition. */
const LAST_DAY = "(clock_timestamp() AT TIME ZONE 'UTC')::date + 7";

/** Takes the last day's payload partition away and puts a row of that day into the DEFAULT one. */
export async function fillDefault(client: ClientBase, region: string): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`);
    const { rows } = await client.query<{ name: string }>(
      `SELECT 'payload_' || to_char(${LAST_DAY}, 'YYYYMMDD') AS name`,
    );
    await client.query(`DROP TABLE IF EXISTS sluice.${client.escapeIdentifier(rows[0]?.name ?? "")}`);
    await client.query(
      `INSERT INTO sluice.payload (id, region, body, content_type, size_bytes)
       SELECT sluice.uuid_floor((${LAST_DAY})::timestamp AT TIME ZONE 'UTC' + interval '1 hour'), $1, 'x', 'text/plain', 1`,
      [region],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/** Empties the DEFAULT partition of payloads of what `fillDefault` put there. */
export async function emptyDefault(pool: Queryable): Promise<void> {
  await pool.query("DELETE FROM sluice.payload_default WHERE content_type = 'text/plain'");
}
