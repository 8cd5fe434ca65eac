/** Creates a tenant in a region. Its slug is never given to a second one, not even after the first was deleted. */
import { readCommand } from "#domain/commands.ts";
import { CreateTenant, type CreateTenant as CreateTenantInput } from "#domain/commands-configure.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

export interface CreatedTenant extends CommandAnswer {
  /** `ten_...` */
  readonly id: string;
}

/** @throws SluiceError `state_conflict` when the slug is taken, and those of readCommand and runCommand */
export async function createTenant(
  context: CommandContext,
  input: CreateTenantInput,
): Promise<CreatedTenant> {
  const command = readCommand(CreateTenant, input);
  const { reason, ticket, slug, name, weight = 1, concurrencyLimit = null } = command;
  const targetId = toPublicId("ten", context.newId());
  const answer = await runCommand(
    context,
    { action: "tenant.create", targetKind: "tenant", targetId, reason, ticket },
    async (client) => {
      const id = fromPublicId("ten", targetId);
      const { rows } = await client.query<{ version: number }>(
        `INSERT INTO sluice.tenant (id, region, slug, name, weight, concurrency_limit)
         SELECT $1, rc.region, $2, $3, $4, $5 FROM sluice.region_control rc
         ON CONFLICT (slug) DO NOTHING RETURNING version`,
        [id, slug, name, weight, concurrencyLimit],
      );
      const row = rows[0];
      if (row === undefined) throw stateConflict(`the slug ${slug} is taken in this region`, { slug });
      // A repeat of the request is told the id from here.
      const after = { id: targetId, slug, name, weight, concurrencyLimit };
      return { tenantId: id, version: row.version, before: {}, after };
    },
  );
  return { ...answer, id: String(answer.after.id) };
}
