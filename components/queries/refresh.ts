/** How often pages read again, as a person can choose it. Pure; the choice is kept by the preferences. */

/** In the order of the menu. */
export const REFRESH_CHOICES = ["live", "5s", "15s", "60s", "off"] as const;
export type RefreshChoice = (typeof REFRESH_CHOICES)[number];

/** Time between two reads of a live page. */
export const POLL_MS = 5_000;
/** Answers older than this many intervals are called stale. */
const STALE_INTERVALS = 3;

const INTERVALS_MS: Readonly<Record<RefreshChoice, number>> = {
  live: POLL_MS,
  "5s": 5_000,
  "15s": 15_000,
  "60s": 60_000,
  // Nothing is read, so nothing can be expected: ages of a paused page are told as they are.
  off: POLL_MS,
};

export interface Refresh {
  choice: RefreshChoice;
  intervalMs: number;
  staleAfterMs: number;
  /** A live page also reads at once when a person comes back to it; the others go by the clock alone. */
  onFocus: boolean;
}

/** Anything unknown is "live". */
export function refreshOf(text: string): Refresh {
  const choice = REFRESH_CHOICES.find((known) => known === text) ?? "live";
  const intervalMs = INTERVALS_MS[choice];
  return { choice, intervalMs, staleAfterMs: STALE_INTERVALS * intervalMs, onFocus: choice === "live" };
}

/** "Live", "Every 15 s", "Off": in the menu. */
export function refreshLabel(choice: RefreshChoice): string {
  if (choice === "live") return "Live: every 5 s, and at once on return";
  if (choice === "off") return "Off";
  return `Every ${INTERVALS_MS[choice] / 1_000} s`;
}

/** "Live 5 s", "Every 15 s": of a page that is fresh. */
export function refreshWords({ choice, intervalMs }: Pick<Refresh, "choice" | "intervalMs">): string {
  return `${choice === "live" ? "Live" : "Every"} ${intervalMs / 1_000} s`;
}
