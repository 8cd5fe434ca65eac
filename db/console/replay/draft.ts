/**
 * What the author does before the freeze: draft a batch from a selection, say what was looked at, annotate, plan. Each is one
 * audited command. Every change drops nothing silently: an edit of a batch under review is refused until changes are requested.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import {
  AnnotateReplay,
  DraftReplay,
  InspectReplay,
  PlanReplay,
  RemoveReplayItems,
  type ReplaySelection,
} from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { type AccessScope, covers, tenantsIn } from "#domain/permissions.ts";
import { resolvePlan } from "#domain/replay-plan.ts";
import { addEvent, type ReplayBatchRow, readPolicy } from "../../queue/replay-rows.ts";
import { stateConflict } from "../commands/locked-row.ts";
import {
  type Changed,
  type CommandAnswer,
  type CommandContext,
  type Facts,
  Refusal,
  runCommand,
} from "../commands/run-command.ts";
import { readParent, requireNewCause } from "./follow-up.ts";
import { batchFacts, lockReplay, tenantOf } from "./locked-batch.ts";
import { exclusionsOf, type SelectedEntry, selectEntries } from "./select-entries.ts";

/**
 * Drafts a batch of what can be replayed of the selection. `after.batchId` is the new batch.
 * @param scope where the caller may draft: a batch of a tenant outside it is refused as if its entries were not there
 * @throws SluiceError `bad_selection` when nothing is left of it, `not_found`, of a follow-up `replay_same_cause` and
 *   `state_conflict`, and those of readCommand and runCommand
 */
export async function draftReplay(
  context: CommandContext,
  scope: AccessScope,
  input: DraftReplay,
): Promise<CommandAnswer> {
  const command = readCommand(DraftReplay, input);
  const { name, reason, ticket, selection, rootCause } = command;
  const id = context.newId();
  const targetId = toPublicId("rpl", id);
  return runCommand(
    context,
    { action: "replay.draft", targetKind: "replay_batch", targetId, reason, ticket },
    async (client) => {
      const parent = await readParent(client, selection, scope, context.region);
      if (parent !== null) requireNewCause(parent, rootCause);
      const { kept, excluded, matching } = await choose(client, context, scope, command);
      const tenantIds = [...new Set(kept.map(({ tenant_id }) => tenant_id))];
      requireOneTenant(tenantIds, scope, context);
      const { policy } = await readPolicy(client);
      await client.query(
        `INSERT INTO sluice.replay_batch (id, region, name, reason, ticket, requested_by, editors, tenant_ids, selection, excluded, sample_seed, plan,
                                          root_cause, parent_id)
       SELECT $1, rc.region, $2, $3, $4, $5, ARRAY[$5], $6, $7, $8, $9, $10, $11, $12 FROM sluice.region_control rc`,
        [
          id,
          name,
          reason,
          ticket ?? null,
          context.actor,
          tenantIds,
          JSON.stringify({ ...selection, limit: command.limit }),
          JSON.stringify(excluded),
          id,
          JSON.stringify(resolvePlan({}, policy, false)),
          rootCause ?? null,
          parent?.id ?? null,
        ],
      );
      await insertItems(client, id, kept);
      const after: Facts = {
        batchId: targetId,
        state: "draft",
        items: kept.length,
        matching,
        ...(parent === null ? {} : { parentId: toPublicId("rpl", parent.id) }),
        ...prefixed(excluded),
      };
      await addEvent(client, {
        id: context.newId(),
        batchId: id,
        kind: "draft",
        actor: context.actor,
        to: "draft",
        detail: reason,
        facts: after,
      });
      return {
        tenantId: tenantIds.length === 1 ? (tenantIds[0] ?? null) : null,
        version: 1,
        before: {},
        after,
      };
    },
  );
}

interface Chosen {
  readonly kept: readonly SelectedEntry[];
  readonly excluded: Readonly<Record<string, number>>;
  readonly matching: number;
}

