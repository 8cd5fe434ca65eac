/**
 * The words of a delivery and its state machine: which states, lanes, classes and reasons exist, and every step
 * from one state to another with its cause. The database repeats this table in constraints and triggers; a test
 * walks all pairs through both. Nothing here decides when a step is taken.
 */

/** Live: ready, leased, delayed. Terminal: delivered, dead, cancelled. */
export const STATES = ["ready", "leased", "delayed", "delivered", "dead", "cancelled"] as const;
export type DeliveryState = (typeof STATES)[number];

/** States of rows in the small hot table; a row leaves it when it reaches another state. */
export const LIVE_STATES = ["ready", "leased", "delayed"] as const;
export type LiveState = (typeof LIVE_STATES)[number];

export const TERMINAL_STATES = ["delivered", "dead", "cancelled"] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

/** Work of a (tenant, destination): never tried, tried before, or released from a replay batch. */
export const LANES = ["first", "retry", "replay"] as const;
export type Lane = (typeof LANES)[number];

/** In the order in which they are served. */
export const SERVICE_CLASSES = ["urgent", "routine"] as const;
export type ServiceClass = (typeof SERVICE_CLASSES)[number];

export const DEAD_REASONS = [
  "rejected",
  "redirect",
  "gone",
  "attempts_exhausted",
  "expired",
  "bad_destination",
  "blocked_address",
  "payload_erased",
  "worker_lost",
  "config_error",
] as const;
export type DeadReason = (typeof DEAD_REASONS)[number];

export const DEAD_CLASSES = ["receiver", "exhausted", "poison", "system"] as const;
export type DeadClass = (typeof DEAD_CLASSES)[number];

/** Which class a reason belongs to. Only `system` pages a person. */
export const DEAD_CLASS: Readonly<Record<DeadReason, DeadClass>> = {
  rejected: "receiver",
  redirect: "receiver",
  gone: "receiver",
  attempts_exhausted: "exhausted",
  expired: "exhausted",
  bad_destination: "poison",
  payload_erased: "poison",
  config_error: "poison",
  worker_lost: "system",
  blocked_address: "system",
};

/** Why a row is `delayed`. */
export const DELAY_REASONS = [
  "rate_limited",
  "server_error",
  "transient_status",
  "rejected",
  "timeout",
  "network",
  "shutdown",
  "lease_expired",
  "replay",
] as const;
export type DelayReason = (typeof DELAY_REASONS)[number];

export const CANCEL_REASONS = ["destination_deleted", "staff_cancel"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

/** After this many lost leases in a row a delivery ends as dead, reason `worker_lost`. */
export const MAX_LOST_LEASES = 3;

export const TRANSITION_CAUSES = [
  "claimed",
  "delivered",
  "retry_later",
  "gave_up",
  "lease_expired",
  "lost_leases",
  "released",
  "replay_released",
  "replay_recalled",
  "destination_deleted",
  "staff_cancel",
] as const;
export type TransitionCause = (typeof TRANSITION_CAUSES)[number];

export interface Transition {
  readonly from: DeliveryState;
  readonly to: DeliveryState;
  readonly cause: TransitionCause;
}

/**
 * Every allowed step. A change that leaves the state as it is (a due time moved by "retry now") is no step.
 * A new delivery starts as `ready` and nowhere else.
 */
export const TRANSITIONS: readonly Transition[] = [
  { from: "ready", to: "leased", cause: "claimed" },
  { from: "delayed", to: "leased", cause: "claimed" },
  { from: "leased", to: "delivered", cause: "delivered" },
  { from: "leased", to: "delayed", cause: "retry_later" },
  { from: "leased", to: "dead", cause: "gave_up" },
  { from: "leased", to: "delayed", cause: "lease_expired" },
  { from: "leased", to: "dead", cause: "lost_leases" },
  { from: "leased", to: "ready", cause: "released" },
  { from: "leased", to: "delayed", cause: "released" },
  { from: "dead", to: "delayed", cause: "replay_released" },
  { from: "delayed", to: "dead", cause: "replay_recalled" },
  { from: "ready", to: "cancelled", cause: "destination_deleted" },
  { from: "delayed", to: "cancelled", cause: "destination_deleted" },
  { from: "ready", to: "cancelled", cause: "staff_cancel" },
  { from: "delayed", to: "cancelled", cause: "staff_cancel" },
];

/** True when the table has a step from `from` to `to`, for whatever cause, or for the given one. */
export function canTransition(from: DeliveryState, to: DeliveryState, cause?: TransitionCause): boolean {
  return TRANSITIONS.some(
    (step) => step.from === from && step.to === to && (cause === undefined || step.cause === cause),
  );
}

export function isLiveState(state: DeliveryState): state is LiveState {
  return (LIVE_STATES as readonly DeliveryState[]).includes(state);
}

export function isTerminalState(state: DeliveryState): state is TerminalState {
  return !isLiveState(state);
}

export interface LaneFacts {
  /** Attempts of this delivery whose outcome is stored. Lost leases are not among them. */
  readonly attemptsWithOutcome: number;
  /** True from the release out of a replay batch until the delivery ends. */
  readonly replay: boolean;
}

/**
 * The lane that a row must carry. The row stores it (`lane`), so that the claim's index can use it; a row whose
 * lease was lost before any outcome stays in `first`, whatever its attempt number says.
 */
export function laneOf(facts: LaneFacts): Lane {
  if (facts.replay) {
    return "replay";
  }
  return facts.attemptsWithOutcome > 0 ? "retry" : "first";
}

/** The lane after an attempt with an outcome that is to be tried again. */
export function laneAfterAttempt(lane: Lane): Lane {
  return lane === "replay" ? "replay" : "retry";
}
