/**
 * Start, continue, pause, resume, stop, lower the rate. A start or a resume is refused while a stop condition is red; a pause
 * and a stop are never refused for an old version. What was released and not sent comes back in the same transaction.
 */
import type { PoolClient } from "pg";
import { readCommand } from "#domain/commands.ts";
import { ReplayCommand, SetReplayRate } from "#domain/commands-replay.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { breachesOf, checkStop, describeBreaches } from "#domain/replay-stop.ts";
import { writeReplayJob } from "../../queue/replay-jobs.ts";
import { readReadings } from "../../queue/replay-readings.ts";
import { closeFrozen, recallItems } from "../../queue/replay-release.ts";
import { addEvent, type ReplayBatchRow, readPolicy } from "../../queue/replay-rows.ts";
import { stateConflict } from "../commands/locked-row.ts";
import { type CommandAnswer, type CommandContext, Refusal, runCommand } from "../commands/run-command.ts";
import { hashOfRows } from "./freeze.ts";
import { batchFacts, lockReplay, tenantOf } from "./locked-batch.ts";
import { stepCommand } from "./review.ts";

/**
 * Starts an approved batch with its canary.
 * @throws SluiceError `version_conflict` when anything has moved since the approval, `replay_red`, `bad_plan` outside its
 *   window, `forbidden` for a supporter and another person's batch, and those of runCommand
 */
export async function startReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return scheduled(
    context,
    command.batchId,
    stepCommand(context, "start", command, {
      allowed: ["approved"],
      to: () => "canary",
      work: async (client, batch) => {
        requireOwn(context, batch);
        await requireUnmoved(client, batch, context.region);
        requireWindow(batch);
        await requireGreen(client, { ...batch, last_turn_ms: null });
        return {
          set: {
            sql: "started_at = clock_timestamp(), window_since = clock_timestamp(), last_turn_at = clock_timestamp()",
          },
        };
      },
    }),
  );
}

/** A supporter starts and resumes only their own batches. */
function requireOwn({ role, actor }: CommandContext, batch: ReplayBatchRow): void {
  if (role !== "support" || batch.requested_by === actor) return;
  const detail = "support starts and resumes only batches of their own";
  throw new Refusal(
    "denied",
    new SluiceError("forbidden", detail, { action: "replay_start", roles: ["operator", "admin"] }),
    batchFacts(batch),
  );
}

async function requireUnmoved(client: PoolClient, batch: ReplayBatchRow, region: string): Promise<void> {
  const moved = (what: string) =>
    new Refusal("conflict", new SluiceError("version_conflict", what), batchFacts(batch));
  const { policy } = await readPolicy(client);
  if (batch.approved_ms === null || batch.now_ms - batch.approved_ms > policy.approvalMs)
    throw moved("the approval is too old");
  const now = await hashOfRows(client, batch, region);
  if (batch.frozen_sha256 === null || !now.equals(batch.frozen_sha256))
    throw moved("the frozen set is not the one that was approved");
  const { rowCount } = await client.query(
    `SELECT 1 FROM sluice.replay_lane l WHERE l.batch_id = $1 AND sluice.destination_print(l.destination_id) IS DISTINCT FROM l.print LIMIT 1`,
    [batch.id],
  );
  if (rowCount !== 0) throw moved("a destination was changed since the approval");
}

function requireWindow(batch: ReplayBatchRow): void {
  const { startsAfter, endsBefore } = batch.plan;
  if (startsAfter !== null && batch.now_ms < Date.parse(startsAfter))
    throw new SluiceError("bad_plan", `the window begins at ${startsAfter}`);
  if (endsBefore !== null && batch.now_ms >= Date.parse(endsBefore))
    throw new SluiceError("bad_plan", `the window ended at ${endsBefore}`);
}

async function requireGreen(client: PoolClient, batch: ReplayBatchRow): Promise<void> {
  const { policy } = await readPolicy(client);
  // What was seen before a resume is what the person resumes from: only later attempts count again.
  const readings = { ...(await readReadings(client, batch, policy)), attempts: [] };
  const states = checkStop(readings, batch.plan.stop, policy);
  const red = breachesOf(states);
  if (red.length === 0) return;
  throw new Refusal(
    "conflict",
    new SluiceError("replay_red", describeBreaches(states), { conditions: red }),
    batchFacts(batch),
  );
}

/** From the canary's hold to the run. @throws SluiceError `state_conflict` before the hold is over, `replay_red` */
export async function continueReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return scheduled(
    context,
    command.batchId,
    stepCommand(context, "continue", command, {
      allowed: ["canary_hold"],
      to: () => "running",
      work: async (client, batch) => {
        requireOwn(context, batch);
        const { policy } = await readPolicy(client);
        const heldMs = batch.now_ms - (batch.held_ms ?? batch.now_ms);
        if (heldMs < policy.canaryHoldMs) {
          const left = Math.ceil((policy.canaryHoldMs - heldMs) / 1_000);
          throw stateConflict(`the canary is held for ${left} s more`, batchFacts(batch));
        }
        await requireGreen(client, batch);
        return { set: { sql: "ramp_since = clock_timestamp()" } };
      },
    }),
  );
}

