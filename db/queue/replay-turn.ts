/**
 * One turn of a replay batch: a short transaction under the batch's lock that looks at the stop conditions, moves what the
 * rate allows, and says when the next turn is. It holds nothing between turns and remembers nothing: a turn that dies leaves
 * all of its changes or none. It must never release while a condition is red or unknown, never send, and never resume.
 */
import type { ClientBase, Pool } from "pg";
import { toPublicId } from "#domain/ids.ts";
import { takeTokens } from "#domain/rate.ts";
import {
  openCount,
  type ReplayState,
  rampShare,
  releasedCount,
  SENDING_STATES,
  TURNING_STATES,
  totalCount,
} from "#domain/replay.ts";
import type { ReplayPolicy } from "#domain/replay-plan.ts";
import { breachesOf, type ConditionState, checkStop, equalFailures } from "#domain/replay-stop.ts";
import { laneDetail, lastPauseCause, pauseCause } from "#domain/replay-words.ts";
import { resolveGroups } from "./replay-groups.ts";
import { inTransaction, writeReplayJob } from "./replay-jobs.ts";
import { type ReplayLaneRow, readLanes, readReadings } from "./replay-readings.ts";
import { closeFrozen, recallItems, releaseItems } from "./replay-release.ts";
import {
  addEvent,
  auditStep,
  isBatch,
  lockBatch,
  type ReplayBatchRow,
  readCounts,
  readPolicy,
  type StepSet,
  stepBatch,
} from "./replay-rows.ts";

/** Between two turns, at most and at least. */
const TURN_MS = 500;
/** A batch that another transaction holds is looked at again after this. */
const BUSY_MS = 1_000;
/** What a lane may catch up on in one turn; graphile-worker may be this late. */
const CATCH_UP_S = 3;
/** Errors of turns in a row after which the runner gives up. */
const MAX_TURN_ERRORS = 5;

export interface TurnContext {
  /** `worker:...`; stands in events and in the audit. */
  readonly actor: string;
  readonly newId: () => string;
  /** False in tests of the rows alone, where there is no graphile-worker. */
  readonly schedule: boolean;
}

export interface TurnResult {
  readonly state: ReplayState | null;
  readonly released: number;
  readonly skipped: number;
  readonly recalled: number;
  /** Until the next turn; null when none is needed. */
  readonly nextMs: number | null;
}

const NOTHING = { released: 0, skipped: 0, recalled: 0 };

/** What a turn works with. `state` and `version` follow its steps. */
interface Turn {
  readonly client: ClientBase;
  readonly context: TurnContext;
  readonly policy: ReplayPolicy;
  batch: ReplayBatchRow;
}

/** Makes one turn, and writes the next job in the same transaction. Errors are counted, and the fifth in a row ends it. */
export async function turnReplay(pool: Pool, batchId: string, context: TurnContext): Promise<TurnResult> {
  try {
    return await inTransaction(pool, async (client) => {
      const result = await perform(client, batchId, context);
      if (context.schedule && result.nextMs !== null) await writeReplayJob(client, batchId, result.nextMs);
      return result;
    });
  } catch (error) {
    await noteError(pool, batchId, context, String(error)).catch(() => undefined);
    throw error;
  }
}

async function perform(client: ClientBase, batchId: string, context: TurnContext): Promise<TurnResult> {
  const batch = await lockBatch(client, batchId, "skip");
  if (batch === null)
    return { ...NOTHING, state: null, nextMs: (await isBatch(client, batchId)) ? BUSY_MS : null };
  const { policy } = await readPolicy(client);
  const turn: Turn = { client, context, policy, batch };
  if (batch.state === "paused") return settlePause(turn);
  if (batch.state === "stopping") return settleStop(turn);
  if (!TURNING_STATES.includes(batch.state)) return { ...NOTHING, state: batch.state, nextMs: null };
  const readings = await readReadings(client, batch, policy);
  await client.query(
    "UPDATE sluice.replay_batch SET last_turn_at = clock_timestamp(), turn_errors = 0 WHERE id = $1",
    [batch.id],
  );
  // Lanes first: an attempt of a lane that stops now leaves the window of the batch.
  const { recalled, changed } = await judgeLanes(turn);
  const fresh = changed ? await readReadings(client, batch, policy) : readings;
  const states = checkStop(fresh, batch.plan.stop, policy);
  if (breachesOf(states).length > 0) return pauseItself(turn, states, recalled);
  await advance(turn);
  const moved = SENDING_STATES.includes(turn.batch.state) ? await release(turn) : NOTHING;
  await advance(turn);
  return { ...moved, recalled, state: turn.batch.state, nextMs: nextOf(turn.batch.state) };
}

