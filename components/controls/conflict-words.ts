/**
 * "Changed by ann@example.com 8 s ago: limit 5 -> 3": what a person reads when somebody else was faster. Built from the
 * newest audit row of the target, as a 412 carries it. Pure.
 */
import type { Problem } from "#components/queries/fetch-json.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { formatInstant, type Zone, zoneName } from "#components/ui/format.ts";
import { formatAge } from "#domain/queue-age.ts";

type Value = string | number | boolean | null;
export type Facts = Readonly<Record<string, Value>>;

/** The row as it is now, and who made it so. */
export interface CurrentRow {
  readonly version: number;
  readonly changedBy: string;
  /** UTC */
  readonly changedAt: string;
  readonly action: string;
  readonly before: Facts;
  readonly after: Facts;
}

/** More would not be read in a dialog. */
const MAX_CHANGES = 4;

/** What a 412 says of the present row; null when it says nothing that can be used. */
export function readCurrent(problem: Problem): CurrentRow | null {
  const { current } = problem as Problem & { current?: unknown };
  if (typeof current !== "object" || current === null) return null;
  const { version, changedBy, changedAt, action, before, after } = current as Partial<CurrentRow>;
  if (typeof version !== "number" || typeof changedBy !== "string" || typeof changedAt !== "string")
    return null;
  if (Number.isNaN(Date.parse(changedAt))) return null;
  return {
    version,
    changedBy,
    changedAt,
    action: action ?? "change",
    before: before ?? {},
    after: after ?? {},
  };
}

/** One sentence. `nowMs` is the server's time. */
export function conflictWords(current: CurrentRow | null, nowMs: number, zone: Zone): string {
  if (current === null) return "Somebody else changed this since you opened it.";
  const ago = formatAge(nowMs - Date.parse(current.changedAt));
  const changes = changeWords(current.before, current.after, zone);
  const what = changes.length === 0 ? actionWords(current.action) : changes.join(", ");
  return `Changed by ${actorWords(current.changedBy)} ${ago} ago: ${what}.`;
}

/** "limit 5 -> 3", for every value that differs. */
export function changeWords(before: Facts, after: Facts, zone: Zone): string[] {
  return Object.keys(after)
    .filter((key) => Object.hasOwn(LABELS, key) && (before[key] ?? null) !== (after[key] ?? null))
    .slice(0, MAX_CHANGES)
    .map(
      (key) => `${LABELS[key]} ${valueWords(key, before[key], zone)} → ${valueWords(key, after[key], zone)}`,
    );
}

/** `destination.open_gate` -> "open gate". */
export function actionWords(action: string): string {
  return action.slice(action.indexOf(".") + 1).replaceAll("_", " ");
}

/** Facts that people steer by. Others (who, when, why) stand in the audit. */
const LABELS: Readonly<Record<string, string>> = {
  concurrencyLimit: "limit",
  ratePerSecond: "rate",
  rateBurst: "burst",
  weight: "weight",
  replayHeader: "replay header",
  paused: "paused",
  pauseUntil: "paused until",
  disabled: "disabled",
  adaptiveLimit: "adaptive limit",
  pinned: "pinned",
  gateUntil: "gate shut until",
  claims: "claims",
  secretSetAt: "secret set",
  previousSecretUntil: "previous secret signs until",
  tenantConcurrency: "default tenant limit",
  destinationConcurrency: "default destination limit",
  maxTenantConcurrency: "highest tenant limit",
  maxDestinationConcurrency: "highest destination limit",
  maxRatePerSecond: "highest rate",
  name: "name",
  state: "state",
};

/** What empty stands for. */
const EMPTY: Readonly<Record<string, string>> = {
  concurrencyLimit: "inherited",
  pauseUntil: "not paused",
  gateUntil: "open",
};

const INSTANT = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;

function valueWords(key: string, value: Value | undefined, zone: Zone): string {
  if (value === null || value === undefined) return EMPTY[key] ?? "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  const text = String(value);
  return INSTANT.test(text) ? `${formatInstant(text, zone)} ${zoneName(zone, text)}` : text;
}
