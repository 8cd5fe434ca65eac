/** Disables a destination until somebody enables it: rows for it are still written, and held with the reason. */
import { DestinationCommand, readCommand } from "#domain/commands.ts";
import { isoOf, lockDestination, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * After the answer (`applied`) no claim can take work of this destination.
 * @throws SluiceError `state_conflict` when it is disabled already, and those of readCommand and runCommand
 */
export async function disableDestination(
  context: CommandContext,
  input: DestinationCommand,
): Promise<CommandAnswer> {
  const command = readCommand(DestinationCommand, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.disable", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      if (row.disabled_ms !== null) {
        throw stateConflict("the destination is disabled already", { disabledReason: row.disabled_reason });
      }
      const { rows } = await client.query<{ version: number; disabled_ms: number }>(
        `UPDATE sluice.destination SET disabled_at = clock_timestamp(), disabled_reason = $3, disabled_by = $4, version = version + 1
          WHERE id = $1 AND version = $2 RETURNING version, (extract(epoch FROM disabled_at) * 1000)::float8 AS disabled_ms`,
        [row.id, row.version, reason, context.actor],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before: { disabled: false },
        after: { disabled: true, disabledAt: isoOf(after.disabled_ms), disabledReason: reason },
      };
    },
  );
}
