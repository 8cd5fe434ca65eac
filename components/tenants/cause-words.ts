/** Why a tenant's deliveries wait, as text. Pure; each sentence says only what its row holds, and none guesses. */
import { formatCount, plural } from "#components/ui/format.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { resultText } from "#components/ui/words.ts";
import type { DestinationHealth, LastResult } from "#db/console/read-destination-health.ts";
import type { TenantAnswer, TenantDetail } from "#db/console/read-tenant.ts";

type Own = Pick<TenantDetail, "deletedAt" | "pause" | "held" | "inFlight" | "concurrency" | "due">;

/** What is decided about the tenant itself, or its own cap that is used up; the strongest first, and empty when there is nothing. */
export function ownCauses(
  { deletedAt, pause, held, inFlight, concurrency, due }: Own,
  asOf: string,
): string[] {
  if (deletedAt !== null) return ["It is deleted: nothing of it is sent."];
  const { why, effective } = concurrency;
  const causes: string[] = [];
  if (why === "draining")
    causes.push(
      `Claims are stopped in this region: nothing of it starts.${heldText(held, "region_draining")}`,
    );
  if (why === "other_owner")
    causes.push("Its claims were handed over to another program: Sluice starts nothing of it.");
  if (pause !== null)
    causes.push(
      `It is paused and goes on by itself ${relativeTo(pause.until, asOf)}.${heldText(held, "tenant_paused")}`,
    );
  if (due.count === 0) return causes;
  if (why === "resume_ramp")
    causes.push(
      `It was resumed, and what was due before leaves slowly at first: ${formatCount(effective)} may be in flight now.`,
    );
  if (effective > 0 && inFlight >= effective)
    causes.push(
      `Its own concurrency is used up: ${formatCount(inFlight)} of ${formatCount(effective)} in flight, and ${formatCount(due.count)} due.`,
    );
  return causes;
}

function heldText({ count, why }: TenantDetail["held"], reason: string): string {
  return count === 0 || why !== reason ? "" : ` ${dueText(count)} ${count === 1 ? "is" : "are"} held.`;
}

function dueText(count: number): string {
  return plural(count, "due delivery", "due deliveries");
}

/** Whether its numbers say that one of its destinations gives trouble or is held. */
export function hasTrouble({
  gates,
  openBreakers,
  destinationsFailing,
  held,
}: Pick<TenantDetail, "gates" | "openBreakers" | "destinationsFailing" | "held">): boolean {
  return gates > 0 || openBreakers > 0 || destinationsFailing > 0 || heldThere(held);
}

function heldThere({ why }: TenantDetail["held"]): boolean {
  return why === "destination_paused" || why === "destination_disabled";
}

/** Whether something of it waits longer than its objective says. */
export function isLate({
  tenant,
  objectives,
  dueLag,
}: Pick<TenantAnswer, "objectives" | "dueLag"> & {
  tenant: Pick<TenantDetail, "firstAttemptMs" | "firstAttemptClass" | "due">;
}): boolean {
  const { firstAttemptTargetMs } = objectives[tenant.firstAttemptClass ?? "routine"];
  return tenant.firstAttemptMs > firstAttemptTargetMs || tenant.due.oldestMs > dueLag.warnMs;
}

export interface Cause {
  /** Goes on behind the destination's name: "answered 429: its gate is shut". */
  text: string;
  /** UTC; null: not known. */
  since: string | null;
  /** What comes next, with its moment behind it: "until", "the next probe goes". Null: nothing by itself. */
  next: { words: string; at: string } | null;
  /** The end of the sentence, behind the moments. */
  end: string;
}

type Troubled = Pick<
  DestinationHealth,
  "state" | "stateReason" | "stateSince" | "stateUntil" | "failing" | "failuresSinceSuccess"
>;

/** What a destination does to its deliveries; null: nothing. */
export function causeOf(row: Troubled, asOf: string): Cause | null {
  const { state, stateReason, stateSince: since, stateUntil: until } = row;
  const why = stateReason === null ? "" : `, ${stateReason}`;
  switch (state) {
    case "circuit_open": {
      const last = stateReason === null ? "" : `, the last request ended with ${stateReason}`;
      const text = `is judged down${last}: its breaker is open`;
      if (until === null || until <= asOf)
        return { text, since, next: null, end: "; single requests ask whether it is back" };
      return { text, since, next: { words: "; the next probe goes", at: until }, end: "" };
    }
    case "rate_limited":
      return {
        text: `${stateReason ?? "answered with a limit"}: its gate is shut`,
        since,
        next: until === null ? null : { words: "until", at: until },
        end: "; then one probe goes first",
      };
    case "disabled":
      return { text: `is disabled${why}: its deliveries are held`, since, next: null, end: "" };
    case "paused":
      return {
        text: `is paused${why}: its deliveries are held`,
        since,
        next: until === null ? null : { words: "until", at: until },
        end: "",
      };
    default:
      if (!row.failing || row.failuresSinceSuccess === 0) return null;
      return {
        text: `fails: ${plural(row.failuresSinceSuccess, "failure")} in a row`,
        since,
        next: null,
        end: "",
      };
  }
}

/** How much waits behind the destinations that are named. `single`: there is one, so that all of it is its own. Null: nothing. */
export function behindText(
  { gated, held }: Pick<TenantDetail, "gated" | "held">,
  single: boolean,
): string | null {
  const parts: string[] = [];
  if (gated > 0)
    parts.push(
      `${dueText(gated)} ${gated === 1 ? "waits" : "wait"} behind ${single ? "it" : "shut gates and open breakers"}`,
    );
  if (held.count > 0 && heldThere(held))
    parts.push(`${dueText(held.count)} ${held.count === 1 ? "is" : "are"} held`);
  return parts.length === 0 ? null : `${parts.join("; ")}.`;
}

/** "429 rate-limited", "timeout, outcome unknown"; null: it was never asked. */
export function lastAnswerText(last: LastResult | null): string | null {
  return last === null ? null : resultText(last.outcome, last.status) || null;
}
