/**
 * The replay policy as rows, as a form, and what of the form is sent. Pure. The bounds repeat those of
 * #domain/replay-plan, which decides; replay-policy-words.test.ts holds both together.
 */
import { THRESHOLD_WORDS } from "#components/replay-draft/draft-words.ts";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { ReplayPolicy, ReplayPolicyInput } from "#domain/replay-plan.ts";
import {
  changedNumbers,
  changesByVersion,
  differences,
  hasProblem,
  type NumberSpecs,
  namesOf,
  type Typed,
  valueWords,
} from "./policy-numbers.ts";

/** Every number of the policy; `canaryAuto` is a yes or no. */
export type PolicyNumber = Exclude<keyof ReplayPolicy, "canaryAuto">;

const MAX_SPAN_MS = 7 * 86_400_000;
/** Shares are above 0; nobody types a smaller one. */
const MIN_SHARE = 0.001;
const SPAN = { unit: "s", min: 1, max: MAX_SPAN_MS } as const;
const SPAN_OR_NONE = { ...SPAN, min: 0 } as const;
const SHARE = { unit: "%", min: MIN_SHARE, max: 1 } as const;
const MANY = { unit: "count", min: 1, max: 1_000 } as const;
const FEW = { ...MANY, max: 100 } as const;

/** The stop conditions, with the words of the plan of a batch. */
const STOPS = {
  urgentFirstP95Ms: { ...THRESHOLD_WORDS.urgentFirstP95Ms, ...SPAN },
  routineFirstP95Ms: { ...THRESHOLD_WORDS.routineFirstP95Ms, ...SPAN },
  dueLagMs: { ...THRESHOLD_WORDS.dueLagMs, ...SPAN },
  rateLimitedShare: { ...THRESHOLD_WORDS.rateLimitedShare, ...SHARE },
  rateLimitedMin: { ...THRESHOLD_WORDS.rateLimitedMin, ...MANY },
  failedShare: { ...THRESHOLD_WORDS.failedShare, ...SHARE },
  failedMin: { ...THRESHOLD_WORDS.failedMin, ...MANY },
  equalFailures: { ...THRESHOLD_WORDS.equalFailures, ...FEW },
  maxRunMs: { ...THRESHOLD_WORDS.maxRunMs, ...SPAN },
  metricsMaxAgeMs: { ...THRESHOLD_WORDS.metricsMaxAgeMs, ...SPAN },
} as const;

const COURSE = {
  windowAttempts: { label: "Shares look at the last attempts", ...MANY },
  windowMs: { label: "Shares look back", ...SPAN },
  canaryShare: { label: "Canary is clean from delivered", ...SHARE },
  canaryHoldMs: { label: "Hold after the canary", ...SPAN_OR_NONE },
  rampHoldMs: { label: "Hold of each step of the rate", ...SPAN_OR_NONE },
  maxAutoPauses: { label: "Pauses by itself until the batch ends", ...FEW },
} as const;

const REVIEW = {
  reviewMs: { label: "Longest wait for a review", ...SPAN },
  approvalMs: { label: "Longest wait for the start after it", ...SPAN },
} as const;

export const POLICY_FIELDS: NumberSpecs<PolicyNumber> = { ...STOPS, ...COURSE, ...REVIEW };

/** The group in which the yes or no stands too. */
export const COURSE_TITLE = "Canary and ramp";
export const POLICY_GROUPS: readonly { readonly title: string; readonly names: readonly PolicyNumber[] }[] = [
  { title: "Stop conditions", names: Object.keys(STOPS) as PolicyNumber[] },
  { title: COURSE_TITLE, names: Object.keys(COURSE) as PolicyNumber[] },
  { title: "Review", names: Object.keys(REVIEW) as PolicyNumber[] },
];

export const AUTO_LABEL = "Goes on by itself after a clean canary";
const autoWords = (auto: boolean) => (auto ? "yes" : "no");

/** One row per number and one for the yes or no. */
export function replayPolicyRows({
  policy,
  defaults,
}: Pick<ReplayPolicyView, "policy" | "defaults">): { what: string; now: string; builtIn: string }[] {
  return [
    ...namesOf(POLICY_FIELDS).map((name) => ({
      what: POLICY_FIELDS[name].label,
      now: valueWords(POLICY_FIELDS[name], policy[name]),
      builtIn: valueWords(POLICY_FIELDS[name], defaults[name]),
    })),
    { what: AUTO_LABEL, now: autoWords(policy.canaryAuto), builtIn: autoWords(defaults.canaryAuto) },
  ];
}

/** What somebody has typed; absent: not touched, the field follows the row. */
export interface PolicyTyped {
  readonly numbers: Typed<PolicyNumber>;
  readonly canaryAuto?: boolean;
}

export const NOTHING_TYPED: PolicyTyped = { numbers: {} };

/** What is sent, or why nothing can be; `looser`: the stop conditions that get looser for everybody. */
export function replayPolicyChanges(
  typed: PolicyTyped,
  inForce: ReplayPolicy,
): { changes: ReplayPolicyInput; problem: string | null; looser: string[] } {
  if (hasProblem(POLICY_FIELDS, typed.numbers)) {
    return { changes: {}, problem: "A number cannot be used: it says why.", looser: [] };
  }
  const auto = typed.canaryAuto ?? inForce.canaryAuto;
  const changes = {
    ...changedNumbers(POLICY_FIELDS, typed.numbers, inForce),
    ...(auto === inForce.canaryAuto ? {} : { canaryAuto: auto }),
  };
  const none = Object.keys(changes).length === 0;
  return {
    changes,
    problem: none ? "Nothing is changed yet." : null,
    looser: looserLabels(changes, inForce),
  };
}

/** For each of the stop conditions more is looser. */
function looserLabels(changes: ReplayPolicyInput, policy: ReplayPolicy): string[] {
  return (Object.keys(STOPS) as (keyof typeof STOPS)[])
    .filter((name) => (changes[name] ?? policy[name]) > policy[name])
    .map((name) => POLICY_FIELDS[name].label);
}

/** What each listed version changed of the one before it, in words; null: the one before it is not listed. */
export function replayPolicyHistory({
  history,
  defaults,
}: Pick<ReplayPolicyView, "history" | "defaults">): (string[] | null)[] {
  const wholes = history.map(({ body }) => ({ ...defaults, ...(body as Partial<ReplayPolicy>) }));
  return changesByVersion(history, wholes, defaults, compare);
}

function compare(before: ReplayPolicy, after: ReplayPolicy): string[] {
  const numbers = differences(POLICY_FIELDS, before, after);
  if (before.canaryAuto === after.canaryAuto) return numbers;
  return [...numbers, `${AUTO_LABEL}: ${autoWords(after.canaryAuto)}`];
}