function nextOf(state: ReplayState): number | null {
  return TURNING_STATES.includes(state) ? TURN_MS : null;
}

/** What came back unsent after the pause is taken back too; nothing else happens. */
async function settlePause({ client, batch }: Turn): Promise<TurnResult> {
  const { recalled } = await recallItems(client, batch.id, null, "frozen");
  const { released } = await readCounts(client, batch.id);
  return { ...NOTHING, recalled, state: batch.state, nextMs: released > 0 ? BUSY_MS : null };
}

async function settleStop(turn: Turn): Promise<TurnResult> {
  const { client, batch } = turn;
  const { recalled } = await recallItems(client, batch.id, null, "recalled");
  await closeFrozen(client, batch.id, null, batch.stop_cause ?? "stopped");
  const { released } = await readCounts(client, batch.id);
  if (released > 0) return { ...NOTHING, recalled, state: batch.state, nextMs: TURN_MS };
  // Some of its causes may be over although the batch was stopped for another one.
  await resolveGroups(client, batch.id, turn.context.actor);
  await step(turn, "stopped", "done", batch.stop_cause ?? "stopped", { sql: "ended_at = clock_timestamp()" });
  return { ...NOTHING, recalled, state: turn.batch.state, nextMs: null };
}

/** Stops lanes for good, holds them for a while, and lets them go again. */
async function judgeLanes(turn: Turn): Promise<{ recalled: number; changed: boolean }> {
  const { client, batch } = turn;
  const most = batch.plan.stop.equalFailures;
  let recalled = 0;
  let changed = false;
  for (const lane of await readLanes(client, batch.id, most)) {
    if (lane.stopped) {
      // A row that was in flight then and came back unsent must not be claimed again: the batch still runs.
      if (lane.out > 0)
        recalled += (await recallItems(client, batch.id, lane.destination_id, "recalled")).recalled;
      continue;
    }
    const equal = equalFailures(lane.attempts, most);
    const condition = lane.trouble ?? (equal === null ? null : "equal_failures");
    if (condition !== null) {
      recalled += await stopLane(turn, lane, condition, equal ?? condition.replaceAll("_", " "));
      changed = true;
    } else if (lane.hold !== null) {
      recalled += (await recallItems(client, batch.id, lane.destination_id, "frozen")).recalled;
    }
    if (condition === null && lane.hold !== lane.held_why) await noteHold(turn, lane);
  }
  return { recalled, changed };
}

async function stopLane(turn: Turn, lane: ReplayLaneRow, condition: string, text: string): Promise<number> {
  const { client, batch, context } = turn;
  const { recalled } = await recallItems(client, batch.id, lane.destination_id, "recalled");
  const left = await closeFrozen(client, batch.id, lane.destination_id, `lane stopped: ${text}`);
  await client.query(
    `UPDATE sluice.replay_lane SET stopped_at = clock_timestamp(), stop_condition = $3, stop_text = left($4, 300), held_why = NULL
      WHERE batch_id = $1 AND destination_id = $2`,
    [batch.id, lane.destination_id, condition, text],
  );
  const destination = toPublicId("dst", lane.destination_id);
  await addEvent(client, {
    id: context.newId(),
    batchId: batch.id,
    kind: "lane_stopped",
    actor: context.actor,
    detail: laneDetail(destination, text),
    facts: { destination, condition, text, recalled, left },
  });
  return recalled;
}

