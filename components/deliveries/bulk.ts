/**
 * One command for each of some ticked deliveries, one after the other, each with its own answer: done, skipped (why) or
 * failed. Nothing here decides whether a delivery may be changed: the command does, by the state of the row at that moment.
 * Pure but for the sender that is passed in.
 */
import { ProblemError } from "#components/queries/fetch-json.ts";
import { plural } from "#components/ui/format.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { MAX_NAMED_DELIVERIES } from "#domain/delivery-filter.ts";
import type { Role } from "#domain/permissions.ts";

export type BulkVerb = "retry-now" | "cancel";

/** The permission of each verb and who has it; bulk.test.ts compares them with the table of roles. */
export const BULK_ACTIONS = { "retry-now": "retry_now", cancel: "cancel" } as const;
export const BULK_ROLES: Readonly<Record<BulkVerb, readonly Role[]>> = {
  "retry-now": ["support", "operator", "admin"],
  cancel: ["operator", "admin"],
};

export interface BulkResult {
  readonly id: string;
  readonly outcome: "done" | "skipped" | "failed";
  /** Why it was skipped or failed, or what a done one still lacks. */
  readonly why: string | null;
}

type Ticked = Pick<DeliveryRow, "id" | "state" | "lane">;

/** Why a row as it is shown is not asked for, in the words of its command; null: it is. */
export function leftOut(verb: BulkVerb, { state, lane }: Ticked): string | null {
  if (state === "leased") return "It is in flight.";
  if (state === "dead") {
    return verb === "cancel"
      ? "A dead letter is not waiting. Say that it will not be replayed, or replay it."
      : "A dead letter needs a reviewed batch.";
  }
  if (state === "delivered" || state === "cancelled") return `It has ended: ${state}.`;
  if (verb === "cancel") return lane === "replay" ? "It belongs to a replay batch: stop the batch." : null;
  return state === "ready" ? "It has not been tried yet: it leaves as soon as nothing holds it." : null;
}

/** Why the action is shut for these rows as a whole, or null. */
export function bulkRefusal(
  verb: BulkVerb,
  rows: readonly Ticked[],
  actions: readonly string[],
): string | null {
  if (!actions.includes(BULK_ACTIONS[verb])) return `Needs the role ${BULK_ROLES[verb].join(" or ")}`;
  if (rows.length > MAX_NAMED_DELIVERIES) return `At most ${MAX_NAMED_DELIVERIES} at once`;
  if (rows.some((row) => leftOut(verb, row) === null)) return null;
  return verb === "cancel" ? "None of them waits" : "None of them is delayed";
}

/** Codes of refusals that only say that the row is in another state by now. */
const SKIPPED = new Set(["state_conflict", "version_conflict", "not_found"]);

/** What a refusal or a lost answer makes of a row. */
export function resultOfError(id: string, error: unknown): BulkResult {
  if (!(error instanceof ProblemError)) {
    return {
      id,
      outcome: "failed",
      why: "No answer came: it may have been done. Ask again; it is not done twice.",
    };
  }
  const { code, title, detail } = error.problem;
  if (SKIPPED.has(code))
    return { id, outcome: "skipped", why: `${detail.charAt(0).toUpperCase()}${detail.slice(1)}` };
  return { id, outcome: "failed", why: `${title}. ${detail}` };
}

export interface BulkRun {
  readonly ids: readonly string[];
  /** Sends the command of one delivery; `applied` as the API says it. Throws what `sendCommand` throws. */
  readonly send: (id: string) => Promise<{ readonly applied: boolean }>;
  /** True once somebody wants no more of them to be sent. */
  readonly isStopped: () => boolean;
  readonly onResult: (result: BulkResult) => void;
}

/** Asks for one after the other and tells of each. What is never sent, because of a stop or the end of the session, is told too. */
export async function runBulk({ ids, send, isStopped, onResult }: BulkRun): Promise<void> {
  let signedOut = false;
  for (const id of ids) {
    if (signedOut) onResult({ id, outcome: "failed", why: "Not sent: your session has ended." });
    else if (isStopped()) onResult({ id, outcome: "skipped", why: "Not sent: stopped before its turn." });
    else {
      const result = await sendOne(id, send);
      signedOut = result.signedOut;
      onResult(result.result);
    }
  }
}

async function sendOne(
  id: string,
  send: BulkRun["send"],
): Promise<{ result: BulkResult; signedOut: boolean }> {
  try {
    const { applied } = await send(id);
    const why = applied ? null : "Stored; the proof that every worker obeys it could not be had yet.";
    return { result: { id, outcome: "done", why }, signedOut: false };
  } catch (error) {
    const signedOut = error instanceof ProblemError && error.problem.code === "unauthenticated";
    return { result: resultOfError(id, error), signedOut };
  }
}

/** "9 done, 3 skipped, 0 failed". */
export function sumWords(results: readonly BulkResult[]): string {
  const count = (outcome: BulkResult["outcome"]) =>
    results.filter((result) => result.outcome === outcome).length;
  return `${count("done")} done, ${count("skipped")} skipped, ${count("failed")} failed`;
}

/** "Retry 9 now", "Cancel 1 delivery". */
export function bulkButton(verb: BulkVerb, count: number): string {
  return verb === "cancel" ? `Cancel ${plural(count, "delivery", "deliveries")}` : `Retry ${count} now`;
}
