/**
 * The past of a region, a piece of time after the other, as its workers would have left it: finished deliveries, their
 * attempts, and what the workers' own roll-ups count of them. Only in a database that is meant for it.
 */
import type { Pool, PoolClient } from "pg";
import { rollUpSeries } from "#db/queue/roll-up-series.ts";
import { rollUpAttempts } from "#db/queue/sample-queue-age.ts";

/** Days over which the past is spread: what retention keeps of the archive is 30. */
export const HISTORY_DAYS = 20;
/** Charts look back a week; the workers remove what is older. */
const CHART_DAYS = 8;
/** A roll-up counts this many minutes at most in one run, so the past is written in pieces of that length. */
const PIECE_MINUTES = 240;
const PIECES = (HISTORY_DAYS * 1_440) / PIECE_MINUTES;
/** Time between the newest finished delivery and now. */
const GAP_MS = 5_000;
const PARTITIONED = ["payload", "attempt", "delivery_archive"] as const;

export interface HistoryPart {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: number;
  /** The number of its first row. */
  readonly first: number;
}

/** Pure. The pieces, the oldest first; each but the last is of equal length, all rows are spread evenly. */
export function piecesOf(rows: number, nowMs: number): HistoryPart[] {
  const endMs = nowMs - GAP_MS;
  const lengthMs = PIECE_MINUTES * 60_000;
  const beginMs = Math.floor((endMs - PIECES * lengthMs) / 60_000) * 60_000;
  return Array.from({ length: PIECES }, (_, index) => {
    const first = Math.floor((rows * index) / PIECES);
    return {
      fromMs: beginMs + index * lengthMs,
      toMs: Math.min(endMs, beginMs + (index + 1) * lengthMs),
      rows: Math.floor((rows * (index + 1)) / PIECES) - first,
      first: first + 1,
    };
  });
}

/** Daily partitions of the past, which the product makes when a day is still ahead. */
export async function makePastPartitions(pool: Pool): Promise<void> {
  for (const table of PARTITIONED) {
    const bound = table === "attempt" ? "%L::timestamptz" : "sluice.uuid_floor(%L::timestamptz)";
    await pool.query(`
      DO $$ DECLARE day date; low text; high text; name text; BEGIN
        FOR day IN SELECT generate_series((clock_timestamp() AT TIME ZONE 'UTC')::date - ${HISTORY_DAYS + 1},
                                          (clock_timestamp() AT TIME ZONE 'UTC')::date - 2, interval '1 day')::date LOOP
          name := '${table}_' || to_char(day, 'YYYYMMDD');
          CONTINUE WHEN to_regclass('sluice.' || name) IS NOT NULL;
          EXECUTE format('SELECT (${bound})::text, (${bound})::text', day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC')
            INTO low, high;
          EXECUTE format('CREATE TABLE sluice.%I PARTITION OF sluice.${table} FOR VALUES FROM (%L) TO (%L)', name, low, high);
        END LOOP;
      END $$`);
  }
}

/** $1 from and $2 to in ms, $3 rows, $4 number of the first, $5 tenants, $6 destinations. */
const NUMBERS = `
  (SELECT g.i, to_timestamp(($1::float8 + ($2::float8 - $1::float8) * (g.i - $4::bigint) / $3::float8) / 1000) AS at,
          -- Half of the traffic goes to a hundredth of the destinations.
          CASE WHEN g.i % 2 = 0 THEN (g.i * 7919) % greatest(1, cardinality($6::uuid[]) / 100) ELSE (g.i * 7919) % cardinality($6::uuid[]) END AS place
     FROM generate_series($4::bigint, $4::bigint + $3::bigint - 1) AS g(i)) n`;
export const NTH_ID = `(lpad(to_hex(floor(extract(epoch FROM n.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n.i::text), 1, 3)
  || '8' || substr(md5(n.i::text), 4, 15))::uuid`;
const PLACE = "($5::uuid[])[1 + n.place % cardinality($5::uuid[])], ($6::uuid[])[1 + n.place]";
const CLASS = "CASE WHEN n.i % 5 = 0 THEN 'urgent' ELSE 'routine' END::sluice.service_class";

/** One in two hundred was cancelled; cancelled ones have no attempt that ended them. */
const ARCHIVE = `
INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                     created_at, first_due_at, due_at, state, reason, attempts, failures, throttles, cycle, first_attempt_at, last_outcome,
                                     last_status, finished_at)
SELECT ${NTH_ID}, rc.region, ${PLACE}, ${NTH_ID}, 1024, 'bench.event_' || n.i % 12, 'past-' || n.i, ${CLASS}, n.at, n.at, n.at,
       CASE WHEN n.i % 200 = 0 THEN 'cancelled' ELSE 'delivered' END, CASE WHEN n.i % 200 = 0 THEN 'operator' END, 1, 0, 0, 1, n.at,
       CASE WHEN n.i % 200 = 0 THEN 'server_error' ELSE 'delivered' END, CASE WHEN n.i % 200 = 0 THEN 503 ELSE 200 END, n.at
  FROM ${NUMBERS}, sluice.region_control rc`;

const ATTEMPTS = `
INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token, due_at,
                            started_at, duration_ms, outcome, decision, status, recorded_at)
SELECT ${NTH_ID}, rc.region, ${NTH_ID}, ${PLACE}, ${CLASS}, 'first', 1, 'http', 1, ${NTH_ID}, n.at - interval '300 ms', n.at, 20 + n.i % 400,
       CASE WHEN n.i % 200 = 0 THEN 'server_error' ELSE 'delivered' END, CASE WHEN n.i % 200 = 0 THEN 'delayed' ELSE 'delivered' END,
       CASE WHEN n.i % 200 = 0 THEN 503 ELSE 200 END, n.at + interval '500 ms'
  FROM ${NUMBERS}, sluice.region_control rc`;

/** What a vacuum does beside: without it every look at a minute reads all that was written since the last one. */
const SUMMARIZE = `
SELECT sum(brin_summarize_new_values(c.oid)) FROM pg_class c JOIN pg_am m ON m.oid = c.relam JOIN pg_index i ON i.indexrelid = c.oid
  JOIN pg_inherits h ON h.inhrelid = i.indrelid
 WHERE m.amname = 'brin' AND c.relkind = 'i' AND h.inhparent = 'sluice.attempt'::regclass`;

/** Writes one piece and lets the workers' functions count it, as if that time were now. */
export async function loadPiece(
  pool: Pool,
  client: PoolClient,
  piece: HistoryPart,
  places: { readonly tenantIds: readonly string[]; readonly destinationIds: readonly string[] },
): Promise<void> {
  const values = [piece.fromMs, piece.toMs, piece.rows, piece.first, places.tenantIds, places.destinationIds];
  if (piece.rows > 0) {
    await client.query(ARCHIVE, values);
    await client.query(ATTEMPTS, values);
    await client.query(SUMMARIZE);
  }
  await rollUpAttempts(pool);
  if (piece.toMs < Date.now() - CHART_DAYS * 86_400_000) return;
  // The function counts what was recorded since its last run.
  await pool.query(
    "UPDATE sluice.series_run SET rolled_at = to_timestamp($1::float8 / 1000) + interval '1 minute' WHERE what = 'attempts'",
    [piece.fromMs],
  );
  await rollUpSeries(pool, 0);
}
