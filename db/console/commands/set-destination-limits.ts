/**
 * Sets a destination's concurrency cap, rate and burst; what is left out stays. A null cap inherits the region's, a null
 * rate means none. Lowering below what is in flight stops new claims only.
 */
import { readCommand } from "#domain/commands.ts";
import {
  SetDestinationLimits,
  type SetDestinationLimits as SetDestinationLimitsInput,
} from "#domain/commands-limits.ts";
import type { LimitChange } from "#domain/limit-steps.ts";
import { checkLimits, outOfStep, readLimitFacts } from "./limit-rules.ts";
import { type DestinationRow, lockDestination, readDefaults } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

type Limits = Pick<DestinationRow, "concurrency_limit" | "rate_per_second" | "rate_burst">;

/** @throws SluiceError `bad_limit` ("use pause"), `bad_step`, `forbidden` (the role does not reach so far), and those of readCommand and runCommand */
export async function setDestinationLimits(
  context: CommandContext,
  input: SetDestinationLimitsInput,
): Promise<CommandAnswer> {
  const command = readCommand(SetDestinationLimits, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.limits", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      const wanted: Limits = {
        concurrency_limit: kept(command.concurrencyLimit, row.concurrency_limit),
        rate_per_second: kept(command.ratePerSecond, row.rate_per_second),
        rate_burst: command.rateBurst ?? row.rate_burst,
      };
      const { destination: inherited } = await readDefaults(client);
      const aim = {
        kind: "destination" as const,
        id: targetId,
        tenantId: row.tenant_id,
        destinationId: row.id,
        read: readLimitFacts(inherited),
        acknowledged: command.acknowledge429 === true,
      };
      await checkLimits(client, context, aim, changesOf(row, wanted, inherited), {
        nowMs,
        before: facts(row),
      });
      const { rows } = await client.query<Limits & { version: number }>(
        `UPDATE sluice.destination SET concurrency_limit = $3, rate_per_second = $4, rate_burst = $5, version = version + 1
          WHERE id = $1 AND version = $2
          RETURNING version, concurrency_limit, rate_per_second::float8 AS rate_per_second, rate_burst`,
        [row.id, row.version, wanted.concurrency_limit, wanted.rate_per_second, wanted.rate_burst],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before: facts(row),
        after: { ...facts(after), ...outOfStep(context) },
      };
    },
  );
}

/** In force before and after. No rate is more than any rate; its burst counts for nothing then. */
function changesOf(from: Limits, to: Limits, inherited: number): LimitChange[] {
  const rate = (limits: Limits) => limits.rate_per_second ?? Number.POSITIVE_INFINITY;
  return [
    {
      name: "concurrency",
      from: from.concurrency_limit ?? inherited,
      to: to.concurrency_limit ?? inherited,
    },
    { name: "rate", from: rate(from), to: rate(to) },
    { name: "burst", from: from.rate_burst, to: to.rate_burst },
  ];
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
