/**
 * What the form of a plan holds, what is wrong with it, and what of it is sent. Pure. A threshold whose text nobody touched
 * goes back as it was stored, so that showing it rounded never makes it looser.
 */
import {
  MAX_BUDGET,
  MAX_CONCURRENCY,
  MAX_RATE,
  MIN_RATE,
  refuseNumber,
} from "#components/replays/replay-bounds.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import type { ReplayPlan, ThresholdName } from "#domain/replay-plan.ts";
import { refuseThreshold, THRESHOLD_WORDS, thresholdText, thresholdValue } from "./draft-words.ts";

export const THRESHOLD_NAMES = Object.keys(THRESHOLD_WORDS) as ThresholdName[];
export const RATE = { min: MIN_RATE, max: MAX_RATE, whole: false };
export const CONCURRENCY = { min: 1, max: MAX_CONCURRENCY, whole: true };
export const BUDGET = { min: 1, max: MAX_BUDGET, whole: true };

export interface PlanDraft {
  /** Empty: each destination's own default. */
  rate: string;
  concurrency: string;
  budget: string;
  /** UTC; empty: no bound. */
  startsAfter: string;
  endsBefore: string;
  stop: Readonly<Record<ThresholdName, string>>;
}

export type PlanField = "rate" | "concurrency" | "budget" | "endsBefore" | ThresholdName;
export type PlanProblems = Readonly<Partial<Record<PlanField, string | null>>>;

export function planDraftOf(plan: ReplayPlan): PlanDraft {
  const stop = THRESHOLD_NAMES.map((name) => [name, thresholdText(name, plan.stop[name])]);
  return {
    rate: plan.ratePerSecond === null ? "" : String(plan.ratePerSecond),
    concurrency: String(plan.concurrency),
    budget: String(plan.attemptBudget),
    startsAfter: plan.startsAfter ?? "",
    endsBefore: plan.endsBefore ?? "",
    stop: Object.fromEntries(stop) as PlanDraft["stop"],
  };
}

/** The plan that was typed over the stored one, as the API takes it. */
export function planOf(draft: PlanDraft, stored: ReplayPlan): ReplayPlan {
  const before = planDraftOf(stored);
  const stop = THRESHOLD_NAMES.map((name) => {
    const untouched = draft.stop[name] === before.stop[name];
    return [name, untouched ? stored.stop[name] : thresholdValue(name, draft.stop[name])];
  });
  return {
    ratePerSecond: draft.rate.trim() === "" ? null : Number(draft.rate),
    concurrency: Number(draft.concurrency),
    attemptBudget: Number(draft.budget),
    startsAfter: draft.startsAfter === "" ? null : draft.startsAfter,
    endsBefore: draft.endsBefore === "" ? null : draft.endsBefore,
    stop: Object.fromEntries(stop) as ReplayPlan["stop"],
  };
}

/** Whether something was typed that the stored plan does not have. */
export function isPlanUnsaved(draft: PlanDraft, stored: ReplayPlan): boolean {
  return contentOf(planOf(draft, stored)) !== contentOf(planOf(planDraftOf(stored), stored));
}

/** What is no number is not the same as none. */
function contentOf(plan: ReplayPlan): string {
  return JSON.stringify(plan, (_key, value) => (Number.isNaN(value) ? "no number" : value));
}

/** @param asOf the server's time: an end that has passed could never be kept */
export function planProblems(
  draft: PlanDraft,
  { plan, policy }: Pick<ReplayDetail, "plan" | "policy">,
  { mayLoosen, asOf }: { mayLoosen: boolean; asOf: string },
): PlanProblems {
  const before = planDraftOf(plan);
  const stop = THRESHOLD_NAMES.map((name) => [
    name,
    draft.stop[name] === before.stop[name]
      ? null
      : refuseThreshold(name, draft.stop[name], policy[name], mayLoosen),
  ]);
  return {
    rate: draft.rate.trim() === "" ? null : refuseNumber(draft.rate, RATE),
    concurrency: refuseNumber(draft.concurrency, CONCURRENCY),
    budget: refuseNumber(draft.budget, BUDGET),
    endsBefore: refuseEnd(draft, asOf),
    ...Object.fromEntries(stop),
  };
}

function refuseEnd({ startsAfter, endsBefore }: PlanDraft, asOf: string): string | null {
  if (endsBefore === "") return null;
  const endMs = Date.parse(endsBefore);
  if (endMs <= Date.parse(asOf)) return "The end has to lie ahead.";
  return startsAfter !== "" && endMs <= Date.parse(startsAfter)
    ? "The end has to be after the beginning."
    : null;
}
