/**
 * The next version of what counts as late in a region. It changes what pages, metrics and shares judge by from the next
 * read on, also of what already waits; it changes nothing about what is sent. What is left out stays.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { SetObjectives } from "#domain/commands-policy.ts";
import { SluiceError } from "#domain/errors.ts";
import { loosenedObjectives, readObjectiveNumbers, refuseObjectives } from "#domain/objectives.ts";
import {
  BUILT_IN,
  insertVersion,
  namesOf,
  policyFacts,
  requireAdmin,
  requireNewest,
  type StoredPolicy,
} from "./policy-version.ts";
import { type CommandAnswer, type CommandContext, runCommand } from "./run-command.ts";

/**
 * @throws SluiceError `forbidden` for everybody but an administrator, `version_conflict`, `bad_policy` for numbers that do
 *   not fit together, and those of readCommand and runCommand
 */
export async function setObjectives(context: CommandContext, input: SetObjectives): Promise<CommandAnswer> {
  const command = readCommand(SetObjectives, input);
  const { reason, ticket, version: seen, objectives: changes } = command;
  return runCommand(
    context,
    { action: "policy.objectives", targetKind: "region", targetId: context.region, reason, ticket },
    async (client) => {
      requireAdmin(context, "what counts as late");
      const newest = await readNewest(client);
      const subject = `the objectives of ${context.region}`;
      requireNewest(subject, seen, newest);
      const before = readObjectiveNumbers(newest.body);
      const after = { ...before, ...changes } as typeof before;
      const refused = refuseObjectives(after);
      if (refused !== null) throw new SluiceError("bad_policy", refused);
      await insertVersion(client, {
        subject,
        seen,
        text: `INSERT INTO sluice.objective_policy (version, region, body, created_by, reason)
               SELECT $1, rc.region, $2, $3, $4 FROM sluice.region_control rc`,
        values: [seen + 1, JSON.stringify({ ...newest.body, ...changes }), context.actor, reason],
      });
      const names = namesOf(changes);
      const looser = loosenedObjectives(before, after);
      return {
        tenantId: null,
        version: seen + 1,
        before: { policyVersion: seen, ...policyFacts(before, names) },
        after: {
          policyVersion: seen + 1,
          ...policyFacts(after, names),
          loosened: looser.length === 0 ? null : looser.join(", "),
        },
      };
    },
  );
}

async function readNewest(client: PoolClient): Promise<StoredPolicy> {
  const { rows } = await client.query<StoredPolicy>(
    "SELECT p.version, p.body FROM sluice.objective_policy p ORDER BY p.version DESC LIMIT 1",
  );
  return rows[0] ?? BUILT_IN;
}
