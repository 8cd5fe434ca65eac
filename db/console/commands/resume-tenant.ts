/** Ends the pause of a tenant before its time, with a ramp for the work that has piled up. */
import { readCommand } from "#domain/commands.ts";
import { ResumeTenant, type ResumeTenant as ResumeTenantInput } from "#domain/commands-pause.ts";
import { lockTenant } from "./locked-row.ts";
import { writeResume } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * Fresh work passes at once; work from before the resume begins with `share` of cap and rate (default 20 %).
 * @throws SluiceError `state_conflict` when it is not paused, and those of readCommand and runCommand
 */
export async function resumeTenant(
  context: CommandContext,
  input: ResumeTenantInput,
): Promise<CommandAnswer> {
  const command = readCommand(ResumeTenant, input);
  const { reason, ticket, tenantId: targetId } = command;
  return runCommand(
    context,
    { action: "tenant.resume", targetKind: "tenant", targetId, reason, ticket },
    async (client) => {
      const row = await lockTenant(client, targetId, command.version);
      return writeResume(client, "tenant", row, command.share);
    },
  );
}
