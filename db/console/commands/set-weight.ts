/** Sets a tenant's weight: its share of the slots while tenants compete for them. */
import { readCommand } from "#domain/commands.ts";
import { SetWeight, type SetWeight as SetWeightInput } from "#domain/commands-limits.ts";
import { checkLimits } from "./limit-rules.ts";
import { lockTenant } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `bad_limit`, `forbidden` (the role may only lower), and those of readCommand and runCommand */
export async function setWeight(context: CommandContext, input: SetWeightInput): Promise<CommandAnswer> {
  const command = readCommand(SetWeight, input);
  const { reason, ticket, tenantId: targetId } = command;
  return runCommand(
    context,
    { action: "tenant.weight", targetKind: "tenant", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockTenant(client, targetId, command.version);
      const before = { weight: row.weight };
      const aim = {
        kind: "tenant" as const,
        id: targetId,
        tenantId: row.id,
        destinationId: null,
        read: () => ({}),
        acknowledged: true,
      };
      const change = { name: "weight" as const, from: row.weight, to: command.weight };
      await checkLimits(client, context, aim, [change], { nowMs, before });
      const { rows } = await client.query<{ version: number }>(
        "UPDATE sluice.tenant SET weight = $3, version = version + 1 WHERE id = $1 AND version = $2 RETURNING version",
        [row.id, row.version, command.weight],
      );
      return {
        tenantId: row.id,
        version: oneRow(rows).version,
        before,
        after: { weight: command.weight },
      };
    },
  );
}
