/**
 * The replay policy as rows, as a form, and what of the form is sent. Pure. The bounds repeat those of
 * #domain/replay-plan, which decides; replay-policy-words.test.ts holds both together. A number that nobody touched is
 * never sent, so that showing it rounded changes nothing.
 */
import { THRESHOLD_WORDS } from "#components/replay-draft/draft-words.ts";
import { formatCount } from "#components/ui/format.ts";
import type { ReplayPolicyView } from "#db/console/replay/replay-views.ts";
import type { ReplayPolicy, ReplayPolicyInput } from "#domain/replay-plan.ts";
import { roundAge } from "./policy-numbers.ts";

/** Every number of the policy; `canaryAuto` is a yes or no. */
export type PolicyNumber = Exclude<keyof ReplayPolicy, "canaryAuto">;
type Unit = "s" | "%" | "count";

export interface PolicyField {
  readonly label: string;
  /** In which it is typed. */
  readonly unit: Unit;
  /** As stored: milliseconds, shares of 1, counts. */
  readonly min: number;
  readonly max: number;
}

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

export const POLICY_FIELDS: Readonly<Record<PolicyNumber, PolicyField>> = { ...STOPS, ...COURSE, ...REVIEW };

export const POLICY_GROUPS: readonly { readonly title: string; readonly names: readonly PolicyNumber[] }[] = [
  { title: "Stop conditions", names: Object.keys(STOPS) as PolicyNumber[] },
  { title: "Canary and ramp", names: Object.keys(COURSE) as PolicyNumber[] },
  { title: "Review", names: Object.keys(REVIEW) as PolicyNumber[] },
];
const NAMES = Object.keys(POLICY_FIELDS) as PolicyNumber[];

export const AUTO_LABEL = "Goes on by itself after a clean canary";
const FACTORS: Readonly<Record<Unit, number>> = { s: 1_000, "%": 0.01, count: 1 };

/** "2 m", "10 %", "5": as a table says it. */
export function policyValueWords(name: PolicyNumber, value: number): string {
  const { unit } = POLICY_FIELDS[name];
  if (unit === "s") return value === 0 ? "none" : roundAge(value);
  return unit === "%" ? `${typedText(name, value)} %` : formatCount(value);
}

/** One row per number and one for the yes or no. */
export function replayPolicyRows({
  policy,
  defaults,
}: Pick<ReplayPolicyView, "policy" | "defaults">): { what: string; now: string; builtIn: string }[] {
  const auto = (value: boolean) => (value ? "yes" : "no");
  return [
    ...NAMES.map((name) => ({
      what: POLICY_FIELDS[name].label,
      now: policyValueWords(name, policy[name]),
      builtIn: policyValueWords(name, defaults[name]),
    })),
    { what: AUTO_LABEL, now: auto(policy.canaryAuto), builtIn: auto(defaults.canaryAuto) },
  ];
}

/** 120000 -> "120", 0.1 -> "10": as it is typed. */
export function typedText(name: PolicyNumber, value: number): string {
  return String(Number((value / FACTORS[POLICY_FIELDS[name].unit]).toFixed(3)));
}

function typedValue(name: PolicyNumber, text: string): number {
  const { unit } = POLICY_FIELDS[name];
  const value = text.trim() === "" ? Number.NaN : Number(text) * FACTORS[unit];
  return unit === "s" ? Math.round(value) : Number(value.toFixed(6));
}

/** What somebody has typed; absent: not touched, the field follows the row. */
export interface PolicyTyped {
  readonly numbers: Readonly<Partial<Record<PolicyNumber, string>>>;
  readonly canaryAuto?: boolean;
}

export const NOTHING_TYPED: PolicyTyped = { numbers: {} };

/** What is wrong with a number as it was typed, or null. */
export function policyProblem(name: PolicyNumber, typed: PolicyTyped): string | null {
  const text = typed.numbers[name];
  if (text === undefined) return null;
  const { min, max, unit } = POLICY_FIELDS[name];
  const value = typedValue(name, text);
  const fits = Number.isFinite(value) && value >= min && value <= max;
  if (fits && (unit !== "count" || Number.isInteger(value))) return null;
  const bounds = `${typedText(name, min)} to ${typedText(name, max)}`;
  return unit === "count" ? `A whole number from ${bounds}.` : `A number from ${bounds} ${unit}.`;
}

/** What of the typed differs from the row that was seen. Only for a form without problems. */
export function policyChanges(typed: PolicyTyped, policy: ReplayPolicy): ReplayPolicyInput {
  const numbers = NAMES.flatMap((name) => {
    const text = typed.numbers[name];
    if (text === undefined || text === typedText(name, policy[name])) return [];
    return [[name, typedValue(name, text)] as const];
  });
  const auto = typed.canaryAuto ?? policy.canaryAuto;
  return { ...Object.fromEntries(numbers), ...(auto === policy.canaryAuto ? {} : { canaryAuto: auto }) };
}

/** Labels of the stop conditions that get looser for everybody: for each of them more is looser. */
export function looserLabels(changes: ReplayPolicyInput, policy: ReplayPolicy): string[] {
  return (Object.keys(STOPS) as (keyof typeof STOPS)[])
    .filter((name) => (changes[name] ?? policy[name]) > policy[name])
    .map((name) => POLICY_FIELDS[name].label);
}

/** What each listed version changed of the one before it, in words; null: the one before it is not listed. */
export function historyChanges({
  history,
  defaults,
}: Pick<ReplayPolicyView, "history" | "defaults">): (string[] | null)[] {
  const wholes = history.map(({ body }) => ({ ...defaults, ...(body as Partial<ReplayPolicy>) }));
  return history.map(({ version }, index) => {
    const after = wholes[index] ?? defaults;
    const before = version === 1 ? defaults : wholes[index + 1];
    return before === undefined ? null : differences(before, after);
  });
}

function differences(before: ReplayPolicy, after: ReplayPolicy): string[] {
  const numbers = NAMES.filter((name) => before[name] !== after[name]).map((name) => {
    const [from, to] = [policyValueWords(name, before[name]), policyValueWords(name, after[name])];
    return `${POLICY_FIELDS[name].label} ${from} → ${to}`;
  });
  if (before.canaryAuto === after.canaryAuto) return numbers;
  return [...numbers, `${AUTO_LABEL}: ${after.canaryAuto ? "yes" : "no"}`];
}
