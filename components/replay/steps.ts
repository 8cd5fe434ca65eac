/**
 * How far a batch is, or came, on its way. Pure. A step that was never reached is never shown as done: a batch that was
 * rejected had no canary.
 */
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { isEnded, type ReplayState } from "#domain/replay.ts";

export const STEPS = ["Draft", "Review", "Approved", "Canary", "Hold", "Running", "Ended"] as const;
export type StepMark = "done" | "now" | "ahead" | "never";

const AT: Readonly<Partial<Record<ReplayState, number>>> = {
  draft: 0,
  in_review: 1,
  approved: 2,
  canary: 3,
  canary_hold: 4,
  running: 5,
};
const LAST = STEPS.length - 1;

export type StepFacts = Pick<
  ReplayDetail,
  "state" | "pausedFrom" | "submittedAt" | "approvedAt" | "breakGlassAt" | "startedAt"
> & { events: readonly Pick<ReplayDetail["events"][number], "from" | "to">[] };

/** A mark for each of STEPS. A paused batch stands at the step that it left. */
export function stepMarks(facts: StepFacts): StepMark[] {
  const ended = isEnded(facts.state);
  const reached = reachedStep(facts);
  return STEPS.map((_, index) => {
    if (ended) return index === LAST ? "now" : index <= reached ? "done" : "never";
    return index < reached ? "done" : index === reached ? "now" : "ahead";
  });
}

function reachedStep(facts: StepFacts): number {
  const { state, pausedFrom, events } = facts;
  if (state === "completed") return LAST - 1;
  const at = AT[state === "paused" ? (pausedFrom ?? "running") : state];
  if (at !== undefined) return at;
  const seen = events.flatMap(({ from, to }) => [AT[from ?? "draft"] ?? 0, AT[to ?? "draft"] ?? 0]);
  return Math.max(datedStep(facts), ...seen);
}

/** What the times alone tell: the list of events has an end. */
function datedStep({ submittedAt, approvedAt, breakGlassAt, startedAt }: StepFacts): number {
  if (startedAt !== null) return 3;
  if (approvedAt !== null || breakGlassAt !== null) return 2;
  return submittedAt === null ? 0 : 1;
}
