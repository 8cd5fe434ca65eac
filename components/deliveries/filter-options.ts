/** The choices of the delivery filters, in words. */
import { DEAD_REASON_WORDS, reasonWords, STATE_WORDS } from "#components/ui/words.ts";
import { CANCEL_REASONS, DEAD_REASONS, SERVICE_CLASSES, STATES } from "#domain/delivery.ts";
import { HELD_FILTERS, RANGE_NAMES, type RangeName } from "#domain/delivery-filter.ts";
import { BLOCKER_WORDS } from "./blocker-words.ts";

export interface Option {
  value: string;
  label: string;
}

export const STATE_OPTIONS: readonly Option[] = [
  { value: "", label: "Any state" },
  ...STATES.map((value) => ({ value, label: STATE_WORDS[value].label })),
];

export const CLASS_OPTIONS: readonly Option[] = [
  { value: "", label: "Any class" },
  ...SERVICE_CLASSES.map((value) => ({ value, label: value === "urgent" ? "Urgent" : "Routine" })),
];

export const REASON_OPTIONS: readonly Option[] = [
  { value: "", label: "Any reason" },
  ...HELD_FILTERS.map((value) => ({ value, label: `Held: ${BLOCKER_WORDS[value].short}` })),
  ...DEAD_REASONS.map((value) => ({ value, label: `Dead: ${DEAD_REASON_WORDS[value].toLowerCase()}` })),
  ...CANCEL_REASONS.map((value) => ({ value, label: `Cancelled: ${reasonWords(value).toLowerCase()}` })),
];

export const CODE_OPTIONS: readonly Option[] = [
  { value: "", label: "Any last result" },
  { value: "429", label: "429 rate-limited" },
  { value: "5xx", label: "5xx server error" },
  { value: "4xx", label: "4xx" },
  { value: "3xx", label: "3xx redirect" },
  { value: "timeout", label: "Timeout" },
  { value: "network", label: "Network error" },
];

export const ATTEMPTS_OPTIONS: readonly Option[] = [
  { value: "", label: "Any attempts" },
  ...[1, 2, 3, 5, 8].map((count) => ({ value: `${count}..`, label: `${count} or more` })),
];

export const AGE_OPTIONS: readonly Option[] = [
  { value: "", label: "Any age" },
  ...["5m", "1h", "6h", "24h", "3d"].map((age) => ({
    value: `${age}..`,
    label: `Older than ${spaced(age)}`,
  })),
];

const RANGE_WORDS: Readonly<Record<RangeName, string>> = {
  "1h": "Accepted in the last hour",
  "6h": "Accepted in the last 6 h",
  "24h": "Accepted in the last 24 h",
  "7d": "Accepted in the last 7 d",
};

export const RANGE_OPTIONS: readonly Option[] = [
  { value: "", label: "Accepted at any time" },
  ...RANGE_NAMES.map((value) => ({ value, label: RANGE_WORDS[value] })),
];

export const SORT_OPTIONS: readonly Option[] = [
  { value: "", label: "Latest due first" },
  { value: "due", label: "Oldest due first" },
];

/** The filters that stand behind "More filters". */
export const MORE_FILTERS = ["reason", "code", "attempts", "age", "range", "from", "to", "type"] as const;

/** A value from the address that is not offered stays a choice, so that it can be seen and removed. */
export function withValue(options: readonly Option[], value: string | null): readonly Option[] {
  if (value === null || value === "" || options.some((option) => option.value === value)) return options;
  return [...options, { value, label: value }];
}

/** "24h" -> "24 h". */
function spaced(age: string): string {
  return age.replace(/([smhd])$/, " $1");
}
