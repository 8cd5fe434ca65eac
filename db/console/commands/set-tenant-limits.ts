/** Sets a tenant's concurrency cap. Null inherits the region's; lowering below what is in flight stops new claims only. */
import { readCommand } from "#domain/commands.ts";
import { SetTenantLimits, type SetTenantLimits as SetTenantLimitsInput } from "#domain/commands-limits.ts";
import { checkLimits, outOfStep, readLimitFacts } from "./limit-rules.ts";
import { lockTenant, readDefaults } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `bad_limit` ("use pause"), `bad_step`, `forbidden` (the role does not reach so far), and those of readCommand and runCommand */
export async function setTenantLimits(
  context: CommandContext,
  input: SetTenantLimitsInput,
): Promise<CommandAnswer> {
  const command = readCommand(SetTenantLimits, input);
  const { reason, ticket, tenantId: targetId } = command;
  return runCommand(
    context,
    { action: "tenant.limits", targetKind: "tenant", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockTenant(client, targetId, command.version);
      const before = { concurrencyLimit: row.concurrency_limit };
      const { tenant: inherited } = await readDefaults(client);
      const change = {
        name: "concurrency" as const,
        from: row.concurrency_limit ?? inherited,
        to: command.concurrencyLimit ?? inherited,
      };
      const aim = {
        kind: "tenant" as const,
        id: targetId,
        tenantId: row.id,
        destinationId: null,
        read: readLimitFacts(inherited),
        acknowledged: command.acknowledge429 === true,
      };
      await checkLimits(client, context, aim, [change], { nowMs, before });
      const { rows } = await client.query<{ version: number }>(
        `UPDATE sluice.tenant SET concurrency_limit = $3, version = version + 1 WHERE id = $1 AND version = $2 RETURNING version`,
        [row.id, row.version, command.concurrencyLimit],
      );
      return {
        tenantId: row.id,
        version: oneRow(rows).version,
        before,
        after: { concurrencyLimit: command.concurrencyLimit, ...outOfStep(context) },
      };
    },
  );
}
