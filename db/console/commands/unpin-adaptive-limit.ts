/** Lets workers move a destination's adaptive limit again, from where it stands. */
import { DestinationCommand, readCommand } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { adaptiveFacts, bumpDestination, lockState } from "./destination-state.ts";
import { lockDestination, stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, Refusal, runCommand } from "./run-command.ts";

/** @throws SluiceError `state_conflict` when it is not pinned, `forbidden` for who may only lower, and those of readCommand and runCommand */
export async function unpinAdaptiveLimit(
  context: CommandContext,
  input: DestinationCommand,
): Promise<CommandAnswer> {
  const command = readCommand(DestinationCommand, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.unpin_adaptive", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      const state = await lockState(client, targetId);
      if (state?.adaptive_pinned !== true) throw stateConflict("the adaptive limit is not pinned");
      if (context.limitRules?.only === "lower") {
        const error = new SluiceError("forbidden", "letting the limit rise again needs the role operator");
        throw new Refusal("denied", error, adaptiveFacts(state));
      }
      await client.query(
        "UPDATE sluice.destination_state SET adaptive_pinned = false, updated_at = clock_timestamp() WHERE destination_id = $1",
        [row.id],
      );
      return {
        tenantId: row.tenant_id,
        version: await bumpDestination(client, row),
        before: adaptiveFacts(state),
        after: { adaptiveLimit: state.adaptive_limit, pinned: false },
      };
    },
  );
}
