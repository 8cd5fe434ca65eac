/**
 * The buttons of a batch after its draft: which stand in which state, and what their dialogs say. Pure. Whether one may be
 * pressed is the API's word (`ReplayDetail.actions`), never decided here.
 */
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { ReplayState } from "#domain/replay.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";

export type BatchVerb = Exclude<ReplayVerb, "inspect" | "annotate" | "plan" | "remove" | "submit">;

export interface VerbWords {
  /** On the button; the dialog's primary button repeats it. */
  label: string;
  /** What exactly happens, and what does not. */
  effect: string;
  /** What the corner says afterwards. */
  done: string;
  /** Whether a text must be typed, and what it is called. */
  text: { label: string; required: boolean };
  danger?: boolean;
}

const REASON = { label: "Reason", required: true };
const COMMENT = { label: "Comment", required: true };
/** Whoever stops something in a hurry types nothing. */
const OPTIONAL = { label: "Reason", required: false };

export const VERB_WORDS: Readonly<Record<BatchVerb, VerbWords>> = {
  approve: {
    label: "Approve",
    effect:
      "Says that exactly this frozen set may be sent, by this plan. Nothing is sent yet: somebody starts it.",
    done: "Approved.",
    text: COMMENT,
  },
  "request-changes": {
    label: "Request changes",
    effect: "Sends it back to its author as a draft. What they change has to be reviewed again.",
    done: "Sent back.",
    text: COMMENT,
  },
  reject: {
    label: "Reject",
    effect: "Ends the batch. Its entries stay dead letters.",
    done: "Rejected.",
    text: COMMENT,
    danger: true,
  },
  cancel: {
    label: "Cancel batch",
    effect: "Ends the batch. Its entries stay dead letters, and can be in another batch.",
    done: "Cancelled.",
    text: REASON,
    danger: true,
  },
  "break-glass": {
    label: "Break glass",
    effect:
      "Goes without the second person. Everybody sees it on every page for 24 hours, and the notification hook reports it.",
    done: "The glass is broken: it can be started.",
    text: REASON,
    danger: true,
  },
  start: {
    label: "Start canary",
    effect:
      "Checks the frozen set, its destinations and every stop condition again, and sends the canary. Then it holds.",
    done: "Started.",
    text: REASON,
  },
  continue: {
    label: "Continue",
    effect: "The canary was clean: the rest goes out at a quarter, then half, then all of its rate.",
    done: "Goes on.",
    text: REASON,
  },
  pause: {
    label: "Pause",
    effect:
      "Releases nothing more, and takes back what is released and not sent. What is in flight ends by itself.",
    done: "Paused.",
    text: OPTIONAL,
  },
  resume: {
    label: "Resume",
    effect:
      "Goes on where it was, at a quarter of its rate first. Attempts before now are not counted again.",
    done: "Resumed.",
    text: REASON,
  },
  stop: {
    label: "Stop batch",
    effect:
      "Ends the batch: nothing more is released, and what is released and not sent becomes the dead letter that it was. What is in flight ends by itself.",
    done: "Stopping.",
    text: OPTIONAL,
    danger: true,
  },
  rate: {
    label: "Change rate",
    effect:
      "A new top for the rate of every destination. Lower counts at once; raising it needs an administrator.",
    done: "The rate is changed.",
    text: REASON,
  },
};

/** The sentence that the audit gets when nothing was typed. */
export function defaultReason(verb: BatchVerb): string {
  return verb === "stop"
    ? "Stopped by hand on the page of the batch"
    : "Paused by hand on the page of the batch";
}

const STARTED: readonly BatchVerb[] = ["pause", "stop", "rate"];
const VERBS: Readonly<Record<ReplayState, readonly BatchVerb[]>> = {
  draft: [],
  in_review: ["approve", "request-changes", "reject", "cancel", "break-glass"],
  approved: ["start", "rate", "reject", "cancel"],
  canary: STARTED,
  canary_hold: ["continue", ...STARTED],
  running: STARTED,
  paused: ["resume", "stop", "rate"],
  stopping: [],
  completed: [],
  stopped: [],
  failed: [],
  rejected: [],
  expired: [],
  cancelled: [],
};

/** The buttons of a state, the one that leads on first. */
export function verbsOf(state: ReplayState): readonly BatchVerb[] {
  return VERBS[state];
}

/** Verbs that lead on: drawn as the primary button. */
export const LEADING: readonly BatchVerb[] = ["approve", "start", "continue", "resume"];

type Rates = Pick<ReplayDetail, "rateCap" | "actions"> & {
  lanes: readonly Pick<ReplayDetail["lanes"][number], "ratePerSecond">[];
};

/** Releases per second that no destination of the batch goes beyond now; null while it has no lane. */
export function standingRate({ rateCap, lanes }: Pick<Rates, "rateCap" | "lanes">): number | null {
  if (lanes.length === 0) return rateCap;
  const most = Math.max(...lanes.map(({ ratePerSecond }) => ratePerSecond));
  return Math.min(rateCap ?? most, most);
}

/** Why the caller cannot set this rate, or null. Lower always goes; more is a matter of the role. */
export function refuseRaise(perSecond: number, view: Rates): string | null {
  const stands = standingRate(view);
  const { allowed, reason } = view.actions["raise-rate"];
  if (allowed || stands === null || perSecond <= stands) return null;
  return `At most ${stands}. ${reason ?? ""}`.trim();
}

/** Buttons that are shut, with their reason once for all that share it. */
export function sharedReasons(
  refused: readonly { label: string; reason: string }[],
): { reason: string; labels: string[] }[] {
  const groups = new Map<string, string[]>();
  for (const { label, reason } of refused) groups.set(reason, [...(groups.get(reason) ?? []), label]);
  return [...groups].map(([reason, labels]) => ({ reason, labels }));
}
