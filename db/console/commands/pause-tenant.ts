/** Pauses a tenant until an end: its work is held, new work is still accepted, what is in flight ends. */
import { readCommand } from "#domain/commands.ts";
import { PauseTenant, type PauseTenant as PauseTenantInput } from "#domain/commands-pause.ts";
import { lockTenant } from "./locked-row.ts";
import { writePause } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * After the answer (`applied`) no claim can take work of this tenant until the pause ends.
 * @throws SluiceError `bad_pause`, `bad_reason`, `invalid_body`, `forbidden` (longer than the role may), and those of runCommand
 */
export async function pauseTenant(context: CommandContext, input: PauseTenantInput): Promise<CommandAnswer> {
  const command = readCommand(PauseTenant, input);
  const { reason, ticket, tenantId: targetId } = command;
  return runCommand(
    context,
    { action: "tenant.pause", targetKind: "tenant", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockTenant(client, targetId, command.version);
      return writePause(client, context, "tenant", row, command, nowMs);
    },
  );
}
