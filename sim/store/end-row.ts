/** A live row -> its row in the archive or among the dead letters. The identity goes along unchanged. */
import type { DeliveryRow, EndedRow } from "./tables.ts";

export function endRow(
  row: DeliveryRow,
  end: EndedRow["end"],
  reason: string | null,
  changes: Partial<EndedRow> = {},
): EndedRow {
  return {
    id: row.id,
    region: row.region,
    tenantId: row.tenantId,
    destinationId: row.destinationId,
    payloadId: row.payloadId,
    payloadBytes: row.payloadBytes,
    eventType: row.eventType,
    idempotencyKey: row.idempotencyKey,
    serviceClass: row.serviceClass,
    firstDueUs: row.firstDueUs,
    end,
    reason,
    attempts: row.attempts,
    failures: row.failures,
    throttles: row.throttles,
    throttledMs: row.throttledMs,
    lostLeases: row.lostLeases,
    cycle: row.cycle,
    lastOutcome: row.lastOutcome,
    lastStatus: row.lastStatus,
    ...changes,
  };
}
