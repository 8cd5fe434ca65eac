/** Pauses a destination until an end: its work is held, new work is still accepted, what is in flight ends. */
import { readCommand } from "#domain/commands.ts";
import { PauseDestination, type PauseDestination as PauseDestinationInput } from "#domain/commands-pause.ts";
import { lockDestination } from "./locked-row.ts";
import { writePause } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * After the answer (`applied`) no claim can take work of this destination until the pause ends.
 * @throws SluiceError `bad_pause`, `bad_reason`, `invalid_body`, `forbidden` (longer than the role may), and those of runCommand
 */
export async function pauseDestination(
  context: CommandContext,
  input: PauseDestinationInput,
): Promise<CommandAnswer> {
  const command = readCommand(PauseDestination, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.pause", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      return writePause(client, context, "destination", row, command, nowMs);
    },
  );
}
