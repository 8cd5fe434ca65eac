/**
 * Starts the region's claims again after a drain. A destination whose adaptive limit was feeling its way up goes on at the
 * last value that was known to be safe; a pinned one stays.
 */
import type { PoolClient } from "pg";
import { RegionCommand, readCommand } from "#domain/commands.ts";
import { stateConflict } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { lockRegion, regionFacts } from "./region-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/** @throws SluiceError `state_conflict` when they are not stopped, and those of readCommand and runCommand */
export async function startClaims(context: CommandContext, input: RegionCommand): Promise<CommandAnswer> {
  const command = readCommand(RegionCommand, input);
  return runCommand(
    context,
    {
      action: "region.start_claims",
      targetKind: "region",
      targetId: context.region,
      reason: command.reason,
      ticket: command.ticket,
    },
    async (client) => {
      const row = await lockRegion(client, context.region, command.version);
      if (!row.draining) throw stateConflict(`claims of ${context.region} are not stopped`, regionFacts(row));
      const { rows } = await client.query(
        `UPDATE sluice.region_control SET draining = false, drain_reason = NULL, drained_by = NULL, drained_at = NULL,
                version = version + 1, updated_at = clock_timestamp() WHERE version = $1
          RETURNING region, draining, drain_reason, drained_by, version`,
        [row.version],
      );
      const after = oneRow(rows);
      const loweredToSafe = await returnToSafeLimits(client);
      const facts = { ...regionFacts(after), loweredToSafe };
      return { tenantId: null, version: after.version, before: regionFacts(row), after: facts };
    },
  );
}

/** A row that a worker has in its hand is passed over: it is being decided about at this moment. Returns how many moved. */
async function returnToSafeLimits(client: PoolClient): Promise<number> {
  const { rowCount } = await client.query(
    `WITH risky AS MATERIALIZED (
       SELECT s.destination_id FROM sluice.destination_state s
        WHERE s.adaptive_limit > s.adaptive_safe_limit AND NOT s.adaptive_pinned
        ORDER BY s.destination_id FOR UPDATE SKIP LOCKED)
     UPDATE sluice.destination_state s
        SET adaptive_limit = s.adaptive_safe_limit, adaptive_changed_at = clock_timestamp(), updated_at = clock_timestamp()
       FROM risky r WHERE s.destination_id = r.destination_id`,
  );
  return rowCount ?? 0;
}
