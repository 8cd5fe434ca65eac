/**
 * What a person may do with a replay batch at this moment, and in plain words why not the rest: for buttons that are
 * disabled with their reason. Pure, and small: browsers read it too. It decides nothing: every command asks again, in its
 * own transaction, and the database has the last word about the second person.
 */
import type { Action, PermitWord } from "./permissions.ts";
import type { ReplayState } from "./replay.ts";

/** The verbs of the API, in the order of a batch's life. */
export const REPLAY_VERBS = [
  "inspect",
  "annotate",
  "plan",
  "remove",
  "submit",
  "request-changes",
  "cancel",
  "approve",
  "reject",
  "break-glass",
  "start",
  "continue",
  "pause",
  "resume",
  "stop",
  "rate",
] as const;
export type ReplayVerb = (typeof REPLAY_VERBS)[number];

/** `follow-up`: a draft of what is dead again. `raise-rate`: the verb `rate` with a higher number than what stands. */
export type ReplayAction = ReplayVerb | "follow-up" | "raise-rate";

export interface ActionWord {
  readonly allowed: boolean;
  /** Stands whenever `allowed` is false. */
  readonly reason: string | null;
}
export type ReplayActions = Readonly<Record<ReplayAction, ActionWord>>;

export interface ActionFacts {
  readonly state: ReplayState;
  readonly actor: string;
  readonly requestedBy: string;
  readonly editors: readonly string[];
  /** Of the caller, for the tenants of the batch. */
  readonly permits: Readonly<Partial<Record<Action, PermitWord>>>;
  /** The breached stop conditions in words; empty: all green. */
  readonly red: string;
  /** What else stands against a start: its window, a destination that was changed. Null: nothing. */
  readonly startBlock: string | null;
  /** Of the canary's hold; 0 when it is over. */
  readonly holdLeftMs: number;
  /** Entries that failed again and are dead letters still. */
  readonly followUpItems: number;
}

/** Needed for a follow-up: it may take nothing from a batch that can still send. */
const RAN: readonly ReplayState[] = ["completed", "stopped", "failed"];
const STARTED: readonly ReplayState[] = ["canary", "canary_hold", "running"];

const RULES: Readonly<Record<ReplayAction, { readonly needs: Action; readonly in: readonly ReplayState[] }>> =
  {
    inspect: { needs: "replay_draft", in: ["draft"] },
    annotate: { needs: "replay_draft", in: ["draft"] },
    plan: { needs: "replay_draft", in: ["draft"] },
    remove: { needs: "replay_draft", in: ["draft"] },
    submit: { needs: "replay_draft", in: ["draft"] },
    "request-changes": { needs: "replay_draft", in: ["in_review"] },
    cancel: { needs: "replay_draft", in: ["draft", "in_review", "approved"] },
    approve: { needs: "replay_approve", in: ["in_review"] },
    reject: { needs: "replay_approve", in: ["in_review", "approved"] },
    "break-glass": { needs: "break_glass", in: ["in_review"] },
    start: { needs: "replay_start", in: ["approved"] },
    continue: { needs: "replay_start", in: ["canary_hold"] },
    pause: { needs: "replay_stop", in: STARTED },
    resume: { needs: "replay_start", in: ["paused"] },
    stop: { needs: "replay_stop", in: [...STARTED, "paused"] },
    rate: { needs: "replay_lower_rate", in: ["approved", ...STARTED, "paused"] },
    "raise-rate": { needs: "replay_raise_rate", in: ["approved", ...STARTED, "paused"] },
    "follow-up": { needs: "replay_draft", in: RAN },
  };

/** The actions of permissions.ts that `ActionFacts.permits` must have. */
export const PERMITS_OF_REPLAY: readonly Action[] = [
  ...new Set(Object.values(RULES).map(({ needs }) => needs)),
];

const WORDS: Readonly<Record<ReplayState, string>> = {
  draft: "a draft",
  in_review: "under review",
  approved: "approved and not started",
  canary: "sending its canary",
  canary_hold: "held after its canary",
  running: "running",
  paused: "paused",
  stopping: "stopping",
  completed: "completed",
  stopped: "stopped",
  failed: "failed",
  rejected: "rejected",
  expired: "expired",
  cancelled: "cancelled",
};

/** Every action with a word: allowed, or why not. */
export function replayActions(facts: ActionFacts): ReplayActions {
  const words = Object.keys(RULES).map((name) => {
    const reason = whyNot(name as ReplayAction, facts);
    return [name, { allowed: reason === null, reason }] as const;
  });
  return Object.fromEntries(words) as unknown as ReplayActions;
}

/** Whether the caller may be the second person of a batch that waits for one. */
export function mayReview(
  facts: Pick<ActionFacts, "state" | "actor" | "requestedBy" | "editors"> & {
    readonly permit: PermitWord | undefined;
  },
): boolean {
  return facts.state === "in_review" && facts.permit?.allowed === true && !isAuthor(facts);
}

function isAuthor({
  actor,
  requestedBy,
  editors,
}: Pick<ActionFacts, "actor" | "requestedBy" | "editors">): boolean {
  return actor === requestedBy || editors.includes(actor);
}

function whyNot(name: ReplayAction, facts: ActionFacts): string | null {
  const rule = RULES[name];
  const permit = facts.permits[rule.needs];
  if (permit?.allowed !== true) return permit?.reason ?? "Your role does not allow it here.";
  if (!rule.in.includes(facts.state)) return `The batch is ${WORDS[facts.state]}.`;
  if (name === "approve" && isAuthor(facts)) {
    return "You wrote or changed this batch. Somebody else has to approve it.";
  }
  if (rule.needs === "replay_start") return whyNotSend(name, facts, permit);
  if (name === "follow-up" && facts.followUpItems === 0) return "No entry of it is dead again.";
  return null;
}

function whyNotSend(name: ReplayAction, facts: ActionFacts, permit: PermitWord): string | null {
  if (permit.only === "own_approved" && facts.actor !== facts.requestedBy) {
    return "Support starts and resumes only batches of their own.";
  }
  if (name === "continue" && facts.holdLeftMs > 0) {
    return `The canary is held for ${Math.ceil(facts.holdLeftMs / 1_000)} s more.`;
  }
  if (name === "start" && facts.startBlock !== null) return facts.startBlock;
  return facts.red === "" ? null : `A stop condition is red: ${facts.red}.`;
}
