/**
 * Changes a destination's name, URL, plain signature header and policy override; what is left out stays. Requests that
 * are in flight end where they were sent; every later one reads the new row, since the version has changed.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import {
  UpdateDestination,
  type UpdateDestination as UpdateDestinationInput,
} from "#domain/commands-configure.ts";
import {
  checkOverride,
  checkUrl,
  overrideFact,
  type RulesContext,
  refuseTakenName,
  urlFacts,
} from "./configure.ts";
import { lockDestination } from "./locked-row.ts";
import { oneRow } from "./pause.ts";
import { type CommandAnswer, type Facts, runCommand } from "./run-command.ts";

interface Configured {
  readonly version: number;
  readonly name: string;
  readonly url: string;
  readonly plain_signature_header: string | null;
  readonly policy_override: unknown;
}

/**
 * @throws SluiceError `bad_destination_url`, `bad_policy`, `state_conflict` (the name is taken), and those of readCommand
 *   and runCommand
 */
export async function updateDestination(
  context: RulesContext,
  input: UpdateDestinationInput,
): Promise<CommandAnswer> {
  const command = readCommand(UpdateDestination, input);
  checkUrl(command.url, context.rules);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.update", targetKind: "destination", targetId, reason, ticket },
    async (client) => {
      const row = await lockDestination(client, targetId, command.version);
      if (command.name !== undefined) await checkName(client, row.tenant_id, command.name, row.id);
      await checkOverride(client, command.policyOverride);
      const before = await readConfigured(client, row.id);
      const { rows } = await client.query<Configured>(
        `UPDATE sluice.destination SET name = $3, url = $4, plain_signature_header = $5, policy_override = $6, version = version + 1
          WHERE id = $1 AND version = $2 RETURNING ${CONFIGURED}`,
        [
          row.id,
          row.version,
          command.name ?? before.name,
          command.url ?? before.url,
          kept(command.plainSignatureHeader, before.plain_signature_header),
          overrideFact(kept(command.policyOverride, before.policy_override)),
        ],
      );
      const after = oneRow(rows);
      return {
        tenantId: row.tenant_id,
        version: after.version,
        before: facts(before),
        // Two URLs of one host have one mask: whether it is another one is a fact of its own.
        after: { ...facts(after), urlChanged: after.url !== before.url },
      };
    },
  );
}

const CONFIGURED = "version, name, url, plain_signature_header, policy_override";

/** The row is locked already. */
async function readConfigured(client: PoolClient, id: string): Promise<Configured> {
  const { rows } = await client.query<Configured>(
    `SELECT ${CONFIGURED} FROM sluice.destination WHERE id = $1`,
    [id],
  );
  return oneRow(rows);
}

/** Two renamings of one tenant's destinations come one after the other. */
async function checkName(client: PoolClient, tenantId: string, name: string, id: string): Promise<void> {
  await client.query("SELECT 1 FROM sluice.tenant WHERE id = $1 FOR NO KEY UPDATE", [tenantId]);
  await refuseTakenName(client, tenantId, name, id);
}

/** Undefined keeps what stands; null is a value. */
function kept<T>(asked: T | null | undefined, stands: T | null): T | null {
  return asked === undefined ? stands : asked;
}

function facts(row: Configured): Facts {
  return {
    name: row.name,
    ...urlFacts(row.url),
    plainSignatureHeader: row.plain_signature_header,
    policyOverride: overrideFact(row.policy_override),
  };
}
