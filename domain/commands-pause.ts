/**
 * Pause and resume, as they are asked for. Pure. Every pause has an end and a reason: a pause without an end is how
 * work is forgotten.
 */
import { z } from "zod";
import { type ActorRole, ChangeFields, publicId } from "./commands.ts";
import { moment } from "./moment.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A pause shorter than this cannot be told from an accident. */
export const MIN_PAUSE_MS = 1_000;
/** No pause of anybody is longer. It can be extended, with a new reason. */
export const MAX_PAUSE_MS = 30 * DAY_MS;
/** The longest pause of each role. */
export const MAX_PAUSE_MS_OF_ROLE: Readonly<Record<ActorRole, number>> = {
  viewer: 0,
  support: 4 * HOUR_MS,
  operator: 7 * DAY_MS,
  admin: MAX_PAUSE_MS,
  system: 0,
};

/** Share of cap and rate that work from before a resume begins with; it doubles each minute. */
export const DEFAULT_RESUME_SHARE = 0.2;
/** The column has three decimals. */
export const MIN_RESUME_SHARE = 0.001;

const END_RULE = `a pause needs an end, from ${MIN_PAUSE_MS / 1_000} s to ${MAX_PAUSE_MS / DAY_MS} days from now`;

/** A length from the database's now, or a moment. */
export const PauseEnd = z.union(
  [
    z.strictObject({
      forMs: z.int({ error: END_RULE }).min(MIN_PAUSE_MS, END_RULE).max(MAX_PAUSE_MS, END_RULE),
    }),
    z.strictObject({
      until: moment(`${END_RULE}, like 2026-11-30T20:00:00Z`),
    }),
  ],
  { error: END_RULE },
);
export type PauseEnd = z.infer<typeof PauseEnd>;

const ResumeShare = z.number().min(MIN_RESUME_SHARE).max(1).default(DEFAULT_RESUME_SHARE);

export const PauseTenant = z.strictObject({ tenantId: publicId("ten"), ...ChangeFields, end: PauseEnd });
export const PauseDestination = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  end: PauseEnd,
});
/** `share` 1: no ramp. */
export const ResumeTenant = z.strictObject({
  tenantId: publicId("ten"),
  ...ChangeFields,
  share: ResumeShare,
});
export const ResumeDestination = z.strictObject({
  destinationId: publicId("dst"),
  ...ChangeFields,
  share: ResumeShare,
});
export type PauseTenant = z.input<typeof PauseTenant>;
export type PauseDestination = z.input<typeof PauseDestination>;
export type ResumeTenant = z.input<typeof ResumeTenant>;
export type ResumeDestination = z.input<typeof ResumeDestination>;

/** When a pause ends, in the database's time. */
export function pauseEndMs(end: PauseEnd, nowMs: number): number {
  return "forMs" in end ? nowMs + end.forMs : Date.parse(end.until);
}

/** Why this end cannot be, or null. */
export function refusePauseEnd(endMs: number, nowMs: number, role: ActorRole): string | null {
  const lengthMs = endMs - nowMs;
  if (lengthMs < MIN_PAUSE_MS) return "the end of the pause is not ahead";
  if (lengthMs > MAX_PAUSE_MS)
    return `a pause is at most ${MAX_PAUSE_MS / DAY_MS} days; extend it later, with a new reason`;
  return lengthMs > MAX_PAUSE_MS_OF_ROLE[role] ? tooLongFor(role) : null;
}

/** Whether only the role stands in the way. */
export function isTooLongForRole(endMs: number, nowMs: number, role: ActorRole): boolean {
  const lengthMs = endMs - nowMs;
  return lengthMs <= MAX_PAUSE_MS && lengthMs > MAX_PAUSE_MS_OF_ROLE[role];
}

function tooLongFor(role: ActorRole): string {
  const mostMs = MAX_PAUSE_MS_OF_ROLE[role];
  return mostMs === 0
    ? `the role ${role} may not pause`
    : `the role ${role} may pause for at most ${mostMs / HOUR_MS} hours`;
}