export async function pauseReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return scheduled(
    context,
    command.batchId,
    stepCommand(context, "pause", command, {
      allowed: ["canary", "canary_hold", "running"],
      to: () => "paused",
      anyVersion: true,
      work: async (client, batch) => {
        const { recalled, deadAgain } = await recallItems(client, batch.id, null, "frozen");
        const values = [batch.state, `${context.actor}: ${command.reason}`.slice(0, 500)];
        const sql = "paused_from = $4, pause_cause = $5, paused_auto = false";
        return { set: { sql, values }, facts: { recalled, deadAgain } };
      },
    }),
  );
}

/** Back to where it was, slowly: the rate ramps anew. @throws SluiceError `replay_red` */
export async function resumeReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return scheduled(
    context,
    command.batchId,
    stepCommand(context, "resume", command, {
      allowed: ["paused"],
      to: (batch) => batch.paused_from ?? "paused",
      work: async (client, batch) => {
        requireOwn(context, batch);
        await requireGreen(client, { ...batch, last_turn_ms: null });
        const now = "clock_timestamp()";
        const held = batch.paused_from === "canary_hold" ? `, held_since = ${now}` : "";
        return {
          set: {
            sql: `ramp_since = ${now}, window_since = ${now}, last_turn_at = ${now}, pause_cause = NULL${held}`,
          },
        };
      },
    }),
  );
}

export async function stopReplay(context: CommandContext, input: ReplayCommand): Promise<CommandAnswer> {
  const command = readCommand(ReplayCommand, input);
  return scheduled(
    context,
    command.batchId,
    stepCommand(context, "stop", command, {
      allowed: ["canary", "canary_hold", "running", "paused"],
      to: () => "stopping",
      anyVersion: true,
      work: async (client, batch) => {
        const cause = `${context.actor}: ${command.reason}`.slice(0, 500);
        const { recalled, deadAgain } = await recallItems(client, batch.id, null, "recalled");
        const notReleased = await closeFrozen(client, batch.id, null, "stopped by a person");
        return {
          set: { sql: "stop_cause = $4", values: [cause] },
          facts: { recalled, deadAgain, notReleased },
        };
      },
    }),
  );
}

/**
 * A new top for the rate of each lane.
 * @throws SluiceError `forbidden` when it is higher than what stands and the caller is no administrator
 */
export async function setReplayRate(context: CommandContext, input: SetReplayRate): Promise<CommandAnswer> {
  const command = readCommand(SetReplayRate, input);
  const { batchId: targetId, reason, ticket, version, ratePerSecond } = command;
  return runCommand(
    context,
    { action: "replay.rate", targetKind: "replay_batch", targetId, reason, ticket },
    async (client) => {
      const batch = await lockReplay(client, targetId, version);
      const before = batchFacts(batch);
      if (!["approved", "canary", "canary_hold", "running", "paused"].includes(batch.state))
        throw stateConflict(`the batch is ${batch.state}`, before);
      const { rows } = await client.query<{ most: number | null }>(
        "SELECT max(rate_per_second)::float8 AS most FROM sluice.replay_lane WHERE batch_id = $1",
        [batch.id],
      );
      const stands = Math.min(batch.rate_cap ?? Infinity, rows[0]?.most ?? Infinity);
      if (ratePerSecond > stands && context.role !== "admin") {
        throw new Refusal(
          "denied",
          new SluiceError("forbidden", "only an administrator raises the rate", {
            action: "replay_raise_rate",
            roles: ["admin"],
          }),
          before,
        );
      }
      const updated = await client.query<{ version: number }>(
        "UPDATE sluice.replay_batch SET rate_cap = $3, version = version + 1 WHERE id = $1 AND version = $2 RETURNING version",
        [batch.id, batch.version, ratePerSecond],
      );
      const after = { ...before, rateCap: ratePerSecond };
      await addEvent(client, {
        id: context.newId(),
        batchId: batch.id,
        kind: "rate",
        actor: context.actor,
        detail: reason,
        facts: { before: batch.rate_cap, after: ratePerSecond },
      });
      return { tenantId: tenantOf(batch), version: updated.rows[0]?.version ?? null, before, after };
    },
  );
}

/** A turn soon. Losing it costs the reconciler's interval. */
async function scheduled(
  context: CommandContext,
  batchId: string,
  done: Promise<CommandAnswer>,
): Promise<CommandAnswer> {
  const answer = await done;
  await writeReplayJob(context.pool, fromPublicId("rpl", batchId), 0).catch(() => undefined);
  return answer;
}