async function noteHold({ client, batch, context }: Turn, lane: ReplayLaneRow): Promise<void> {
  await client.query(
    "UPDATE sluice.replay_lane SET held_why = $3 WHERE batch_id = $1 AND destination_id = $2",
    [batch.id, lane.destination_id, lane.hold],
  );
  const destination = toPublicId("dst", lane.destination_id);
  await addEvent(client, {
    id: context.newId(),
    batchId: batch.id,
    kind: lane.hold === null ? "lane_goes_on" : "lane_held",
    actor: context.actor,
    detail: laneDetail(destination, lane.hold === null ? "" : `held: ${lane.hold.replaceAll("_", " ")}`),
    facts: { destination, hold: lane.hold },
  });
}

/** The batch pauses by itself, or ends when it has done so too often. What was not sent comes back at once. */
async function pauseItself(
  turn: Turn,
  states: readonly ConditionState[],
  before: number,
): Promise<TurnResult> {
  const { client, batch, policy } = turn;
  const counts = await readCounts(client, batch.id);
  const pauses = batch.auto_pauses + 1;
  const ends = pauses >= policy.maxAutoPauses;
  const { recalled } = await recallItems(client, batch.id, null, ends ? "recalled" : "frozen");
  const cause = pauseCause(states, batch.now_ms, counts);
  const facts = {
    conditions: breachesOf(states),
    pauses,
    released: releasedCount(counts),
    total: totalCount(counts),
  };
  if (ends) {
    const text = lastPauseCause(pauses, cause);
    await step(
      turn,
      "stopping",
      "stop",
      text,
      { sql: "auto_pauses = $4, stop_cause = $5", values: [pauses, text] },
      facts,
    );
  } else {
    const set = {
      sql: "auto_pauses = $4, pause_cause = $5, paused_from = $6, paused_auto = true",
      values: [pauses, cause, batch.state],
    };
    await step(turn, "paused", "auto_pause", cause, set, facts);
  }
  return { ...NOTHING, recalled: before + recalled, state: turn.batch.state, nextMs: TURN_MS };
}

/** Steps that need no person: the end of the canary, of an automatic hold, and of the batch. */
async function advance(turn: Turn): Promise<void> {
  const { batch, policy } = turn;
  if (batch.state === "canary") await endCanary(turn);
  else if (batch.state === "canary_hold") {
    const held = batch.now_ms - (batch.held_ms ?? batch.now_ms);
    if (policy.canaryAuto && held >= policy.canaryHoldMs) {
      await step(turn, "running", "continue", "the hold passed without a stop condition", RUN);
    }
  } else if (batch.state === "running") await endRun(turn);
}

/** The columns that a run begins with. */
export const RUN: StepSet = { sql: "ramp_since = clock_timestamp()" };

async function endCanary(turn: Turn): Promise<void> {
  const { client, batch, policy } = turn;
  const lanes = await readLanes(client, batch.id, 0);
  const going = lanes.filter(({ stopped }) => !stopped);
  if (going.some(({ canary_open }) => canary_open > 0)) return;
  let left = going.length;
  for (const lane of going) {
    if (lane.canary_items === 0 || lane.canary_delivered >= policy.canaryShare * lane.canary_items) continue;
    await stopLane(
      turn,
      lane,
      "canary_failed",
      `canary: ${lane.canary_delivered} of ${lane.canary_items} delivered`,
    );
    left -= 1;
  }
  if (left === 0) await stopWithoutLanes(turn);
  else
    await step(turn, "canary_hold", "canary_done", "the canary has ended", {
      sql: "held_since = clock_timestamp()",
    });
}

async function endRun(turn: Turn): Promise<void> {
  const { client, batch } = turn;
  if (openCount(await readCounts(client, batch.id)) > 0) return;
  const lanes = await readLanes(client, batch.id, 0);
  if (lanes.length > 0 && lanes.every(({ stopped }) => stopped)) return stopWithoutLanes(turn);
  await resolveGroups(client, batch.id, turn.context.actor);
  await step(turn, "completed", "done", "no item is open", { sql: "ended_at = clock_timestamp()" });
}

