/** Ends the pause of a destination before its time, with a ramp for the work that has piled up. */
import { readCommand } from "#domain/commands.ts";
import {
  ResumeDestination,
  type ResumeDestination as ResumeDestinationInput,
} from "#domain/commands-pause.ts";
import { lockDestination } from "./locked-row.ts";
import { writeResume } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * Fresh work passes at once; work from before the resume begins with `share` of cap and rate (default 20 %).
 * @throws SluiceError `state_conflict` when it is not paused, and those of readCommand and runCommand
 */
export async function resumeDestination(
  context: CommandContext,
  input: ResumeDestinationInput,
): Promise<CommandAnswer> {
  const command = readCommand(ResumeDestination, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.resume", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      return writeResume(client, "destination", row, command.share);
    },
  );
}