/** What of the selection can be replayed and lies in the scope. @throws Refusal `bad_selection` when nothing does */
async function choose(
  client: PoolClient,
  { region }: CommandContext,
  scope: AccessScope,
  { selection, limit }: { selection: ReplaySelection; limit: number },
): Promise<Chosen> {
  const selected = await selectEntries(client, selection, limit, tenantsIn(scope, region));
  const kept = selected.entries.filter(({ exclusion }) => exclusion === null);
  const excluded = exclusionsOf(selected);
  if (kept.length === 0) {
    const detail = "nothing that can be replayed is left of the selection";
    throw new Refusal("conflict", new SluiceError("bad_selection", detail, { excluded }));
  }
  return { kept, excluded, matching: selected.matching };
}

/** Somebody of some tenants only could draft a batch of several, and then do nothing with it. */
function requireOneTenant(
  tenantIds: readonly string[],
  scope: AccessScope,
  { region }: CommandContext,
): void {
  if (tenantIds.length === 1 || covers(scope, { region, tenantId: null })) return;
  const detail = "a batch of several tenants needs a grant for the whole region: choose one tenant";
  throw new Refusal("denied", new SluiceError("bad_selection", detail, { tenants: tenantIds.length }));
}

function prefixed(excluded: Readonly<Record<string, number>>): Facts {
  return Object.fromEntries(Object.entries(excluded).map(([why, n]) => [`excluded_${why}`, n]));
}

async function insertItems(
  client: PoolClient,
  batchId: string,
  kept: readonly SelectedEntry[],
): Promise<void> {
  await client.query(
    `INSERT INTO sluice.replay_item (batch_id, delivery_id, region, state, dead_letter_version, dead_letter_cycle, tenant_id, destination_id, reason, died_at, fingerprint)
     SELECT $1, d.id, rc.region, 'selected', d.version, d.cycle, d.tenant_id, d.destination_id, d.reason, d.died_at, d.fingerprint
       FROM sluice.dead_letter d CROSS JOIN sluice.region_control rc WHERE d.id = ANY ($2::uuid[])`,
    [batchId, kept.map(({ id }) => id)],
  );
}

/** An edit of a draft: who did it may not approve it. */
async function edit(
  context: CommandContext,
  action: string,
  command: {
    readonly batchId: string;
    readonly version: number;
    readonly reason: string;
    readonly ticket?: string | null | undefined;
  },
  write: (
    client: PoolClient,
    batch: ReplayBatchRow,
  ) => Promise<{ sql: string; values: readonly unknown[]; after: Facts }>,
): Promise<CommandAnswer> {
  const { batchId: targetId, reason, ticket } = command;
  return runCommand(
    context,
    { action: `replay.${action}`, targetKind: "replay_batch", targetId, reason, ticket },
    async (client): Promise<Changed> => {
      const batch = await lockReplay(client, targetId, command.version);
      const before = batchFacts(batch);
      if (batch.state !== "draft")
        throw stateConflict(`the batch is ${batch.state}: only a draft can be edited`, before);
      const { sql, values, after } = await write(client, batch);
      const { rows } = await client.query<{ version: number }>(
        `UPDATE sluice.replay_batch SET version = version + 1,
              editors = CASE WHEN $3 = ANY (editors) THEN editors ELSE editors || $3 END, ${sql}
        WHERE id = $1 AND version = $2 RETURNING version`,
        [batch.id, batch.version, context.actor, ...values],
      );
      const version = rows[0]?.version ?? null;
      await addEvent(client, {
        id: context.newId(),
        batchId: batch.id,
        kind: action,
        actor: context.actor,
        detail: reason,
        facts: after,
      });
      return { tenantId: tenantOf(batch), version, before, after };
    },
  );
}

