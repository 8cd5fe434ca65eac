/**
 * The words of a replay batch and its state machine: every state, every step, and what each item of a batch can become.
 * Pure. The database repeats the table of steps in a trigger; a test walks all pairs through both. Nothing here decides
 * when a step is taken (domain/replay-stop.ts does), and no step may lead past the second person.
 */

export const REPLAY_STATES = [
  "draft",
  "in_review",
  "approved",
  "canary",
  "canary_hold",
  "running",
  "paused",
  "stopping",
  "completed",
  "stopped",
  "failed",
  "rejected",
  "expired",
  "cancelled",
] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** Why a step is taken. `auto` and `manual` pauses are one step: the cause is stored beside the state. */
export const REPLAY_STEP_CAUSES = [
  "submit",
  "request_changes",
  "approve",
  "reject",
  "expire",
  "cancel",
  "start",
  "canary_done",
  "continue",
  "pause",
  "resume",
  "stop",
  "done",
  "gave_up",
] as const;
export type ReplayStepCause = (typeof REPLAY_STEP_CAUSES)[number];

export interface ReplayStep {
  readonly from: ReplayState;
  readonly to: ReplayState;
  readonly cause: ReplayStepCause;
}

/** Every allowed step. A paused batch returns only to the state that it left, which `canStep` asks for. */
export const REPLAY_STEPS: readonly ReplayStep[] = [
  { from: "draft", to: "in_review", cause: "submit" },
  { from: "draft", to: "cancelled", cause: "cancel" },
  { from: "in_review", to: "draft", cause: "request_changes" },
  { from: "in_review", to: "approved", cause: "approve" },
  { from: "in_review", to: "rejected", cause: "reject" },
  { from: "in_review", to: "expired", cause: "expire" },
  { from: "in_review", to: "cancelled", cause: "cancel" },
  { from: "approved", to: "canary", cause: "start" },
  { from: "approved", to: "rejected", cause: "reject" },
  { from: "approved", to: "expired", cause: "expire" },
  { from: "approved", to: "cancelled", cause: "cancel" },
  { from: "canary", to: "canary_hold", cause: "canary_done" },
  { from: "canary", to: "paused", cause: "pause" },
  { from: "canary", to: "stopping", cause: "stop" },
  { from: "canary_hold", to: "running", cause: "continue" },
  { from: "canary_hold", to: "paused", cause: "pause" },
  { from: "canary_hold", to: "stopping", cause: "stop" },
  { from: "running", to: "paused", cause: "pause" },
  { from: "running", to: "stopping", cause: "stop" },
  { from: "running", to: "completed", cause: "done" },
  { from: "running", to: "failed", cause: "gave_up" },
  { from: "paused", to: "canary", cause: "resume" },
  { from: "paused", to: "canary_hold", cause: "resume" },
  { from: "paused", to: "running", cause: "resume" },
  { from: "paused", to: "stopping", cause: "stop" },
  { from: "stopping", to: "stopped", cause: "done" },
  { from: "stopping", to: "failed", cause: "gave_up" },
];

/**
 * True when the table has the step.
 * @param pausedFrom the state that a paused batch left; a step out of `paused` back into the run leads nowhere else
 */
export function canStep(from: ReplayState, to: ReplayState, pausedFrom: ReplayState | null = null): boolean {
  const step = REPLAY_STEPS.find((known) => known.from === from && known.to === to);
  if (step === undefined) return false;
  return step.cause !== "resume" || pausedFrom === to;
}

/** States in which the claim takes rows of the batch. */
export const SENDING_STATES: readonly ReplayState[] = ["canary", "running"];
/** States in which the runner makes turns. A paused batch gets turns only while something of it is still out. */
export const TURNING_STATES: readonly ReplayState[] = ["canary", "canary_hold", "running", "stopping"];
export const ENDED_STATES: readonly ReplayState[] = [
  "completed",
  "stopped",
  "failed",
  "rejected",
  "expired",
  "cancelled",
];

export function isEnded(state: ReplayState): boolean {
  return ENDED_STATES.includes(state);
}

/**
 * selected: in a draft. frozen: in a batch under review or later, still a dead letter. released: a delivery again.
 * recalled: was released, never sent, is the same dead letter as before. not_released: the batch or its lane ended first.
 */
export const REPLAY_ITEM_STATES = [
  "selected",
  "frozen",
  "released",
  "delivered",
  "dead_again",
  "recalled",
  "skipped",
  "not_released",
] as const;
export type ReplayItemState = (typeof REPLAY_ITEM_STATES)[number];

/** A delivery is in at most one batch in which its item is open. */
export const OPEN_ITEM_STATES: readonly ReplayItemState[] = ["frozen", "released"];

export type ReplayCounts = Readonly<Record<ReplayItemState, number>>;

/** All states, those that no item is in as 0. */
export function countsOf(
  rows: readonly { readonly state: ReplayItemState; readonly n: number }[],
): ReplayCounts {
  const counts = Object.fromEntries(REPLAY_ITEM_STATES.map((state) => [state, 0])) as Record<
    ReplayItemState,
    number
  >;
  for (const { state, n } of rows) counts[state] += n;
  return counts;
}

export function openCount(counts: ReplayCounts): number {
  return counts.frozen + counts.released;
}

/** Left the dead letters and did not come back unsent. */
export function releasedCount(counts: ReplayCounts): number {
  return counts.released + counts.delivered + counts.dead_again;
}

export function totalCount(counts: ReplayCounts): number {
  return REPLAY_ITEM_STATES.reduce((sum, state) => sum + counts[state], 0);
}

/** Most entries of a batch, and how many are taken when nobody says. */
export const MAX_REPLAY_ITEMS = 5_000;
export const DEFAULT_REPLAY_ITEMS = 500;

/** Why an entry of the selection is not in the batch. */
export const EXCLUSIONS = [
  "will_not_replay",
  "in_another_batch",
  "payload_gone",
  "destination_deleted",
  "destination_disabled",
  "tenant_paused",
  "destination_paused",
  "not_dead",
] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

const CANARY_SHARE = 0.05;
const CANARY_MIN_ITEMS = 5;
const CANARY_MAX_ITEMS = 25;

/** Items that go first: 5 %, at least 5 and at most 25; all of a batch that has no more. */
export function canarySize(items: number): number {
  return Math.min(items, CANARY_MAX_ITEMS, Math.max(CANARY_MIN_ITEMS, Math.ceil(items * CANARY_SHARE)));
}

const RAMP_SHARES = [0.25, 0.5, 1] as const;

/** Part of the rate that a batch may use so long after it began to run or was resumed. */
export function rampShare(sinceMs: number, holdMs: number): number {
  const step = holdMs > 0 ? Math.floor(Math.max(0, sinceMs) / holdMs) : RAMP_SHARES.length - 1;
  return RAMP_SHARES[Math.min(step, RAMP_SHARES.length - 1)] ?? 1;
}

/** What a person reads on the progress bar. */
export function progressText(counts: ReplayCounts): string {
  return `${counts.delivered} of ${totalCount(counts)} delivered`;
}
