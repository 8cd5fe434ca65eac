/** Why a tenant's deliveries wait, as text. Pure; each sentence says only what its row holds. */
import { formatCount, plural } from "#components/ui/format.ts";
import { relativeTo } from "#components/ui/relative.ts";
import { resultText } from "#components/ui/words.ts";
import type { DestinationHealth, LastResult } from "#db/console/read-destination-health.ts";
import type { TenantDetail } from "#db/console/read-tenant.ts";

/** What is decided about the tenant itself, or its own cap that is used up; null: neither. */
export function ownCause(
  {
    deletedAt,
    pause,
    held,
    inFlight,
    concurrency,
    due,
  }: Pick<TenantDetail, "deletedAt" | "pause" | "held" | "inFlight" | "concurrency" | "due">,
  asOf: string,
): string | null {
  if (deletedAt !== null) return "It is deleted: nothing of it is sent.";
  if (pause !== null) {
    const waiting =
      held.count === 0
        ? ""
        : ` ${formatCount(held.count)} due ${held.count === 1 ? "delivery is" : "deliveries are"} held.`;
    return `It is paused and goes on by itself ${relativeTo(pause.until, asOf)}.${waiting}`;
  }
  if (due.count > 0 && inFlight >= concurrency.effective)
    return `Its own concurrency is used up: ${formatCount(inFlight)} of ${formatCount(concurrency.effective)} in flight, and ${formatCount(due.count)} due.`;
  return null;
}

/** Whether its numbers say that one of its destinations gives trouble or is held. */
export function hasTrouble({
  gates,
  openBreakers,
  destinationsFailing,
  held,
}: Pick<TenantDetail, "gates" | "openBreakers" | "destinationsFailing" | "held">): boolean {
  const heldThere = held.why === "destination_paused" || held.why === "destination_disabled";
  return gates > 0 || openBreakers > 0 || destinationsFailing > 0 || heldThere;
}

/** What a destination does to its deliveries, behind its name and before its end; null: nothing. */
export function causeOf({
  state,
  stateReason,
  failing,
  failuresSinceSuccess,
}: Pick<DestinationHealth, "state" | "stateReason" | "failing" | "failuresSinceSuccess">): string | null {
  const why = stateReason === null ? "" : `, ${stateReason}`;
  switch (state) {
    case "circuit_open":
      return "is judged down: single requests ask whether it is back, and all else waits";
    case "rate_limited":
      return "has asked to be left alone: nothing leaves for it";
    case "disabled":
      return `is disabled${why}: its deliveries are held`;
    case "paused":
      return `is paused${why}: its deliveries are held`;
    default:
      return failing && failuresSinceSuccess > 0
        ? `fails: ${plural(failuresSinceSuccess, "failure")} in a row`
        : null;
  }
}

/** "429", "no answer in time"; null: it was never asked. */
export function lastAnswerText(last: LastResult | null): string | null {
  return last === null ? null : resultText(last.outcome, last.status) || null;
}
