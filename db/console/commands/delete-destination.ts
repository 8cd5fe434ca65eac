/**
 * Takes a destination away for good. The row stays, marked: deliveries, attempts and the audit go on naming it. Nothing
 * can be written for it any more, no claim takes its work, and workers cancel what waits, some hundred rows a second;
 * requests in flight end and are recorded. There is no way back, so its name has to be typed.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import {
  DeleteDestination,
  type DeleteDestination as DeleteDestinationInput,
} from "#domain/commands-configure.ts";
import { isoOf, lockDestination, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `state_conflict` when the typed name is another, and those of readCommand and runCommand */
export async function deleteDestination(
  context: CommandContext,
  input: DeleteDestinationInput,
): Promise<CommandAnswer> {
  const command = readCommand(DeleteDestination, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.delete", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      const name = await readName(client, row.id);
      if (command.confirmName !== name)
        throw stateConflict("the name that was typed is not the destination's");
      const { rows } = await client.query<{ version: number; deleted_ms: number }>(
        `UPDATE sluice.destination SET deleted_at = clock_timestamp(), version = version + 1
          WHERE id = $1 AND version = $2 AND deleted_at IS NULL
          RETURNING version, (extract(epoch FROM deleted_at) * 1000)::float8 AS deleted_ms`,
        [row.id, row.version],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before: { name, deleted: false },
        after: { name, deleted: true, deletedAt: isoOf(after.deleted_ms) },
      };
    },
  );
}

/** The row is locked already. */
async function readName(client: PoolClient, id: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>("SELECT name FROM sluice.destination WHERE id = $1", [
    id,
  ]);
  return oneRow(rows).name;
}
