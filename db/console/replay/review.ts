/**
 * What the second person does, and how a batch ends before it starts. That nobody approves what they wrote or changed is
 * refused by the database itself; here it only gets words.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { ApproveReplay, BreakGlass, ReplayCommand } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { refusal } from "#domain/permissions.ts";
import type { ReplayState } from "#domain/replay.ts";
import { closeFrozen } from "../../queue/replay-release.ts";
import { addEvent, type ReplayBatchRow, type StepSet, stepBatch } from "../../queue/replay-rows.ts";
import { stateConflict } from "../commands/locked-row.ts";
import {
  type CommandAnswer,
  type CommandContext,
  type Facts,
  Refusal,
  runCommand,
} from "../commands/run-command.ts";
import { batchFacts, lockReplay, tenantOf } from "./locked-batch.ts";

const CHECK_VIOLATION = "23514";

export interface StepCommand {
  readonly batchId: string;
  readonly version: number;
  readonly reason: string;
  readonly ticket?: string | null | undefined;
}

export interface StepWork {
  readonly set?: StepSet;
  readonly facts?: Facts;
}

/**
 * One person's step: locked, checked, conditional, audited, with its event.
 * @param allowed states that it may leave
 * @param anyVersion true: the state is guard enough
 */
export async function stepCommand(
  context: CommandContext,
  verb: string,
  command: StepCommand,
  step: {
    readonly allowed: readonly ReplayState[];
    readonly to: (batch: ReplayBatchRow) => ReplayState;
    readonly anyVersion?: boolean;
    readonly work: (client: PoolClient, batch: ReplayBatchRow) => Promise<StepWork>;
  },
): Promise<CommandAnswer> {
  const { batchId: targetId, reason, ticket, version } = command;
  return runCommand(
    context,
    { action: `replay.${verb}`, targetKind: "replay_batch", targetId, reason, ticket },
    async (client) => {
      const batch = await lockReplay(client, targetId, step.anyVersion ? null : version);
      const before = batchFacts(batch);
      if (!step.allowed.includes(batch.state)) throw stateConflict(`the batch is ${batch.state}`, before);
      const to = step.to(batch);
      const { set, facts = {} } = await step.work(client, batch);
      const next = await stepBatch(client, batch, to, set).catch((error: unknown) => {
        throw ownApproval(error, before) ?? error;
      });
      const after = { state: to, ...facts };
      await addEvent(client, {
        id: context.newId(),
        batchId: batch.id,
        kind: verb,
        actor: context.actor,
        from: batch.state,
        to,
        detail: reason,
        facts,
      });
      return { tenantId: tenantOf(batch), version: next, before, after };
    },
  );
}

function ownApproval(error: unknown, before: Facts): Refusal | null {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  if (
    code !== CHECK_VIOLATION ||
    (constraint !== "replay_batch_four_eyes" && constraint !== "replay_batch_editors")
  )
    return null;
  const detail = "a batch is approved by somebody who neither wrote nor changed it";
  return new Refusal(
    "denied",
    new SluiceError("forbidden", detail, { action: "replay_approve", own: true }),
    before,
  );
}

/** @throws SluiceError `forbidden` for the author and for everybody who edited; `version_conflict` when the frozen set is another one */
export async function approveReplay(context: CommandContext, input: ApproveReplay): Promise<CommandAnswer> {
  const command = readCommand(ApproveReplay, input);
  return stepCommand(context, "approve", command, {
    allowed: ["in_review"],
    to: () => "approved",
    work: async (_client, batch) => {
      if (batch.frozen_sha256?.toString("hex") !== command.sha256) {
        throw new Refusal(
          "conflict",
          new SluiceError("version_conflict", "the frozen set is not the one that was read"),
          batchFacts(batch),
        );
      }
      return {
        set: {
          sql: "approved_by = $4, approved_at = clock_timestamp(), approval_comment = $5",
          values: [context.actor, command.reason],
        },
        facts: { approvedBy: context.actor, sha256: command.sha256 },
      };
    },
  });
}

/** Without the second person: an administrator, with the name typed. It stands in a banner, in the events and in the audit. */
export async function breakGlass(context: CommandContext, input: BreakGlass): Promise<CommandAnswer> {
  const command = readCommand(BreakGlass, input);
  return stepCommand(context, "break_glass", command, {
    allowed: ["in_review"],
    to: () => "approved",
    work: async (_client, batch) => {
      if (context.role !== "admin") {
        throw new Refusal("denied", refusal("break_glass"), batchFacts(batch));
      }
      if (command.typedName !== batch.name)
        throw new SluiceError("invalid_body", "typedName: is not the name of the batch");
      return {
        set: {
          sql: "break_glass_by = $4, break_glass_at = clock_timestamp(), approved_at = clock_timestamp()",
          values: [context.actor],
        },
        facts: { breakGlassBy: context.actor },
      };
    },
  });
}

/** Back to a draft, with its freeze dropped: what is submitted next is another approval. */
export async function requestChanges(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return stepCommand(context, "request_changes", command, {
    allowed: ["in_review"],
    to: () => "draft",
    work: async (client, batch) => {
      await client.query(
        "UPDATE sluice.replay_item SET state = 'selected', seq = NULL, canary = false WHERE batch_id = $1",
        [batch.id],
      );
      return { set: { sql: "frozen_sha256 = NULL, submitted_at = NULL, canary_size = NULL" } };
    },
  });
}

export async function rejectReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  return endBefore(
    context,
    "reject",
    "rejected",
    ["in_review", "approved"],
    readCommand(ReplayCommand, input),
  );
}

export async function cancelReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  return endBefore(
    context,
    "cancel",
    "cancelled",
    ["draft", "in_review", "approved"],
    readCommand(ReplayCommand, input),
  );
}

function endBefore(
  context: CommandContext,
  verb: string,
  to: ReplayState,
  allowed: readonly ReplayState[],
  command: ReplayCommand,
): Promise<CommandAnswer> {
  return stepCommand(context, verb, command, {
    allowed,
    to: () => to,
    work: async (client, batch) => {
      const closed = await closeFrozen(client, batch.id, null, to);
      return {
        set: { sql: "ended_at = clock_timestamp(), stop_cause = $4", values: [command.reason] },
        facts: { closed },
      };
    },
  });
}