/** Notes which sampled entries were opened. Ids that are not in the batch are refused. */
export async function inspectReplay(context: CommandContext, input: InspectReplay): Promise<CommandAnswer> {
  const command = readCommand(InspectReplay, input);
  const ids = command.deliveryIds.map((id) => fromPublicId("dlv", id));
  return edit(context, "inspect", command, async (client, batch) => {
    const { rows } = await client.query<{ n: number }>(
      "SELECT count(*)::integer AS n FROM sluice.replay_item WHERE batch_id = $1 AND delivery_id = ANY ($2::uuid[])",
      [batch.id, ids],
    );
    if (rows[0]?.n !== new Set(ids).size)
      throw new SluiceError("invalid_body", "deliveryIds: some are not in the batch");
    const inspected = [...new Set([...batch.inspected, ...ids])];
    return { sql: "inspected = $4", values: [inspected], after: { inspected: inspected.length } };
  });
}

/**
 * Takes entries out of a draft, for example those that another open batch has. Ids that are not in the batch are refused.
 * @throws SluiceError `bad_selection` when nothing would be left: that draft is cancelled instead
 */
export async function removeReplayItems(
  context: CommandContext,
  input: RemoveReplayItems,
): Promise<CommandAnswer> {
  const command = readCommand(RemoveReplayItems, input);
  const ids = [...new Set(command.deliveryIds.map((id) => fromPublicId("dlv", id)))];
  return edit(context, "remove", command, async (client, batch) => {
    const removed = await client.query(
      "DELETE FROM sluice.replay_item WHERE batch_id = $1 AND delivery_id = ANY ($2::uuid[]) AND state = 'selected'",
      [batch.id, ids],
    );
    if (removed.rowCount !== ids.length)
      throw new SluiceError("invalid_body", "deliveryIds: some are not in the batch");
    const { rows } = await client.query<{ n: number; tenants: string[] | null }>(
      "SELECT count(*)::integer AS n, array_agg(DISTINCT tenant_id) AS tenants FROM sluice.replay_item WHERE batch_id = $1",
      [batch.id],
    );
    const left = rows[0]?.n ?? 0;
    if (left === 0) throw new SluiceError("bad_selection", "nothing would be left: cancel the draft instead");
    const inspected = batch.inspected.filter((id) => !ids.includes(id));
    return {
      // Who may read all that is left may read the batch.
      sql: "inspected = $4, tenant_ids = $5",
      values: [inspected, rows[0]?.tenants ?? batch.tenant_ids],
      after: { removed: ids.length, items: left, inspected: inspected.length },
    };
  });
}

export async function annotateReplay(context: CommandContext, input: AnnotateReplay): Promise<CommandAnswer> {
  const command = readCommand(AnnotateReplay, input);
  return edit(context, "annotate", command, async (_client, batch) => {
    const name = command.name ?? batch.name;
    const rootCause = command.rootCause ?? batch.root_cause;
    const fixUrl = command.fixUrl === undefined ? batch.fix_url : command.fixUrl;
    const ticket = command.batchTicket === undefined ? batch.ticket : command.batchTicket;
    const checklist = command.checklist ?? batch.checklist ?? null;
    return {
      sql: "name = $4, root_cause = $5, fix_url = $6, ticket = $7, checklist = $8",
      values: [name, rootCause, fixUrl, ticket, checklist === null ? null : JSON.stringify(checklist)],
      after: { name, rootCause, fixUrl, ticket, checklist: checklist !== null },
    };
  });
}

/**
 * Stores the plan.
 * @throws SluiceError `forbidden` when a stop condition is loosened by somebody who is no administrator; `bad_plan`
 */
export async function planReplay(context: CommandContext, input: PlanReplay): Promise<CommandAnswer> {
  const command = readCommand(PlanReplay, input);
  return edit(context, "plan", command, async (client) => {
    const { policy } = await readPolicy(client);
    const plan = planOrRefuse(() => resolvePlan(command.plan, policy, context.role === "admin"));
    return {
      sql: "plan = $4, attempt_budget = $5",
      values: [JSON.stringify(plan), plan.attemptBudget],
      after: {
        ratePerSecond: plan.ratePerSecond,
        concurrency: plan.concurrency,
        attemptBudget: plan.attemptBudget,
        ...plan.stop,
      },
    };
  });
}

function planOrRefuse<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof SluiceError && error.code === "forbidden") throw new Refusal("denied", error);
    throw error;
  }
}
