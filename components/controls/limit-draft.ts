/**
 * What is typed into the limits dialog, read: which values change, what is wrong with them, and what the step rule will say.
 * The command decides; this only says it early. What depends on the past (an undo of a lowering may go back further than
 * one step) is a warning here and never a refusal. Pure.
 */
import { isRaise, type LimitBounds, type LimitChange, refuseReach } from "#domain/limit-steps.ts";
import { formatAge, formatLength } from "#domain/queue-age.ts";

/** A text field of the form. `shown` is what the row has; empty stands for null where `empty` says what that means. */
export interface LimitInput {
  readonly text: string;
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
  /** What an empty field means; null: it may not be empty. */
  readonly empty: string | null;
}

export type ReadLimit =
  | { readonly value: number | null; readonly error: null }
  | { readonly value: null; readonly error: string };

/** A number, null for an empty field that may be empty, or what is wrong. Grouped digits and exponents are typing mistakes. */
export function readLimit({ text, min, max, whole, empty }: LimitInput): ReadLimit {
  const trimmed = text.trim();
  const rule = `${whole ? "A whole number" : "A number"} from ${min} to ${max}${empty === null ? "" : `, or empty for ${empty}`}.`;
  if (trimmed === "") return empty === null ? wrong(rule) : { value: null, error: null };
  const value = /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (value <= 0) return wrong("0 would be a pause without an end. To send nothing, use Pause.");
  if (!(value >= min && value <= max) || (whole && !Number.isInteger(value))) return wrong(rule);
  return { value, error: null };
}

function wrong(error: string): ReadLimit {
  return { value: null, error };
}

/** The row as text for a field. */
export function limitText(value: number | null): string {
  return value === null ? "" : String(value);
}

export interface StepNow {
  /** UTC; null: a raise may be made now. */
  readonly nextRaiseAt: string | null;
  readonly maxFactor: number;
  readonly needsAcknowledge429: boolean;
}

export interface StepWords {
  /** Why it cannot be sent, or null. */
  readonly problem: string | null;
  /** What the API may refuse, said before. */
  readonly warnings: readonly string[];
  /** A tick is asked for. */
  readonly needsTick: boolean;
}

export interface StepQuestion {
  readonly changes: readonly LimitChange[];
  readonly step: StepNow;
  readonly only: "lower" | "within_policy" | "own_approved" | undefined;
  readonly bounds: LimitBounds;
  /** The tick was set. */
  readonly acknowledged: boolean;
  /** The server's time. */
  readonly nowMs: number;
}

/** What stands in the way of these changes. */
export function stepWords({ changes, step, only, bounds, acknowledged, nowMs }: StepQuestion): StepWords {
  const raises = changes.filter((change) => isRaise(change) && change.name !== "weight");
  const stepped = raises.filter(({ name }) => name === "concurrency" || name === "rate");
  const needsTick = raises.length > 0 && step.needsAcknowledge429;
  const reach = refuseReach(only, changes, bounds);
  const warnings =
    stepped.length === 0 ? [] : [...factorWords(stepped, step.maxFactor), ...waitWords(step, nowMs)];
  if (reach !== null) return { problem: `${capital(reach)}.`, warnings, needsTick };
  const problem =
    needsTick && !acknowledged ? "Tick that you raise although this receiver answers with 429." : null;
  return { problem, warnings, needsTick };
}

const UNDO_WORDS = "unless that value was in force in the last 10 m";

function factorWords(raises: readonly LimitChange[], maxFactor: number): string[] {
  return raises
    .filter(({ from, to }) => Number.isFinite(to) && to > from * maxFactor)
    .map(
      ({ name, from, to }) =>
        `${capital(name)} ${to} is more than ${maxFactor} times the ${from} in force: raise to at most ${Number((from * maxFactor).toFixed(3))}, then look. A larger step is refused, ${UNDO_WORDS}.`,
    );
}

function waitWords({ nextRaiseAt }: StepNow, nowMs: number): string[] {
  const waitMs = nextRaiseAt === null ? 0 : Date.parse(nextRaiseAt) - nowMs;
  if (waitMs <= 0) return [];
  return [
    `A limit of it was raised a moment ago. The next raise is accepted in ${formatAge(waitMs)}, ${UNDO_WORDS}.`,
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "5 -> 8, rate none -> 20 a second": the change as the button and the reader hear it. */
export function changeList(
  changes: readonly { readonly label: string; readonly from: string; readonly to: string }[],
): string {
  return changes.map(({ label, from, to }) => `${label} ${from} → ${to}`).join(", ");
}

/** Part of the answers that were 429: "12 %", or that nothing was asked. */
export function throttleWords({
  share,
  requests,
  windowMs,
}: {
  readonly share: number | null;
  readonly requests: number;
  readonly windowMs: number;
}): string {
  if (share === null) return `no request in the last ${formatLength(windowMs)}`;
  return `${Number((share * 100).toFixed(1))} % of ${requests.toLocaleString("en-GB")} in the last ${formatLength(windowMs)}`;
}
