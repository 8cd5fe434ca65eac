/** The health and the limits of a destination as text. A share is never rounded up to 100 %. */
import { formatCount } from "#components/ui/format.ts";
import type { Tone } from "#components/ui/status.tsx";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";

const WARN_BELOW = 0.99;
const BAD_BELOW = 0.9;

/** Null: there was no request, which is not 0 %. */
export function successTone({ requests, delivered }: DestinationHealth["success"]): Tone | null {
  if (requests === 0) return null;
  const share = delivered / requests;
  if (share < BAD_BELOW) return "danger";
  return share < WARN_BELOW ? "warn" : "neutral";
}

/** "99.9 % of 1,204". */
export function successText({ requests, delivered }: DestinationHealth["success"]): string {
  const share = requests === 0 ? 0 : Math.floor((delivered / requests) * 1_000) / 10;
  return `${share.toFixed(1)} % of ${formatCount(requests)}`;
}

/** "2 / 4 of 10, adaptive": in flight, what is allowed now, and the cap where that is more. */
export function concurrencyText(row: Pick<DestinationHealth, "inFlight" | "concurrency">): string {
  const cap = capText(row.concurrency);
  return `${allowedText(row)}${cap === null ? "" : ` ${cap}`}${row.concurrency.limit === null ? " (inherited)" : ""}`;
}

/** "2 / 4": in flight, and what is allowed now. */
export function allowedText({
  inFlight,
  concurrency: { desired, adaptive },
}: Pick<DestinationHealth, "inFlight" | "concurrency">): string {
  return `${formatCount(inFlight)} / ${formatCount(Math.min(desired, adaptive ?? desired))}`;
}

/** "of 10, adaptive": the cap, where less is allowed now; null: it is what is allowed. */
export function capText({ desired, adaptive, pinned }: DestinationHealth["concurrency"]): string | null {
  if (adaptive === null || adaptive >= desired) return null;
  return `of ${formatCount(desired)}, ${pinned ? "pinned" : "adaptive"}`;
}

/** "5/s, burst 10", or "none": a destination without a rate is limited by its concurrency alone. */
export function rateText({
  ratePerSecond,
  rateBurst,
}: Pick<DestinationHealth, "ratePerSecond" | "rateBurst">): string {
  if (ratePerSecond === null) return "none";
  const rate = Number.isInteger(ratePerSecond) ? formatCount(ratePerSecond) : String(ratePerSecond);
  return `${rate}/s${rateBurst > 1 ? `, burst ${formatCount(rateBurst)}` : ""}`;
}
