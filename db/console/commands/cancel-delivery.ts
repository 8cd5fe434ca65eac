/**
 * Ends a waiting delivery without sending it. It goes to the archive as cancelled, with its history and its key: the same
 * key later is still a repeat. One that is in flight is refused, whatever its outcome will be.
 */
import { readCommand } from "#domain/commands.ts";
import { DeliveryCommand } from "#domain/commands-delivery.ts";
import type { CancelReason } from "#domain/delivery.ts";
import { deliveryFacts, lockWaiting } from "./live-delivery.ts";
import { stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** The archive's word for it, by which lists find it; who and why stand in the audit. */
export const CANCELLED_BY_STAFF: CancelReason = "staff_cancel";

const CANCEL = `
  WITH gone AS (DELETE FROM sluice.delivery d WHERE d.id = $1 AND d.state IN ('ready', 'delayed') RETURNING d.*)
  INSERT INTO sluice.delivery_archive
    (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
     first_due_at, due_at, state, reason, attempts, failures, throttles, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status)
  SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
         first_due_at, due_at, 'cancelled', $2, attempts, failures, throttles, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status
    FROM gone`;

/**
 * @throws SluiceError `state_conflict` for one that is in flight, belongs to a replay batch (stop the batch), or has ended,
 *   and those of readCommand and runCommand
 */
export async function cancelDelivery(
  context: CommandContext,
  input: DeliveryCommand,
): Promise<CommandAnswer> {
  const command = readCommand(DeliveryCommand, input);
  const { reason, ticket, deliveryId: targetId } = command;
  return runCommand(
    context,
    { action: "delivery.cancel", targetKind: "delivery", targetId, reason, ticket },
    async (client) => {
      const row = await lockWaiting(client, targetId);
      const before = deliveryFacts(row);
      if (row.lane === "replay")
        throw stateConflict("the delivery belongs to a replay batch: stop the batch", before);
      const { rowCount } = await client.query(CANCEL, [row.id, CANCELLED_BY_STAFF]);
      if (rowCount !== 1) throw new Error("a locked delivery was not cancelled");
      return {
        tenantId: row.tenant_id,
        version: null,
        before,
        after: { state: "cancelled", reason: CANCELLED_BY_STAFF },
      };
    },
  );
}
