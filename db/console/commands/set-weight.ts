/** Sets a tenant's weight: its share of the slots while tenants compete for them. */
import { readCommand } from "#domain/commands.ts";
import { SetWeight, type SetWeight as SetWeightInput } from "#domain/commands-limits.ts";
import { lockTenant } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `bad_limit`, and those of readCommand and runCommand */
export async function setWeight(context: CommandContext, input: SetWeightInput): Promise<CommandAnswer> {
  const command = readCommand(SetWeight, input);
  const { reason, ticket, tenantId: targetId } = command;
  return runCommand(
    context,
    { action: "tenant.weight", targetKind: "tenant", targetId, reason, ticket },
    async (client) => {
      const row = await lockTenant(client, targetId, command.version);
      const { rows } = await client.query<{ version: number }>(
        "UPDATE sluice.tenant SET weight = $3, version = version + 1 WHERE id = $1 AND version = $2 RETURNING version",
        [row.id, row.version, command.weight],
      );
      return {
        tenantId: row.id,
        version: oneRow(rows).version,
        before: { weight: row.weight },
        after: { weight: command.weight },
      };
    },
  );
}
