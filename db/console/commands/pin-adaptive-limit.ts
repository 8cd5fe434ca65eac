/** Fixes a destination's adaptive limit at a number. Workers neither raise nor lower a pinned one; the cap still bounds it. */
import { readCommand } from "#domain/commands.ts";
import { PinAdaptiveLimit, type PinAdaptiveLimit as PinAdaptiveLimitInput } from "#domain/commands-limits.ts";
import { adaptiveFacts, bumpDestination, lockState } from "./destination-state.ts";
import { lockDestination } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `bad_limit`, and those of readCommand and runCommand */
export async function pinAdaptiveLimit(
  context: CommandContext,
  input: PinAdaptiveLimitInput,
): Promise<CommandAnswer> {
  const command = readCommand(PinAdaptiveLimit, input);
  const { reason, ticket, destinationId: targetId, limit } = command;
  return runCommand(
    context,
    { action: "destination.pin_adaptive", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      const state = await lockState(client, targetId);
      await client.query(
        `INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit, adaptive_pinned, adaptive_changed_at)
         VALUES ($1, $2, $3, true, clock_timestamp())
         ON CONFLICT (destination_id) DO UPDATE SET adaptive_limit = EXCLUDED.adaptive_limit, adaptive_pinned = true,
           adaptive_changed_at = clock_timestamp(), updated_at = clock_timestamp()`,
        [row.id, context.region, limit],
      );
      return {
        tenantId: row.tenant_id,
        version: await bumpDestination(client, row),
        before: adaptiveFacts(state),
        after: { adaptiveLimit: limit, pinned: true },
      };
    },
  );
}
