/**
 * Sets what a region's tenants and destinations inherit, and how far operators may raise limits. What is left out stays.
 * Whatever has no limit of its own takes the new default with the next claim: this reaches every tenant at once.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import {
  SetRegionDefaults,
  type SetRegionDefaults as SetRegionDefaultsInput,
} from "#domain/commands-limits.ts";
import type { LimitChange } from "#domain/limit-steps.ts";
import { checkLimits, factNumber, named, outOfStep } from "./limit-rules.ts";
import { oneRow } from "./pause.ts";
import { lockRegion } from "./region-row.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

interface Defaults {
  readonly tenant: number;
  readonly destination: number;
  readonly max_tenant: number;
  readonly max_destination: number;
  readonly max_rate: number;
}

const COLUMNS = `default_tenant_concurrency AS tenant, default_destination_concurrency AS destination,
  policy_max_tenant_concurrency AS max_tenant, policy_max_destination_concurrency AS max_destination,
  policy_max_rate_per_second::float8 AS max_rate`;

/**
 * The step rule holds for both defaults, with the 429 share of the whole region.
 * @throws SluiceError `bad_limit` ("use pause"), `bad_step`, and those of readCommand and runCommand
 */
export async function setRegionDefaults(
  context: CommandContext,
  input: SetRegionDefaultsInput,
): Promise<CommandAnswer> {
  const command = readCommand(SetRegionDefaults, input);
  const { reason, ticket } = command;
  const targetId = context.region;
  return runCommand(
    context,
    { action: "region.defaults", targetKind: "region", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockRegion(client, context.region, command.version);
      const from = await readRegionDefaults(client);
      const to: Defaults = {
        tenant: command.tenantConcurrency ?? from.tenant,
        destination: command.destinationConcurrency ?? from.destination,
        max_tenant: command.maxTenantConcurrency ?? from.max_tenant,
        max_destination: command.maxDestinationConcurrency ?? from.max_destination,
        max_rate: command.maxRatePerSecond ?? from.max_rate,
      };
      for (const change of changesOf(from, to)) {
        const field = change.of;
        const aim = {
          kind: "region" as const,
          id: targetId,
          tenantId: null,
          destinationId: null,
          read: (facts: Facts) => named({ concurrency: factNumber(facts, field, from.tenant) }),
          acknowledged: command.acknowledge429 === true,
        };
        await checkLimits(client, context, aim, [change], { nowMs, before: facts(from) });
      }
      const { rows } = await client.query<Defaults & { version: number }>(
        `UPDATE sluice.region_control
            SET default_tenant_concurrency = $2, default_destination_concurrency = $3, policy_max_tenant_concurrency = $4,
                policy_max_destination_concurrency = $5, policy_max_rate_per_second = $6,
                version = version + 1, updated_at = clock_timestamp()
          WHERE version = $1 RETURNING version, ${COLUMNS}`,
        [row.version, to.tenant, to.destination, to.max_tenant, to.max_destination, to.max_rate],
      );
      const after = oneRow(rows);
      return {
        tenantId: null,
        version: after.version,
        before: facts(from),
        after: { ...facts(after), ...outOfStep(context) },
      };
    },
  );
}

async function readRegionDefaults(client: PoolClient): Promise<Defaults> {
  const { rows } = await client.query<Defaults>(`SELECT ${COLUMNS} FROM sluice.region_control`);
  return oneRow(rows);
}

function changesOf(from: Defaults, to: Defaults): (LimitChange & { readonly of: string })[] {
  return [
    { of: "tenantConcurrency", name: "concurrency", from: from.tenant, to: to.tenant },
    { of: "destinationConcurrency", name: "concurrency", from: from.destination, to: to.destination },
  ];
}

function facts(defaults: Defaults): Facts {
  return {
    tenantConcurrency: defaults.tenant,
    destinationConcurrency: defaults.destination,
    maxTenantConcurrency: defaults.max_tenant,
    maxDestinationConcurrency: defaults.max_destination,
    maxRatePerSecond: defaults.max_rate,
  };
}