async function stopWithoutLanes(turn: Turn): Promise<void> {
  const text = "every lane has stopped";
  await step(turn, "stopping", "stop", text, { sql: "stop_cause = $4", values: [text] });
}

/** Oldest first, one destination after the other, each at its own rate and never more out than its concurrency. */
async function release(turn: Turn): Promise<{ released: number; skipped: number }> {
  const { client, batch, policy } = turn;
  const part =
    batch.state === "running"
      ? rampShare(batch.now_ms - (batch.ramp_ms ?? batch.now_ms), policy.rampHoldMs)
      : 1;
  let released = 0;
  let skipped = 0;
  for (const lane of await readLanes(client, batch.id, 0)) {
    const room = batch.plan.concurrency - lane.out;
    if (lane.stopped || lane.hold !== null || lane.gated || lane.frozen === 0 || room <= 0) continue;
    const ratePerSecond = Math.min(lane.rate_per_second, batch.rate_cap ?? Infinity) * part;
    const limit = { ratePerSecond, burst: Math.max(1, Math.ceil(ratePerSecond * CATCH_UP_S)) };
    // A lane that never released begins with one token, not with a burst.
    const tat = lane.rate_tat_ms ?? batch.now_ms + ((limit.burst - 1) * 1_000) / ratePerSecond;
    const { taken } = takeTokens(tat, limit, batch.now_ms, room, 0);
    if (taken === 0) continue;
    const moved = await releaseItems(client, batch.id, lane.destination_id, taken, batch.state === "canary");
    released += moved.released;
    skipped += moved.skipped;
    // Only what went out costs the rate.
    const { tatMs } = takeTokens(tat, limit, batch.now_ms, moved.released, 0);
    await client.query(
      "UPDATE sluice.replay_lane SET rate_tat = to_timestamp($3::float8 / 1000) WHERE batch_id = $1 AND destination_id = $2",
      [batch.id, lane.destination_id, tatMs],
    );
  }
  return { released, skipped };
}

/** A step with its event and its audit row. */
async function step(
  turn: Turn,
  to: ReplayState,
  kind: string,
  reason: string,
  set?: StepSet,
  facts?: Record<string, unknown>,
): Promise<void> {
  const { client, batch, context } = turn;
  const version = await stepBatch(client, batch, to, set);
  await addEvent(client, {
    id: context.newId(),
    batchId: batch.id,
    kind,
    actor: context.actor,
    from: batch.state,
    to,
    detail: reason,
    facts: facts ?? {},
  });
  await auditStep(client, {
    id: context.newId(),
    actor: context.actor,
    batch,
    publicId: toPublicId("rpl", batch.id),
    to,
    reason,
  });
  turn.batch = { ...batch, state: to, version };
}

/** Counts a turn that failed. The runner gives up after some in a row: the batch ends, and nothing more is released. */
async function noteError(pool: Pool, batchId: string, context: TurnContext, error: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const batch = await lockBatch(client, batchId, "skip");
    if (batch === null || !TURNING_STATES.includes(batch.state)) return;
    const errors = batch.turn_errors + 1;
    await client.query("UPDATE sluice.replay_batch SET turn_errors = $2 WHERE id = $1", [batch.id, errors]);
    if (errors < MAX_TURN_ERRORS) return;
    const { policy } = await readPolicy(client);
    const turn: Turn = { client, context, policy, batch };
    const text = `${errors} turns in a row failed: ${error}`.slice(0, 500);
    await recallItems(client, batch.id, null, "recalled");
    await closeFrozen(client, batch.id, null, "the runner gave up");
    const set = { sql: "stop_cause = $4, ended_at = clock_timestamp()", values: [text] };
    if (batch.state === "running" || batch.state === "stopping")
      await step(turn, "failed", "gave_up", text, set);
    else await step(turn, "stopping", "stop", text, { sql: "stop_cause = $4", values: [text] });
  });
}
