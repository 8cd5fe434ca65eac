/**
 * Enables a destination again, whoever disabled it. What has piled up does not flood it: it ramps as after a pause, and
 * fresh work passes at once.
 */
import { DestinationCommand, readCommand } from "#domain/commands.ts";
import { DEFAULT_RESUME_SHARE } from "#domain/commands-pause.ts";
import { isoOf, lockDestination, stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `state_conflict` when it is not disabled, and those of readCommand and runCommand */
export async function enableDestination(
  context: CommandContext,
  input: DestinationCommand,
): Promise<CommandAnswer> {
  const command = readCommand(DestinationCommand, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.enable", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      if (row.disabled_ms === null) throw stateConflict("the destination is not disabled");
      const { rows } = await client.query<{ version: number; resumed_ms: number }>(
        `UPDATE sluice.destination SET disabled_at = NULL, disabled_reason = NULL, disabled_by = NULL,
                resumed_at = clock_timestamp(), resume_share = $3, version = version + 1
          WHERE id = $1 AND version = $2 RETURNING version, (extract(epoch FROM resumed_at) * 1000)::float8 AS resumed_ms`,
        [row.id, row.version, DEFAULT_RESUME_SHARE],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before: {
          disabled: true,
          disabledAt: isoOf(row.disabled_ms),
          disabledReason: row.disabled_reason,
          disabledBy: row.disabled_by,
        },
        after: { disabled: false, resumedAt: isoOf(after.resumed_ms), resumeShare: DEFAULT_RESUME_SHARE },
      };
    },
  );
}
