/**
 * What people do about a cause of dead letters: acknowledge, assign, note, resolve, reopen. Each is one version-guarded
 * change of the group's row with its audit row. None of it touches an entry, and none of it can hold up a worker: finish
 * adds entries and never waits for a group that exists.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { AssignGroup, GroupCommand, NoteGroup } from "#domain/dead-letter-commands.ts";
import type { GroupState } from "#domain/dead-letter-group.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { stateConflict, versionConflict } from "./commands/locked-row.ts";
import {
  type Changed,
  type CommandAnswer,
  type CommandContext,
  type Facts,
  Refusal,
  runCommand,
} from "./commands/run-command.ts";

export interface GroupRow {
  readonly id: string;
  readonly fingerprint: string;
  readonly state: GroupState;
  readonly assignee: string | null;
  readonly note: string | null;
  readonly version: number;
  /** The tenant of all its entries; null when there are several. */
  readonly tenantId: string | null;
}

export type GroupVerb = "acknowledge" | "assign" | "note" | "resolve" | "reopen";

interface Verb {
  readonly schema: typeof GroupCommand | typeof AssignGroup | typeof NoteGroup;
  /** The columns that it sets, from the row and the command. Throws a Refusal when they are so already. */
  readonly set: (row: GroupRow, command: Partial<AssignGroup & NoteGroup>) => Partial<Columns>;
}

interface Columns {
  readonly state: GroupState;
  readonly assignee: string | null;
  readonly note: string | null;
}

/** `resolved` can be said again: the cause may have regressed, and its day begins anew. */
const VERBS: Readonly<Record<GroupVerb, Verb>> = {
  acknowledge: { schema: GroupCommand, set: (row) => newState(row, "acknowledged") },
  resolve: { schema: GroupCommand, set: (row) => newState(row, "resolved") },
  reopen: { schema: GroupCommand, set: (row) => newState(row, "new") },
  assign: { schema: AssignGroup, set: (_, { assignee = null }) => ({ assignee }) },
  note: { schema: NoteGroup, set: (_, { note = null }) => ({ note }) },
};

/**
 * Changes what people decided about a cause.
 * @param input the verb's command of domain/dead-letter-group.ts
 * @throws SluiceError `not_found`, `version_conflict`, `state_conflict`, and those of readCommand and runCommand
 */
export async function triageGroup(
  context: CommandContext,
  verb: GroupVerb,
  input: unknown,
): Promise<CommandAnswer> {
  const { schema, set } = VERBS[verb];
  const command = readCommand<typeof AssignGroup | typeof NoteGroup | typeof GroupCommand>(schema, input);
  const { groupId, version, reason, ticket } = command;
  return runCommand(
    context,
    {
      action: `dead_letter_group.${verb}`,
      targetKind: "dead_letter_group",
      targetId: groupId,
      reason,
      ticket,
    },
    async (client) => {
      const row = await lockGroup(client, groupId, version);
      return write(client, row, set(row, command), context.actor);
    },
  );
}

/**
 * The group, locked against other people and against nobody else.
 * @throws Refusal `not_found`, `version_conflict`
 */
export async function lockGroup(client: PoolClient, publicId: string, seen: number): Promise<GroupRow> {
  const { rows } = await client.query<Omit<GroupRow, "tenantId">>(
    `SELECT id, fingerprint, state, assignee, note, version FROM sluice.dead_letter_group
      WHERE id = $1 FOR NO KEY UPDATE`,
    [fromPublicId("dlg", publicId)],
  );
  const row = rows[0];
  if (row === undefined) {
    throw new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
  }
  if (row.version !== seen) throw versionConflict(publicId, seen, row.version, groupFacts(row));
  return { ...row, tenantId: await onlyTenant(client, row.fingerprint) };
}

/** For the audit, which is read by tenant. Two tenants in a cause make it a matter of the region. */
async function onlyTenant(client: PoolClient, fingerprint: string): Promise<string | null> {
  const { rows } = await client.query<{ tenant_id: string; alone: boolean }>(
    `SELECT d.tenant_id, NOT EXISTS (SELECT 1 FROM sluice.dead_letter o
                                      WHERE o.fingerprint = $1 AND o.tenant_id <> d.tenant_id) AS alone
       FROM sluice.dead_letter d WHERE d.fingerprint = $1 LIMIT 1`,
    [fingerprint],
  );
  return rows[0]?.alone === true ? rows[0].tenant_id : null;
}

function newState(row: GroupRow, state: GroupState): Partial<Columns> {
  if (row.state === "replaying") throw stateConflict("a replay of the cause is going on", groupFacts(row));
  if (row.state === state && state !== "resolved")
    throw stateConflict(`the cause is ${state} already`, groupFacts(row));
  return { state };
}

async function write(
  client: PoolClient,
  row: GroupRow,
  set: Partial<Columns>,
  actor: string,
): Promise<Changed> {
  const columns: Columns = { state: row.state, assignee: row.assignee, note: row.note, ...set };
  const { rows } = await client.query<{ version: number }>(
    `UPDATE sluice.dead_letter_group
        SET state = $3, assignee = $4, note = $5, version = version + 1,
            state_by = CASE WHEN $6 THEN $7 ELSE state_by END,
            state_at = CASE WHEN $6 THEN clock_timestamp() ELSE state_at END,
            resolved_at = CASE WHEN NOT $6 THEN resolved_at WHEN $3 = 'resolved' THEN clock_timestamp() END
      WHERE id = $1 AND version = $2 RETURNING version`,
    [row.id, row.version, columns.state, columns.assignee, columns.note, set.state !== undefined, actor],
  );
  const after = rows[0];
  if (after === undefined) throw new Error("a locked row was not updated");
  return {
    tenantId: row.tenantId,
    version: after.version,
    before: groupFacts(row),
    after: groupFacts(columns),
  };
}

export function groupFacts({ state, assignee, note }: Columns): Facts {
  return { state, assignee, note };
}
