/** Dead letters for tests, many at a time, each with the group that finish would have written. Times are the database's. */
import type { Pool } from "pg";
import type { DeadReason } from "#domain/delivery.ts";

export interface DeathOptions {
  readonly tenantId: string;
  readonly destinationId: string;
  readonly fingerprint: string;
  readonly count?: number;
  readonly reason?: DeadReason;
  readonly status?: number | null;
  readonly outcome?: string;
  /** The newest died this long ago; the others a millisecond apart before it. */
  readonly agoMs?: number;
}

/** Returns the ids, the newest death first. */
export async function addDeaths(pool: Pick<Pool, "query">, options: DeathOptions): Promise<string[]> {
  const { count = 1, reason = "rejected", status = 422, outcome = "rejected", agoMs = 0 } = options;
  const { rows } = await pool.query<{ id: string }>(
    `WITH died AS (
       INSERT INTO sluice.dead_letter
         (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at,
          first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle,
          last_failure_at, last_outcome, last_status, died_at)
       SELECT gen_random_uuid(), rc.region, $1, $2, gen_random_uuid(), 7, 'test.event', 'key-' || gen_random_uuid(), 'routine',
              m.at, m.at, m.at, $3, $4, 1, 1, 1, 0, 0, 0, 1, m.at, $5, $6, m.at
         FROM sluice.region_control rc, generate_series(1, $7::integer) n
        CROSS JOIN LATERAL (SELECT clock_timestamp() - ($8::float8 + n - 1) * interval '1 millisecond' AS at) m
       RETURNING id, region, fingerprint, died_at
     ), grouped AS (
       INSERT INTO sluice.dead_letter_group (fingerprint, region) SELECT DISTINCT fingerprint, region FROM died
       ON CONFLICT (fingerprint) DO NOTHING RETURNING 1
     )
     SELECT d.id FROM died d WHERE (SELECT count(*) FROM grouped) >= 0 ORDER BY d.died_at DESC`,
    [options.tenantId, options.destinationId, reason, options.fingerprint, outcome, status, count, agoMs],
  );
  return rows.map(({ id }) => id);
}

/** Many causes at once, `each` entries of every one: `<prefix>-0000` and so on, the last one the newest. */
export async function addCauses(
  pool: Pick<Pool, "query">,
  options: { tenantId: string; destinationId: string; prefix: string; causes: number; each: number },
): Promise<void> {
  await pool.query(
    `WITH died AS (
       INSERT INTO sluice.dead_letter
         (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at,
          first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle,
          last_failure_at, last_outcome, last_status, died_at)
       SELECT gen_random_uuid(), rc.region, $1, $2, gen_random_uuid(), 7, 'test.event', 'key-' || gen_random_uuid(), 'routine',
              m.at, m.at, m.at, 'rejected', $3 || '-' || lpad(c::text, 4, '0'), 1, 1, 1, 0, 0, 0, 1, m.at, 'rejected', 422, m.at
         FROM sluice.region_control rc, generate_series(1, $4::integer) c, generate_series(1, $5::integer) n
        CROSS JOIN LATERAL (SELECT clock_timestamp() - (($4::integer - c) * 1000 + n) * interval '1 millisecond' AS at) m
       RETURNING region, fingerprint
     )
     INSERT INTO sluice.dead_letter_group (fingerprint, region) SELECT DISTINCT fingerprint, region FROM died
     ON CONFLICT (fingerprint) DO NOTHING`,
    [options.tenantId, options.destinationId, options.prefix, options.causes, options.each],
  );
}

/** Public ids are made from this. */
export async function groupIdOf(pool: Pick<Pool, "query">, fingerprint: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT 'dlg_' || replace(id::text, '-', '') AS id FROM sluice.dead_letter_group WHERE fingerprint = $1",
    [fingerprint],
  );
  return rows[0]?.id ?? "";
}
