/**
 * A region that has been at work for a long time, made by the server itself: deliveries that wait for later, and finished
 * ones with their attempts. Only in a database that the bench made. Ids are UUIDv7 over yesterday and today, so that rows
 * lie in the daily partitions where they would.
 */
import type { Pool } from "pg";
import type { BenchTenant } from "../lib/sql.ts";

/** Rows of one statement: it is also how often progress is told. */
const CHUNK_ROWS = 500_000;
const DAY_S = 86_400;

/** The n-th of $2 ids, spread over the last day. */
const NTH_ID = `(lpad(to_hex(floor(extract(epoch FROM n.at) * 1000)::bigint), 12, '0') || '7'
  || substr(md5($1::text || n.i), 1, 3) || '8' || substr(md5($1::text || n.i), 4, 15))::uuid`;
const NUMBERS = `(SELECT i, clock_timestamp() - interval '1 second' * (${DAY_S}.0 * (1 - i::float8 / $2::float8)) AS at
                    FROM generate_series($3::bigint, $4::bigint) AS g(i)) n`;
const DESTINATION = "($6::uuid[])[1 + n.i % cardinality($6::uuid[])]";

/** Waiting in the retry lane after a failure, due in one to two days. */
const DELAYED = `
INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                             created_at, first_due_at, due_at, state, lane, attempts, failures, first_attempt_at, first_failure_at,
                             last_outcome, last_status)
SELECT ${NTH_ID}, rc.region, $5, ${DESTINATION}, ${NTH_ID}, 1024, 'bench.event', 'backlog-' || n.i, 'routine', n.at, n.at,
       clock_timestamp() + interval '1 day' + interval '1 second' * (n.i % ${DAY_S}), 'delayed', 'retry', 1, 1, n.at, n.at, 'http_5xx', 503
  FROM ${NUMBERS}, sluice.region_control rc`;

const ARCHIVED = `
INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                     created_at, first_due_at, due_at, state, attempts, failures, throttles, cycle, first_attempt_at, last_outcome,
                                     last_status, finished_at)
SELECT ${NTH_ID}, rc.region, $5, ${DESTINATION}, ${NTH_ID}, 1024, 'bench.event', 'archived-' || n.i, 'routine', n.at, n.at, n.at, 'delivered',
       1, 0, 0, 1, n.at, 'delivered', 200, n.at
  FROM ${NUMBERS}, sluice.region_control rc`;

const ATTEMPTS = `
INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token, due_at,
                            started_at, duration_ms, outcome, decision, status, recorded_at)
SELECT ${NTH_ID}, rc.region, ${NTH_ID}, $5, ${DESTINATION}, 'routine', 'first', 1, 'http', 1, ${NTH_ID}, n.at, n.at, 12, 'delivered', 'delivered', 200, n.at
  FROM ${NUMBERS}, sluice.region_control rc`;

const PARTS = { delayed: DELAYED, archived: ARCHIVED, attempts: ATTEMPTS } as const;
export type BacklogPart = keyof typeof PARTS;

/** Inserts `count` rows of one kind. */
export async function loadBacklog(
  pool: Pool,
  part: BacklogPart,
  count: number,
  tenant: BenchTenant,
  tell: (done: number) => void,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("SET synchronous_commit = off");
    // A delivery may only begin as ready; what a year of failures leaves behind is written here at once.
    await client.query("SET session_replication_role = replica");
    for (let from = 1; from <= count; from += CHUNK_ROWS) {
      const to = Math.min(count, from + CHUNK_ROWS - 1);
      await client.query(PARTS[part], [part, count, from, to, tenant.tenantId, tenant.destinationIds]);
      tell(to);
    }
  } finally {
    client.release(true);
  }
}

/** Statistics and visibility of everything, as autovacuum would have left it long ago. */
export async function vacuumAll(pool: Pool): Promise<void> {
  await pool.query("VACUUM (ANALYZE)");
  await pool.query("CHECKPOINT");
}

/** Rows that stand there, by the tables themselves. */
export async function countBacklog(pool: Pool): Promise<Record<BacklogPart, number>> {
  const result = await pool.query<Record<BacklogPart, number>>(
    `SELECT (SELECT count(*) FROM sluice.delivery WHERE state = 'delayed')::integer AS delayed,
            (SELECT count(*) FROM sluice.delivery_archive)::integer AS archived,
            (SELECT count(*) FROM sluice.attempt)::integer AS attempts`,
  );
  return result.rows[0] ?? { delayed: 0, archived: 0, attempts: 0 };
}
