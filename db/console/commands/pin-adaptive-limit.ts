/** Fixes a destination's adaptive limit at a number. Workers neither raise nor lower a pinned one; the cap still bounds it. */
import { readCommand } from "#domain/commands.ts";
import { PinAdaptiveLimit, type PinAdaptiveLimit as PinAdaptiveLimitInput } from "#domain/commands-limits.ts";
import { adaptiveFacts, bumpDestination, lockState } from "./destination-state.ts";
import { checkLimits, factNumber, named, outOfStep } from "./limit-rules.ts";
import { lockDestination, readDefaults } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

/** @throws SluiceError `bad_limit`, `bad_step`, `forbidden` (the role does not reach so far), and those of readCommand and runCommand */
export async function pinAdaptiveLimit(
  context: CommandContext,
  input: PinAdaptiveLimitInput,
): Promise<CommandAnswer> {
  const command = readCommand(PinAdaptiveLimit, input);
  const { reason, ticket, destinationId: targetId, limit } = command;
  return runCommand(
    context,
    { action: "destination.pin_adaptive", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      const state = await lockState(client, targetId);
      const cap = row.concurrency_limit ?? (await readDefaults(client)).destination;
      const aim = {
        kind: "destination" as const,
        id: targetId,
        tenantId: row.tenant_id,
        destinationId: row.id,
        read: (facts: Facts) => named({ concurrency: factNumber(facts, "adaptiveLimit", cap) }),
        acknowledged: command.acknowledge429 === true,
      };
      const inForce = Math.min(cap, state?.adaptive_limit ?? cap);
      const change = { name: "concurrency" as const, from: inForce, to: Math.min(cap, limit) };
      await checkLimits(client, context, aim, [change], { nowMs, before: adaptiveFacts(state) });
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
        after: { adaptiveLimit: limit, pinned: true, ...outOfStep(context) },
      };
    },
  );
}
