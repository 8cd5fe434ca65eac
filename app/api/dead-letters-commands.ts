/**
 * The commands about a cause of dead letters: what must be permitted, how the audit names it, and the function that does
 * it. A cause of several tenants is a matter of the region: only a grant for all of it covers one.
 */
import "server-only";
import {
  type Assigned,
  type Assignees,
  listAssignees,
  requireAssignee,
} from "#db/console/access/assignees.ts";
import { findTarget } from "#db/console/commands/find-target.ts";
import type { CommandAnswer, CommandContext } from "#db/console/commands/run-command.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { markGroup } from "#db/console/dead-letter-groups-mark.ts";
import { type GroupVerb, triageGroup } from "#db/console/dead-letter-groups-triage.ts";
import { explainOutage } from "#db/console/read-region.ts";
import { regionPool } from "#db/regions.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { requirePermit } from "#domain/permissions.ts";
import type { Region } from "#domain/region.ts";
import type { Caller } from "./answer.ts";
import type { CommandRoute } from "./command.ts";

const triage = (verb: GroupVerb): CommandRoute => ({
  action: "dead_letter_triage",
  audit: `dead_letter_group.${verb}`,
  run: (context, input) => triageGroup(context, verb, input),
  kind: "dead_letter_group",
  idField: "groupId",
  versioned: true,
});

export const GROUP_COMMANDS = {
  acknowledge: triage("acknowledge"),
  assign: { ...triage("assign"), run: assign },
  note: triage("note"),
  resolve: triage("resolve"),
  reopen: triage("reopen"),
  willNotReplay: {
    ...triage("note"),
    action: "will_not_replay",
    audit: "dead_letter_group.will_not_replay",
    run: markGroup,
  },
} as const satisfies Record<string, CommandRoute>;

/** People are in the console's own database: they are looked up before the region's row is locked, never while it is. */
async function assign(context: CommandContext, input: unknown): Promise<CommandAnswer> {
  const email = (input as { readonly assignee?: unknown }).assignee;
  // Anything but a text is the command's own to take or to refuse.
  if (typeof email === "string") {
    const whose: Assigned = { region: context.region, tenantId: context.tenantId ?? null };
    const assignee = email.trim().toLowerCase();
    await withAccounts(() => requireAssignee(consoleDatabase().pool, whose, assignee));
    return triageGroup(context, "assign", { ...(input as object), assignee });
  }
  return triageGroup(context, "assign", input);
}

/**
 * The people who may be named for a cause, for who may name one.
 * @throws SluiceError `not_found` for what is outside of the scope, `forbidden`, `region_unavailable`
 */
export async function readAssignees(
  { principal, scope }: Caller,
  region: Region,
  id: string,
): Promise<Assignees> {
  const outside = new SluiceError("not_found", "There is no such row in your scope.");
  // A region outside is never asked.
  if (scope[region] === undefined) throw outside;
  const found = await findTarget(regionPool(region), "dead_letter_group", id).catch((error: unknown) => {
    const outage = isSluiceError(error) ? null : explainOutage(error);
    if (outage === null) throw error;
    throw new SluiceError("region_unavailable", outage, undefined, { cause: error });
  });
  if (found === null) throw outside;
  const { tenantId } = found;
  requirePermit(principal.grants, "dead_letter_triage", { region, tenantId });
  return withAccounts(() => listAssignees(consoleDatabase().pool, { region, tenantId }));
}
