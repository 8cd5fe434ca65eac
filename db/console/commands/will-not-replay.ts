/**
 * DLQ-3: says of a dead letter that it will not be sent again, and why. The row stays, with all that it has; nothing here
 * removes anything.
 */
import { readCommand } from "#domain/commands.ts";
import { WillNotReplay } from "#domain/commands-delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { isoOf, stateConflict, versionConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, Refusal, runCommand } from "./run-command.ts";

interface DeadRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly version: number;
  readonly marked_ms: number | null;
  readonly reason: string;
}

/**
 * A batch that has frozen the entry skips it: its version is another one now.
 * @throws SluiceError `not_found`, `version_conflict`, `state_conflict` when it was said already, and those of readCommand
 *   and runCommand
 */
export async function willNotReplay(context: CommandContext, input: WillNotReplay): Promise<CommandAnswer> {
  const command = readCommand(WillNotReplay, input);
  const { reason, ticket, deliveryId: targetId, version: seen } = command;
  return runCommand(
    context,
    { action: "dead_letter.will_not_replay", targetKind: "dead_letter", targetId, reason, ticket },
    async (client) => {
      const found = await client.query<DeadRow>(
        `SELECT id, tenant_id, version, reason, (extract(epoch FROM will_not_replay_at) * 1000)::float8 AS marked_ms
           FROM sluice.dead_letter WHERE id = $1 FOR UPDATE`,
        [fromPublicId("dlv", targetId)],
      );
      const row = found.rows[0];
      if (row === undefined) {
        const detail = `${targetId} is no dead letter of this region`;
        throw new Refusal("conflict", new SluiceError("not_found", detail));
      }
      const before = { reason: row.reason, willNotReplay: row.marked_ms !== null };
      if (row.version !== seen) throw versionConflict(targetId, seen, row.version, before);
      if (row.marked_ms !== null)
        throw stateConflict("it was said already that this one will not be replayed", before);
      const { rows } = await client.query<{ version: number; marked_ms: number }>(
        `UPDATE sluice.dead_letter SET will_not_replay_at = clock_timestamp(), will_not_replay_reason = $3, version = version + 1
          WHERE id = $1 AND version = $2
          RETURNING version, (extract(epoch FROM will_not_replay_at) * 1000)::float8 AS marked_ms`,
        [row.id, row.version, reason],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before,
        after: { reason: row.reason, willNotReplay: true, willNotReplayAt: isoOf(after.marked_ms) },
      };
    },
  );
}
