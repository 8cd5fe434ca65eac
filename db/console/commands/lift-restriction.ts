/** Gives a restricted body back to its place: deliveries that still wait are sent again as usual. */
import { ErasePayload, readCommand } from "#domain/commands.ts";
import { fromPublicId } from "#domain/ids.ts";
import { countUsers, lockPayload, payloadFacts } from "./erase-payload.ts";
import { stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * What died meanwhile stays dead until a reviewed batch.
 * @throws SluiceError `not_found`, `state_conflict` when it is not restricted or retention has dropped the payload's day, and
 *   those of readCommand and runCommand
 */
export async function liftRestriction(context: CommandContext, input: ErasePayload): Promise<CommandAnswer> {
  const command = readCommand(ErasePayload, input);
  const { reason, ticket, payloadId: targetId } = command;
  const id = fromPublicId("pay", targetId);
  return runCommand(
    context,
    { action: "payload.lift_restriction", targetKind: "payload", targetId, reason, ticket },
    async (client) => {
      const payload = await lockPayload(client, id, targetId);
      const before = payloadFacts(payload);
      if (!payload.restricted) throw stateConflict("the payload is not restricted", before);
      if (payload.gone) {
        throw stateConflict("retention has taken its place: the bytes can only be erased", before);
      }
      await client.query(
        `WITH back AS (DELETE FROM sluice.payload_restricted r WHERE r.payload_id = $1 RETURNING r.body)
         UPDATE sluice.payload p SET body = b.body, erased_at = NULL FROM back b WHERE p.id = $1`,
        [id],
      );
      const { tenantId, ...counts } = await countUsers(client, id);
      return { tenantId, version: null, before, after: { ...before, restricted: false, ...counts } };
    },
  );
}
