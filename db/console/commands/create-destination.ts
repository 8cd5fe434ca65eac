/**
 * Creates a destination with a signing secret of its own. The plain secret is in the answer of the one call that made it
 * and nowhere else: not in the audit, not in what is kept for a repeated request, not in an error.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import {
  CreateDestination,
  type CreateDestination as CreateDestinationInput,
} from "#domain/commands-configure.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { newSigningSecret, sealSecret } from "../../secrets.ts";
import {
  type ConfigureContext,
  checkOverride,
  checkUrl,
  overrideFact,
  refuseTakenName,
  urlFacts,
} from "./configure.ts";
import { oneRow } from "./pause.ts";
import { type Changed, type CommandAnswer, Refusal, runCommand } from "./run-command.ts";

export interface CreatedDestination extends CommandAnswer {
  /** `dst_...` */
  readonly id: string;
  /** `whsec_...`, shown once; null for a repeat of the request: rotate the secret when the first answer was lost. */
  readonly secret: string | null;
}

/**
 * Deliveries may be written for it when this has answered.
 * @throws SluiceError `bad_destination_url`, `bad_policy`, `not_found` (the tenant), `state_conflict` (the name is taken),
 *   and those of readCommand and runCommand
 */
export async function createDestination(
  context: ConfigureContext,
  input: CreateDestinationInput,
): Promise<CreatedDestination> {
  const command = readCommand(CreateDestination, input);
  checkUrl(command.url, context.rules);
  const { reason, ticket } = command;
  const targetId = toPublicId("dst", context.newId());
  const secret = newSigningSecret(context.randomBytes);
  const sealed = sealSecret(context.keyring, secret);
  const answer = await runCommand(
    context,
    { action: "destination.create", targetKind: "destination", targetId, reason, ticket },
    (client) => insert(client, command, targetId, sealed),
  );
  const id = String(answer.after.id);
  // A repeat tells the id of the first one, whose secret nobody knows here any more.
  return { ...answer, id, secret: id === targetId ? secret : null };
}

async function insert(
  client: PoolClient,
  command: CreateDestinationInput,
  targetId: string,
  sealed: Buffer,
): Promise<Changed> {
  const id = fromPublicId("dst", targetId);
  const tenantId = await lockOwner(client, command.tenantId);
  await refuseTakenName(client, tenantId, command.name, null);
  await checkOverride(client, command.policyOverride);
  const { rows } = await client.query<{ version: number; rate_burst: number }>(
    `INSERT INTO sluice.destination
       (id, region, tenant_id, name, url, concurrency_limit, rate_per_second, rate_burst, secret_current, plain_signature_header, policy_override)
     SELECT $1, rc.region, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM sluice.region_control rc RETURNING version, rate_burst`,
    [
      id,
      tenantId,
      command.name,
      command.url,
      command.concurrencyLimit ?? null,
      command.ratePerSecond ?? null,
      command.rateBurst ?? 1,
      sealed,
      command.plainSignatureHeader ?? null,
      overrideFact(command.policyOverride),
    ],
  );
  const { version, rate_burst } = oneRow(rows);
  const after = {
    id: targetId,
    name: command.name,
    ...urlFacts(command.url),
    concurrencyLimit: command.concurrencyLimit ?? null,
    ratePerSecond: command.ratePerSecond ?? null,
    rateBurst: rate_burst,
    plainSignatureHeader: command.plainSignatureHeader ?? null,
    policyOverride: overrideFact(command.policyOverride),
  };
  return { tenantId, version, before: {}, after };
}

/** One creation or renaming of a tenant's destinations at a time, so that a name is given once. */
async function lockOwner(client: PoolClient, publicId: string): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM sluice.tenant WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE",
    [fromPublicId("ten", publicId)],
  );
  if (rows[0] === undefined) {
    throw new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
  }
  return rows[0].id;
}
