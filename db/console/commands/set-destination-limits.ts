/**
 * Sets a destination's concurrency cap, rate and burst; what is left out stays. A null cap inherits the region's, a null
 * rate means none. Lowering below what is in flight stops new claims only.
 */
import { readCommand } from "#domain/commands.ts";
import {
  SetDestinationLimits,
  type SetDestinationLimits as SetDestinationLimitsInput,
} from "#domain/commands-limits.ts";
import { type DestinationRow, lockDestination } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

type Limits = Pick<DestinationRow, "concurrency_limit" | "rate_per_second" | "rate_burst">;

/** @throws SluiceError `bad_limit` ("use pause"), and those of readCommand and runCommand */
export async function setDestinationLimits(
  context: CommandContext,
  input: SetDestinationLimitsInput,
): Promise<CommandAnswer> {
  const command = readCommand(SetDestinationLimits, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.limits", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      const { rows } = await client.query<Limits & { version: number }>(
        `UPDATE sluice.destination SET concurrency_limit = $3, rate_per_second = $4, rate_burst = $5, version = version + 1
          WHERE id = $1 AND version = $2
          RETURNING version, concurrency_limit, rate_per_second::float8 AS rate_per_second, rate_burst`,
        [
          row.id,
          row.version,
          kept(command.concurrencyLimit, row.concurrency_limit),
          kept(command.ratePerSecond, row.rate_per_second),
          command.rateBurst ?? row.rate_burst,
        ],
      );
      const after = oneRow(rows);
      return { tenantId: row.tenant_id, version: after.version, before: facts(row), after: facts(after) };
    },
  );
}

/** Undefined keeps what stands; null is a value. */
function kept(asked: number | null | undefined, stands: number | null): number | null {
  return asked === undefined ? stands : asked;
}

function facts(limits: Limits): Facts {
  return {
    concurrencyLimit: limits.concurrency_limit,
    ratePerSecond: limits.rate_per_second,
    rateBurst: limits.rate_burst,
  };
}
