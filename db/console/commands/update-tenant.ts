/** Changes what a tenant is called. Limits, weight and pauses have commands of their own; the slug stays for good. */
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
  const { reason, ticket, tenantId: targetId, name } = command;
  return runCommand(
    context,
    { action: "tenant.update", targetKind: "tenant", targetId, reason, ticket },
    async (client) => {
      const row = await lockTenant(client, targetId, command.version);
      const { rows } = await client.query<{ version: number; before: string }>(
        `UPDATE sluice.tenant t SET name = $3, version = t.version + 1 FROM sluice.tenant o
          WHERE t.id = $1 AND t.version = $2 AND o.id = t.id RETURNING t.version, o.name AS before`,
        [row.id, row.version, name],
      );
      const { version, before } = oneRow(rows);
      return { tenantId: row.id, version, before: { name: before }, after: { name } };
    },
  );
}
