/** The shape of the log's lines. Identifiers, numbers and words of ours only: nothing that a customer wrote. */

import type { FinishRow } from "#db/queue/finish.ts";
import type { ClaimedDelivery } from "#db/queue/read-claimed.ts";
import { toPublicId } from "#domain/ids.ts";
import type { FinishResult } from "./finish-batcher.ts";

/** One line for each attempt. */
export function attemptLine(delivery: ClaimedDelivery, row: FinishRow, result: FinishResult) {
  return {
    event: "attempt",
    delivery: toPublicId("dlv", delivery.id),
    tenant: toPublicId("ten", delivery.tenantId),
    destination: toPublicId("dst", delivery.destinationId),
    lane: delivery.lane,
    class: delivery.serviceClass,
    number: delivery.attempts + 1,
    outcome: row.outcome,
    status: row.status,
    code: row.error_code,
    durationMs: row.duration_ms,
    decision: row.decision,
    reason: row.reason,
    delayMs: row.delay_ms,
    recorded: result.kind,
  };
}
