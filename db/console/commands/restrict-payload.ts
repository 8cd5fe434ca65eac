/**
 * ID-9: restricts a body: from now on every attempt of every delivery that uses it ends as `payload_erased`, without a
 * request, exactly as if it were erased, but the bytes are kept apart until a person gives them back or erases them. The
 * place that workers read holds nothing meanwhile, so no statement of theirs can send it by mistake.
 */
import { ErasePayload, readCommand } from "#domain/commands.ts";
import { fromPublicId } from "#domain/ids.ts";
import { countUsers, lockPayload, payloadFacts } from "./erase-payload.ts";
import { stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * Deliveries that are tried meanwhile end as dead letters; giving the body back brings none of them back by itself.
 * @throws SluiceError `not_found`, `state_conflict` when it is erased or restricted already, and those of readCommand and
 *   runCommand
 */
export async function restrictPayload(context: CommandContext, input: ErasePayload): Promise<CommandAnswer> {
  const command = readCommand(ErasePayload, input);
  const { reason, ticket, payloadId: targetId } = command;
  const id = fromPublicId("pay", targetId);
  return runCommand(
    context,
    { action: "payload.restrict", targetKind: "payload", targetId, reason, ticket },
    async (client) => {
      const payload = await lockPayload(client, id, targetId);
      const before = payloadFacts(payload);
      if (payload.restricted) throw stateConflict("the payload is restricted already", before);
      if (payload.erased_ms !== null) throw stateConflict("the payload was erased: nothing is left", before);
      await client.query(
        `INSERT INTO sluice.payload_restricted (payload_id, region, body, restricted_by, reason)
         SELECT p.id, p.region, p.body, $2, $3 FROM sluice.payload p WHERE p.id = $1`,
        [id, context.actor, reason],
      );
      await client.query(
        "UPDATE sluice.payload SET body = NULL, erased_at = clock_timestamp() WHERE id = $1 AND erased_at IS NULL",
        [id],
      );
      const { tenantId, ...counts } = await countUsers(client, id);
      return { tenantId, version: null, before, after: { ...before, restricted: true, ...counts } };
    },
  );
}
