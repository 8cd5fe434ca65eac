/** Changes what a tenant is called and which headers its replays carry. Limits, weight and pauses have commands of their own. */
import { readCommand } from "#domain/commands.ts";
import { UpdateTenant, type UpdateTenant as UpdateTenantInput } from "#domain/commands-configure.ts";
import { lockTenant } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError those of readCommand and runCommand */
export async function updateTenant(
  context: CommandContext,
  input: UpdateTenantInput,
): Promise<CommandAnswer> {
  const command = readCommand(UpdateTenant, input);
  const { reason, ticket, tenantId: targetId, name, replayHeader } = command;
  return runCommand(
    context,
    { action: "tenant.update", targetKind: "tenant", targetId, reason, ticket },
    async (client) => {
      const row = await lockTenant(client, targetId, command.version);
      const { rows } = await client.query<{ version: number; name: string; replay_header: boolean }>(
        `UPDATE sluice.tenant t SET name = coalesce($3, t.name), replay_header = coalesce($4::boolean, t.replay_header), version = t.version + 1
           FROM sluice.tenant o WHERE t.id = $1 AND t.version = $2 AND o.id = t.id RETURNING t.version, o.name, o.replay_header`,
        [row.id, row.version, name ?? null, replayHeader ?? null],
      );
      const { version, ...old } = oneRow(rows);
      // Only what was asked for: the rest did not change.
      return {
        tenantId: row.id,
        version,
        before: {
          ...(name === undefined ? {} : { name: old.name }),
          ...(replayHeader === undefined ? {} : { replayHeader: old.replay_header }),
        },
        after: {
          ...(name === undefined ? {} : { name }),
          ...(replayHeader === undefined ? {} : { replayHeader }),
        },
      };
    },
  );
}
