/**
 * What was changed between two reviews, as the second person reads it: field names and values in words. Pure. A name that
 * is not known here is shown as the API has it, never left out.
 */
import { QUESTION_WORDS, THRESHOLD_WORDS, thresholdWords } from "#components/replay-draft/draft-words.ts";
import { rateWords } from "#components/replays/replay-words.ts";
import type { ReplayLaneView } from "#db/console/replay/replay-views.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { ThresholdName } from "#domain/replay-plan.ts";
import { laneName } from "./lane-name.ts";

const FIELDS: Readonly<Record<string, string>> = {
  name: "Name",
  reason: "Reason",
  ticket: "Ticket",
  rootCause: "Root cause",
  fixUrl: "Link to the fix",
  "plan.ratePerSecond": "Rate of each destination",
  "plan.concurrency": "Out at once, of each destination",
  "plan.attemptBudget": "Attempts for each entry",
  "plan.startsAfter": "Starts after",
  "plan.endsBefore": "Ends before",
};
const STOP = "plan.stop.";
const CHECKLIST = "checklist.";
const LANES = "lanes.";

type Lane = Pick<ReplayLaneView, "destinationId" | "destinationName">;

/** `plan.stop.dueLagMs` -> "Stops at: oldest due but unclaimed". */
export function fieldWords(field: string, lanes: readonly Lane[]): string {
  const threshold = thresholdOf(field);
  if (threshold !== null) return `Stop condition: ${THRESHOLD_WORDS[threshold].label}`;
  if (field.startsWith(CHECKLIST)) {
    const [name = "", part] = field.slice(CHECKLIST.length).split(".");
    const known = (QUESTION_WORDS as Readonly<Record<string, { question: string } | undefined>>)[name];
    if (known === undefined) return field;
    return part === "evidence" ? `${known.question} Evidence` : known.question;
  }
  if (field.startsWith(LANES)) {
    const id = field.slice(LANES.length);
    const lane = lanes.find(({ destinationId }) => destinationId === id);
    return `Rate of ${laneName(lane ?? { destinationId: id, destinationName: null })}`;
  }
  return FIELDS[field] ?? field;
}

/** The value in the unit in which the plan shows it. */
export function valueWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (typeof value === "number") return numberWords(field, value);
  if (typeof value === "string") return value;
  const answer = value as { yes?: unknown; evidence?: unknown };
  if (field.startsWith(CHECKLIST) && typeof answer.evidence === "string") {
    return `${answer.yes === true ? "Yes" : answer.yes === false ? "No" : "Not answered"}: ${answer.evidence}`;
  }
  return JSON.stringify(value);
}

/** True when the value is a moment, which a page writes in its reader's zone. */
export function isMoment(field: string): boolean {
  return field === "plan.startsAfter" || field === "plan.endsBefore";
}

function numberWords(field: string, value: number): string {
  const threshold = thresholdOf(field);
  if (threshold !== null) return thresholdWords(threshold, value);
  if (field === "plan.ratePerSecond" || field.startsWith(LANES)) return rateWords(value);
  return field.endsWith("Ms") ? formatAge(value) : String(value);
}

function thresholdOf(field: string): ThresholdName | null {
  if (!field.startsWith(STOP)) return null;
  const name = field.slice(STOP.length);
  return Object.hasOwn(THRESHOLD_WORDS, name) ? (name as ThresholdName) : null;
}
