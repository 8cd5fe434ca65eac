/**
 * What the pause dialog offers as an end, and how what was chosen or typed becomes one. Every pause has an end; a choice
 * that the role does not reach stays in sight with the reason. Pure: the time is the server's and is passed in.
 */
import type { Zone } from "#components/ui/format.ts";
import { fromWallClock } from "#components/ui/wall-clock.ts";
import { formatLength } from "#domain/queue-age.ts";
import { MAX_PAUSE_MS, MIN_PAUSE_MS } from "./bounds.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Lengths by their name; `custom` is a moment that is typed. */
const LENGTHS_MS = { "30m": 30 * MINUTE_MS, "1h": HOUR_MS, "4h": 4 * HOUR_MS, "24h": 24 * HOUR_MS } as const;
const LABELS = { "30m": "30 m", "1h": "1 h", "4h": "4 h", "24h": "24 h", custom: "Until a time" } as const;

export type PauseChoice = keyof typeof LABELS;
export const DEFAULT_PAUSE_CHOICE: PauseChoice = "1h";

export interface PauseOption {
  readonly value: PauseChoice;
  readonly label: string;
  /** Why it is not open to the caller. */
  readonly disabled?: string;
}

/** As the API takes it. */
export type PauseEnd = { readonly forMs: number } | { readonly until: string };

/** The choices in their order. `maxPauseMs` is the role's; absent: no bound but that of everybody. */
export function pauseOptions(maxPauseMs: number | undefined): PauseOption[] {
  const mostMs = Math.min(maxPauseMs ?? MAX_PAUSE_MS, MAX_PAUSE_MS);
  return (Object.keys(LABELS) as PauseChoice[]).map((value) => {
    const tooLong = value !== "custom" && LENGTHS_MS[value] > mostMs;
    return { value, label: LABELS[value], ...(tooLong ? { disabled: mostWords(mostMs) } : {}) };
  });
}

/** The longest pause of a role, in words. */
export function mostWords(maxPauseMs: number): string {
  return `Your role may pause for at most ${formatLength(maxPauseMs)}`;
}

export type PauseDraft =
  | { readonly end: PauseEnd; readonly endMs: number; readonly problem: null }
  | { readonly end: null; readonly endMs: null; readonly problem: string };

/**
 * The end that a choice stands for.
 * @param typed what the date field holds, a wall clock time in `zone`; only read for `custom`
 * @param nowMs the server's time
 */
export function readPauseDraft(
  choice: PauseChoice,
  typed: string,
  zone: Zone,
  nowMs: number,
  maxPauseMs: number | undefined,
): PauseDraft {
  if (choice !== "custom")
    return accept({ forMs: LENGTHS_MS[choice] }, nowMs + LENGTHS_MS[choice], nowMs, maxPauseMs);
  const endMs = fromWallClock(typed, zone);
  if (endMs === null) return refuse("Choose the day and the time at which the pause ends.");
  return accept({ until: new Date(endMs).toISOString() }, endMs, nowMs, maxPauseMs);
}

function accept(end: PauseEnd, endMs: number, nowMs: number, maxPauseMs: number | undefined): PauseDraft {
  const mostMs = Math.min(maxPauseMs ?? MAX_PAUSE_MS, MAX_PAUSE_MS);
  if (endMs - nowMs < MIN_PAUSE_MS) return refuse("The end must lie ahead.");
  if (endMs - nowMs > mostMs)
    return refuse(`${mostWords(mostMs)}. It can be extended later, with a new reason.`);
  return { end, endMs, problem: null };
}

function refuse(problem: string): PauseDraft {
  return { end: null, endMs: null, problem };
}

/** "for 1 h", "until 30 Nov 15:00": what the button says after its verb. */
export function lengthWords(choice: PauseChoice): string | null {
  return choice === "custom" ? null : `for ${LABELS[choice]}`;
}
