/** Ends a destination's previous signing secret before its time: from the next attempt on only the current one signs. */
import { readCommand } from "#domain/commands.ts";
import { EndPreviousSecret } from "#domain/commands-secret.ts";
import { lockDestination, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { facts, readTimes } from "./rotate-secret.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `state_conflict` when no previous secret lives, and those of readCommand and runCommand */
export async function endPreviousSecret(
  context: CommandContext,
  input: EndPreviousSecret,
): Promise<CommandAnswer> {
  const command = readCommand(EndPreviousSecret, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.end_previous_secret", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      const before = await readTimes(client, row.id);
      if ((before.previous_until_ms ?? 0) <= nowMs) {
        throw stateConflict("no previous secret signs any more", facts(before));
      }
      const { rows } = await client.query<{ version: number }>(
        `UPDATE sluice.destination SET secret_previous = NULL, secret_previous_until = NULL, version = version + 1
          WHERE id = $1 AND version = $2 RETURNING version`,
        [row.id, row.version],
      );
      const { version } = oneRow(rows);
      const after = { ...facts(before), previousSecretUntil: null };
      return { tenantId: row.tenant_id, version, before: facts(before), after };
    },
  );
}
