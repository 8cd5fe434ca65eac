/** What a draft still needs before it can be frozen, and the words of its checklist and conditions. Pure. */
import { type Problem, ProblemError } from "#components/queries/fetch-json.ts";
import { MIN_OPENED } from "#components/replays/replay-bounds.ts";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { formatLength } from "#domain/queue-age.ts";
import type { ThresholdName } from "#domain/replay-plan.ts";

/** The questions of the checklist, in the order in which they are asked. */
export const QUESTIONS = ["rootCause", "causeGone", "dedup", "meaningful", "order"] as const;
export type Question = (typeof QUESTIONS)[number];

export interface Answer {
  yes: boolean | null;
  evidence: string;
}
export type Answers = Readonly<Record<Question, Answer>>;

export const QUESTION_WORDS: Readonly<Record<Question, { question: string; hint: string }>> = {
  rootCause: { question: "Is the root cause known?", hint: "Where is it written down?" },
  causeGone: {
    question: "Is the cause gone?",
    hint: "What shows it? The table above looks at the last ten minutes.",
  },
  dedup: {
    question: "Does the receiver recognise our id or key?",
    hint: "One that does not may do the same thing twice. A no needs an administrator.",
  },
  meaningful: {
    question: "Is it still right to send them at this age?",
    hint: "What would the receiver do with it now?",
  },
  order: {
    question: "Does the order not matter?",
    hint: "Newer deliveries may have arrived already. A no needs an administrator.",
  },
};

const EMPTY: Answer = { yes: null, evidence: "" };

/** Answers as the batch has them; what it does not have is open. */
export function answersOf(checklist: unknown): Answers {
  const stored = (checklist ?? {}) as Partial<Record<Question, Answer>>;
  return Object.fromEntries(QUESTIONS.map((name) => [name, stored[name] ?? EMPTY])) as unknown as Answers;
}

/** How many of the sample have to be opened. */
export function neededOf(view: Pick<ReplayDetail, "sample">): number {
  return Math.min(MIN_OPENED, view.sample.length);
}

export function openedOf(view: Pick<ReplayDetail, "sample" | "inspected">): number {
  return view.sample.filter(({ id }) => view.inspected.includes(id)).length;
}

export interface Readiness {
  inspected: boolean;
  annotated: boolean;
  /** In words, what stands against the freeze; empty: nothing. */
  missing: readonly string[];
}

export function readinessOf(
  view: Pick<ReplayDetail, "sample" | "inspected" | "rootCause" | "checklist" | "items">,
): Readiness {
  const [opened, needed] = [openedOf(view), neededOf(view)];
  const answers = answersOf(view.checklist);
  const open = QUESTIONS.filter((name) => answers[name].yes === null);
  const inspected = opened >= needed;
  const annotated = view.rootCause !== null && open.length === 0;
  return {
    inspected,
    annotated,
    missing: [
      ...(view.items === 0 ? ["no entry is left in the batch"] : []),
      ...(inspected ? [] : [`${opened} of ${needed} sampled entries are inspected`]),
      ...(view.rootCause === null ? ["the root cause is not named"] : []),
      ...(open.length === 0 ? [] : [`${open.length} of ${QUESTIONS.length} questions are not answered`]),
    ],
  };
}

/** The entries that a refused freeze found in another open batch; empty for every other refusal. */
export function overlapOf(error: Error): readonly string[] {
  if (!(error instanceof ProblemError) || error.problem.code !== "replay_overlap") return [];
  const { ids } = error.problem as Problem & { ids?: unknown };
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

export type ThresholdUnit = "s" | "%" | "count";

/** Every stop condition that a plan can make stricter. */
export const THRESHOLD_WORDS: Readonly<Record<ThresholdName, { label: string; unit: ThresholdUnit }>> = {
  urgentFirstP95Ms: { label: "First-attempt p95, urgent", unit: "s" },
  routineFirstP95Ms: { label: "First-attempt p95, routine", unit: "s" },
  dueLagMs: { label: "Oldest due but unclaimed", unit: "s" },
  rateLimitedShare: { label: "429 share", unit: "%" },
  rateLimitedMin: { label: "429 share, from attempts on", unit: "count" },
  failedShare: { label: "Failure share", unit: "%" },
  failedMin: { label: "Failure share, from attempts on", unit: "count" },
  equalFailures: { label: "Equal failures in a row of a destination", unit: "count" },
  maxRunMs: { label: "Longest run", unit: "s" },
  metricsMaxAgeMs: { label: "Oldest metrics", unit: "s" },
};

const FACTORS: Readonly<Record<ThresholdUnit, number>> = { s: 1_000, "%": 0.01, count: 1 };

/** 60000 -> "60", 0.1 -> "10": as it is typed. */
export function thresholdText(name: ThresholdName, value: number): string {
  return String(Number((value / FACTORS[THRESHOLD_WORDS[name].unit]).toFixed(3)));
}

/** "1 m", "20 %", "5": as a page says it. */
export function thresholdWords(name: ThresholdName, value: number): string {
  const { unit } = THRESHOLD_WORDS[name];
  if (unit === "s") return formatLength(value);
  return unit === "%" ? `${thresholdText(name, value)} %` : thresholdText(name, value);
}

/** The value of what was typed; times are whole milliseconds. */
export function thresholdValue(name: ThresholdName, text: string): number {
  const { unit } = THRESHOLD_WORDS[name];
  const value = Number(text) * FACTORS[unit];
  return unit === "s" ? Math.round(value) : Number(value.toFixed(6));
}

/** What is wrong with a threshold as it was typed, or null: less is stricter, and more needs an administrator. */
export function refuseThreshold(
  name: ThresholdName,
  text: string,
  policy: number,
  mayLoosen: boolean,
): string | null {
  const value = text.trim() === "" ? Number.NaN : thresholdValue(name, text);
  if (!Number.isFinite(value) || value <= 0) return "A number above 0.";
  if (THRESHOLD_WORDS[name].unit === "count" && !Number.isInteger(value)) return "A whole number.";
  if (value > policy && !mayLoosen) {
    return `At most ${thresholdText(name, policy)}: only an administrator may loosen it.`;
  }
  return null;
}
