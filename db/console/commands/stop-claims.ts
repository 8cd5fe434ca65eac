/**
 * Stops all claims of the region (draining): what is in flight ends, everything else is held. It has no end of its own;
 * a banner stands until claims are started again.
 */
import { RegionCommand, readCommand } from "#domain/commands.ts";
import { stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { lockRegion, regionFacts } from "./region-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * After the answer (`applied`) no lease can begin; `drainStatus` says when the last one has ended.
 * @throws SluiceError `state_conflict` when they are stopped already, and those of readCommand and runCommand
 */
export async function stopClaims(context: CommandContext, input: RegionCommand): Promise<CommandAnswer> {
  const command = readCommand(RegionCommand, input);
  return runCommand(
    context,
    {
      action: "region.stop_claims",
      targetKind: "region",
      targetId: context.region,
      reason: command.reason,
      ticket: command.ticket,
    },
    async (client) => {
      const row = await lockRegion(client, context.region, command.version);
      if (row.draining)
        throw stateConflict(`claims of ${context.region} are stopped already`, regionFacts(row));
      const { rows } = await client.query(
        `UPDATE sluice.region_control SET draining = true, drain_reason = $2, drained_by = $3, drained_at = clock_timestamp(),
                version = version + 1, updated_at = clock_timestamp() WHERE version = $1
          RETURNING region, draining, drain_reason, drained_by, version`,
        [row.version, command.reason, context.actor],
      );
      const after = oneRow(rows);
      return { tenantId: null, version: after.version, before: regionFacts(row), after: regionFacts(after) };
    },
  );
}
