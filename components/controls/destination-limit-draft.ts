/** The limits form of a destination, read against the row: which values change and what the step rule says. Pure. */
import type { DestinationControlView, DrainInputs } from "#db/console/control-views.ts";
import type { LimitChange } from "#domain/limit-steps.ts";
import {
  MAX_DESTINATION_CONCURRENCY,
  MAX_RATE_BURST,
  MAX_RATE_PER_SECOND,
  MIN_RATE_PER_SECOND,
} from "./bounds.ts";
import { limitText, type ReadLimit, readLimit, type StepWords, stepWords } from "./limit-draft.ts";

export const LIMIT_FIELDS = ["concurrencyLimit", "ratePerSecond", "rateBurst"] as const;
export type LimitField = (typeof LIMIT_FIELDS)[number];

/** What was typed; null: not touched, the field follows the row. */
export type TypedLimits = Readonly<Record<LimitField, string | null>>;

export interface DestinationLimitDraft {
  readonly text: Readonly<Record<LimitField, string>>;
  readonly read: Readonly<Record<LimitField, ReadLimit>>;
  /** Only the fields that differ from the row. */
  readonly body: Readonly<Partial<Record<LimitField, number | null>>>;
  /** "limit 5 -> 8", one for each change. */
  readonly changes: readonly string[];
  readonly step: StepWords;
  /** What the drain time is computed from, with the new values in. */
  readonly drain: DrainInputs;
  readonly problem: string | null;
}

const RULES = {
  concurrencyLimit: { min: 1, max: MAX_DESTINATION_CONCURRENCY, whole: true, empty: "the region's" },
  ratePerSecond: { min: MIN_RATE_PER_SECOND, max: MAX_RATE_PER_SECOND, whole: false, empty: "no rate" },
  rateBurst: { min: 1, max: MAX_RATE_BURST, whole: true, empty: null },
} as const;

/** @param nowMs the server's time */
export function readDestinationLimits(
  view: DestinationControlView,
  typed: TypedLimits,
  acknowledged: boolean,
  nowMs: number,
): DestinationLimitDraft {
  const row = rowOf(view);
  const text = each((field) => typed[field] ?? limitText(row[field]));
  const read = each((field) => readLimit({ text: text[field], ...RULES[field] }));
  const changed = LIMIT_FIELDS.filter(
    (field) => read[field].error === null && read[field].value !== row[field],
  );
  const value = (field: LimitField) => (changed.includes(field) ? read[field].value : row[field]);
  const step = stepWords({
    changes: changed.map((field) => changeOf(view, field, row[field], read[field].value)),
    step: view.step,
    only: view.permit.limits?.only,
    bounds: { concurrency: view.policy.maxDestinationConcurrency, rate: view.policy.maxRatePerSecond },
    acknowledged,
    nowMs,
  });
  const error = LIMIT_FIELDS.map((field) => read[field].error).find((each) => each !== null) ?? null;
  const cap = value("concurrencyLimit") ?? view.concurrency.inherited;
  return {
    text,
    read,
    body: Object.fromEntries(changed.map((field) => [field, read[field].value])),
    changes: changed.map(
      (field) => `${WORDS[field]} ${shown(field, row[field])} → ${shown(field, read[field].value)}`,
    ),
    step,
    drain: {
      ...view.drain,
      concurrency: Math.min(cap, view.adaptive.limit ?? cap),
      ratePerSecond: value("ratePerSecond"),
    },
    problem: error ?? (changed.length === 0 ? "Nothing is changed yet." : step.problem),
  };
}

const WORDS = { concurrencyLimit: "limit", ratePerSecond: "rate", rateBurst: "burst" } as const;

function shown(field: LimitField, value: number | null): string {
  if (value !== null) return field === "ratePerSecond" ? `${value} a second` : String(value);
  return field === "concurrencyLimit" ? "inherited" : "none";
}

function rowOf({ concurrency, rate }: DestinationControlView): Record<LimitField, number | null> {
  return { concurrencyLimit: concurrency.limit, ratePerSecond: rate.perSecond, rateBurst: rate.burst };
}

function changeOf(
  { concurrency }: DestinationControlView,
  field: LimitField,
  from: number | null,
  to: number | null,
): LimitChange {
  if (field === "concurrencyLimit") {
    return { name: "concurrency", from: from ?? concurrency.inherited, to: to ?? concurrency.inherited };
  }
  if (field === "rateBurst") return { name: "burst", from: from ?? 0, to: to ?? 0 };
  const none = Number.POSITIVE_INFINITY;
  return { name: "rate", from: from ?? none, to: to ?? none };
}

function each<T>(make: (field: LimitField) => T): Record<LimitField, T> {
  return {
    concurrencyLimit: make("concurrencyLimit"),
    ratePerSecond: make("ratePerSecond"),
    rateBurst: make("rateBurst"),
  };
}
