/** Why a gate is shut, in words, from what the receiver answered. Pure. */
import type { GateView } from "#db/console/control-views.ts";

/** "429, Retry-After: 120" with the stored reason; what is not known is left out. */
export function gateReasonWords({
  why,
  status,
  retryAfter,
}: Pick<GateView, "why" | "status" | "retryAfter">): string {
  const parts = [
    why === null ? null : why.replaceAll("_", " "),
    status === null ? null : `status ${status}`,
    retryAfter === null ? null : `Retry-After: ${retryAfter}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "not known" : parts.join(", ");
}
