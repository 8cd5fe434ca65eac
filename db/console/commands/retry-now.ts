/**
 * Makes a delayed delivery due now: the same delivery, with the same id and key. Gate, pause, caps and rate still apply;
 * what holds it back is said, instead of a promise that it goes.
 */
import { readCommand } from "#domain/commands.ts";
import { DeliveryCommand } from "#domain/commands-delivery.ts";
import { deliveryFacts, lockWaiting } from "./live-delivery.ts";
import { isoOf, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * @throws SluiceError `state_conflict` for one that is in flight, held, due already, or has ended (a dead letter needs a
 *   reviewed batch), and those of readCommand and runCommand
 */
export async function retryNow(context: CommandContext, input: DeliveryCommand): Promise<CommandAnswer> {
  const command = readCommand(DeliveryCommand, input);
  const { reason, ticket, deliveryId: targetId } = command;
  return runCommand(
    context,
    { action: "delivery.retry_now", targetKind: "delivery", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockWaiting(client, targetId);
      const before = deliveryFacts(row);
      if (row.state !== "delayed")
        throw stateConflict(
          "the delivery has not been tried yet: it leaves as soon as nothing holds it",
          before,
        );
      if (row.held !== null) throw stateConflict(`the delivery is held: ${row.held}`, before);
      if (row.due_ms <= nowMs) throw stateConflict("the delivery is due already", before);
      const { rows } = await client.query<{ due_ms: number }>(
        `UPDATE sluice.delivery SET due_at = clock_timestamp() WHERE id = $1 AND state = 'delayed'
         RETURNING (extract(epoch FROM due_at) * 1000)::float8 AS due_ms`,
        [row.id],
      );
      const after = { ...before, dueAt: isoOf(oneRow(rows).due_ms) };
      return { tenantId: row.tenant_id, version: null, before, after };
    },
  );
}
