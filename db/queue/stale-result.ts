/**
 * What a finish did not record: either the same result was recorded before (its reply was lost), or the lease is no
 * longer ours and the result is kept as `stale_result`, changing nothing else.
 */
import type { Lane, ServiceClass } from "#domain/delivery.ts";
import type { FinishRow } from "./finish.ts";
import { withPartitions } from "./missing-partition.ts";
import type { Queryable } from "./types.ts";

/** What the sender still knows of the delivery whose lease it lost. */
export interface StaleResult {
  readonly row: FinishRow;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly serviceClass: ServiceClass;
  readonly lane: Lane;
  readonly cycle: number;
  readonly number: number;
  readonly dueMs: number;
}

const KEEP = `
  INSERT INTO sluice.attempt
    (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, worker_id, lease_token,
     due_at, started_at, duration_ms, outcome, decision, reason, status, error_code, error_detail)
  SELECT $1, rc.region, $2, $3, $4, $5, $6, $7, 'stale_result', $8, $9, $10,
         to_timestamp($11::float8 / 1000), to_timestamp($12::float8 / 1000), $13, 'stale_result', 'ignored', $14, $15, $16, $17
    FROM sluice.region_control rc
   WHERE NOT EXISTS (SELECT 1 FROM sluice.attempt a WHERE a.delivery_id = $2 AND a.lease_token = $10 AND a.kind <> 'lease_expired')
  RETURNING 1`;

/** "repeat" when this token's result already stands, "stale" when it was kept as a late result. */
export async function keepStaleResult(pool: Queryable, stale: StaleResult): Promise<"repeat" | "stale"> {
  const row = stale.row;
  const values = [
    row.attempt_id,
    row.id,
    stale.tenantId,
    stale.destinationId,
    stale.serviceClass,
    stale.lane,
    stale.cycle,
    stale.number,
    row.worker_id,
    row.lease_token,
    stale.dueMs,
    row.started_ms,
    row.duration_ms,
    row.outcome,
    row.status ?? null,
    row.error_code ?? null,
    row.error_detail ?? null,
  ];
  const result = await withPartitions(pool, () =>
    pool.query({ name: "sluice-keep-stale", text: KEEP, values }),
  );
  return result.rowCount === 0 ? "repeat" : "stale";
}
