/**
 * The filters of the delivery list as texts: what each may hold and what it means. The address of the page, the API and
 * the export read them here, so that a link means the same everywhere. A text that means nothing is null, never "any".
 */
import { CANCEL_REASONS, DEAD_REASONS } from "./delivery.ts";
import type { BlockerName } from "./held-reason.ts";

/** What can hold due work and can be asked for; caps and rates change too fast to be a filter. */
export const HELD_FILTERS = [
  "region_draining",
  "tenant_paused",
  "destination_paused",
  "destination_disabled",
  "gate",
] as const satisfies readonly BlockerName[];
export type HeldFilter = (typeof HELD_FILTERS)[number];

/** Why a delivery ended, or what holds it. */
export const FILTER_REASONS = [...DEAD_REASONS, ...CANCEL_REASONS, ...HELD_FILTERS] as const;
export type FilterReason = (typeof FILTER_REASONS)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How far back a relative range reaches. */
export const RANGES_MS = { "1h": HOUR_MS, "6h": 6 * HOUR_MS, "24h": DAY_MS, "7d": 7 * DAY_MS } as const;
export type RangeName = keyof typeof RANGES_MS;
export const RANGE_NAMES = Object.keys(RANGES_MS) as [RangeName, ...RangeName[]];

/** `due`: oldest due first; only waiting deliveries have an order by due time. */
export const SORTS = ["due"] as const;

/** The most deliveries that one file or one action names by their ids. */
export const MAX_NAMED_DELIVERIES = 50;

/** Days of accepted deliveries that a filter without an index of its own looks at. */
export const WINDOW_MS = DAY_MS;
const MOST_ATTEMPTS = 1_000;
const MOST_AGE_MS = 90 * DAY_MS;

/** The last result: one status, a class of statuses, or no answer at all. */
export type CodeFilter =
  | { readonly kind: "status"; readonly low: number; readonly high: number }
  | { readonly kind: "outcome"; readonly outcome: "timeout" | "network" };

/** "429", "5xx", "timeout", "network". */
export function readCode(text: string): CodeFilter | null {
  if (text === "timeout" || text === "network") return { kind: "outcome", outcome: text };
  if (/^[1-5]\d\d$/.test(text)) return { kind: "status", low: Number(text), high: Number(text) };
  if (!/^[1-5]xx$/.test(text)) return null;
  const low = Number(text[0]) * 100;
  return { kind: "status", low, high: low + 99 };
}

/** "3.." -> 3: at least so many attempts. */
export function readAttempts(text: string): number | null {
  const match = /^(\d{1,4})\.\.$/.exec(text);
  const count = Number(match?.[1] ?? Number.NaN);
  return count >= 1 && count <= MOST_ATTEMPTS ? count : null;
}

const AGE_UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** "1h.." -> milliseconds: accepted at least so long ago. */
export function readAge(text: string): number | null {
  const match = /^(\d{1,4})([smhd])\.\.$/.exec(text);
  const ageMs = Number(match?.[1] ?? Number.NaN) * (AGE_UNITS_MS[match?.[2] ?? ""] ?? Number.NaN);
  return ageMs > 0 && ageMs <= MOST_AGE_MS ? ageMs : null;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?Z$/;

/** An ISO moment in UTC -> milliseconds; nothing else, because a local time means something else to each reader. */
export function readMoment(text: string): number | null {
  const ms = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** What an event type can be. */
export function isEventType(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(text);
}
