/**
 * What keeps vacuum from removing dead rows of this database: an old snapshot. The delivery table lives on being tidied within
 * seconds; behind a transaction that stays open for minutes every claim walks over more and more dead rows. Reads only.
 */
import type { Queryable } from "./types.ts";

/** A snapshot that is older than this is an alarm. */
export const MAX_HORIZON_AGE_MS = 300_000;
/** Slots and standbys do not say since when; this many transactions behind are an alarm. */
export const MAX_HORIZON_AGE_XIDS = 1_000_000;
/** Holders that are named. */
const MAX_HOLDERS = 5;

export interface HorizonHolder {
  readonly kind: "session" | "prepared transaction" | "replication slot" | "standby";
  /** A process id with its application, or a name. Never a statement: those may hold anything. */
  readonly who: string;
  /** Age of its transaction in milliseconds; null where Postgres does not know. */
  readonly ageMs: number | null;
  /** Transactions that have begun since. */
  readonly ageXids: number;
}

// Other databases' sessions hold nothing here; nor does vacuum itself. A transaction that only has an id and no snapshot at
// the moment holds the horizon all the same. Without pg_monitor a role sees its own sessions only.
const HORIZON = `
  SELECT h.kind, h.who, (extract(epoch FROM clock_timestamp() - h.since) * 1000)::float8 AS "ageMs", h.xids::float8 AS "ageXids" FROM (
    SELECT 'session' AS kind, concat_ws(' ', 'pid ' || a.pid, nullif(left(a.application_name, 63), ''), a.state) AS who, a.xact_start AS since,
           greatest(age(a.backend_xmin), age(a.backend_xid)) AS xids
      FROM pg_stat_activity a
     WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type <> 'autovacuum worker'
       AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_vacuum v WHERE v.pid = a.pid)
    UNION ALL
    SELECT 'prepared transaction', left(p.gid, 63), p.prepared, age(p.transaction) FROM pg_prepared_xacts p WHERE p.database = current_database()
    UNION ALL
    SELECT 'replication slot', s.slot_name::text, NULL, age(s.xmin) FROM pg_replication_slots s WHERE s.xmin IS NOT NULL
    UNION ALL
    SELECT 'standby', left(r.application_name, 63), NULL, age(r.backend_xmin) FROM pg_stat_replication r WHERE r.backend_xmin IS NOT NULL) h
   WHERE CASE WHEN h.since IS NULL THEN h.xids > $2::float8 ELSE h.since < clock_timestamp() - $1::float8 * interval '1 millisecond' END
   ORDER BY h.since NULLS LAST, h.xids DESC LIMIT $3`;

/** Whoever holds the horizon for too long, the oldest first; empty when all is well. */
export async function readHorizonHolders(
  pool: Queryable,
  maxAgeMs = MAX_HORIZON_AGE_MS,
): Promise<HorizonHolder[]> {
  const { rows } = await pool.query<HorizonHolder>({
    name: "sluice-xmin-horizon",
    text: HORIZON,
    values: [maxAgeMs, MAX_HORIZON_AGE_XIDS, MAX_HOLDERS],
  });
  return rows;
}

/** One sentence for staff: "session pid 7 psql idle in transaction: open for 612 s". */
export function describeHolder({ kind, who, ageMs, ageXids }: HorizonHolder): string {
  const age = ageMs === null ? `${ageXids} transactions behind` : `open for ${Math.round(ageMs / 1_000)} s`;
  return `${kind} ${who}: ${age}`;
}
