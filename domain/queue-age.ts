/**
 * THE definition of the ages by which everybody judges the queue: first-attempt age, due-but-unclaimed lag, and
 * what is held. The table, the chart, the alert and the metric take it from here or from SQL that a property
 * test compares with this. A drained queue has age 0; null is only for "no data" and is never made here.
 */
import type { Lane, LiveState } from "./delivery.ts";

/** Decisions of people that keep due work waiting. Such work is counted apart and pages nobody. */
export const HELD_REASONS = [
  "region_draining",
  "tenant_paused",
  "destination_disabled",
  "destination_paused",
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** What the ages need to know of one live row. All times in milliseconds of the database's clock. */
export interface AgeRow {
  readonly state: LiveState;
  readonly lane: Lane;
  /** Attempts whose outcome is stored. A lost lease is none: the row still waits for its first attempt. */
  readonly attemptsWithOutcome: number;
  readonly dueMs: number;
  /** The due time it was enqueued with, when something moved `dueMs` since without an outcome. */
  readonly firstDueMs?: number | null;
  /** When the row was written. No age counts from it: work planned for later is not late. */
  readonly createdMs: number;
  /** When the destination's gate opens or opened; null when it has none. */
  readonly gateUntilMs: number | null;
  readonly tenantPaused: boolean;
  readonly destinationPaused: boolean;
  readonly destinationDisabled: boolean;
  readonly regionDraining: boolean;
  /** Set when leased. */
  readonly leaseUntilMs: number | null;
}

export interface CountAndAge {
  readonly count: number;
  /** Age of the oldest; 0 when there is none. */
  readonly oldestMs: number;
}

export interface QueueAge {
  /** Oldest now - due time of a row without a stored outcome, leased ones included, held ones not. */
  readonly firstAttemptAgeMs: number;
  /** Waiting rows that could be claimed by anyone with a slot. Waiting for a cap or a rate is late, not held. */
  readonly dueUnclaimed: CountAndAge;
  /** Waiting rows whose due time has come and that people hold, behind a gate or not; ages from the due time. */
  readonly held: CountAndAge & { readonly byReason: Readonly<Record<HeldReason, number>> };
  /** Due rows behind a shut gate that nobody holds: neither late nor held. */
  readonly gated: number;
  /** Rows in state ready, due or planned for later. */
  readonly ready: number;
  /** Rows in state delayed, due or planned for later. */
  readonly delayed: number;
  /** Leased rows. */
  readonly inFlight: number;
  /** Of them, those whose lease ended without an outcome and that wait for the reconciler. */
  readonly expiredLeases: number;
}

/** The moment from which a waiting row can be late: its due time, or the opening of the gate if that is later. */
export function lateFromMs(row: Pick<AgeRow, "dueMs" | "gateUntilMs">): number {
  return row.gateUntilMs === null ? row.dueMs : Math.max(row.dueMs, row.gateUntilMs);
}

/** The one reason under which a row is counted as held, the widest first; null when nobody holds it. */
export function heldReasonOf(
  row: Pick<AgeRow, "tenantPaused" | "destinationPaused" | "destinationDisabled" | "regionDraining">,
): HeldReason | null {
  if (row.regionDraining) {
    return "region_draining";
  }
  if (row.tenantPaused) {
    return "tenant_paused";
  }
  if (row.destinationPaused) {
    return "destination_paused";
  }
  return row.destinationDisabled ? "destination_disabled" : null;
}

/** True for a row that waits: ready or delayed. */
export function isWaiting(row: Pick<AgeRow, "state">): boolean {
  return row.state !== "leased";
}

/**
 * First-attempt age of one row, leased or waiting, or null when it has none: it was tried, it is not due, or what
 * it belongs to is held. A shut gate does not stop this clock: the customer waits all the same.
 */
export function firstAttemptAgeMs(row: AgeRow, nowMs: number): number | null {
  if (row.lane !== "first" || row.attemptsWithOutcome > 0 || heldReasonOf(row) !== null) {
    return null;
  }
  const ageMs = nowMs - (row.firstDueMs ?? row.dueMs);
  return ageMs >= 0 ? ageMs : null;
}

/** First-attempt age of a delivery that was tried: from its due time to the start of its first request. */
export function firstAttemptLatencyMs(firstRequestStartMs: number, firstDueMs: number): number {
  return Math.max(0, firstRequestStartMs - firstDueMs);
}

/** How late a claim or request of any attempt was, counted from when it could be sent and never from creation. */
export function lagAtMs(row: Pick<AgeRow, "dueMs" | "gateUntilMs">, atMs: number): number {
  return Math.max(0, atMs - lateFromMs(row));
}

/** Sums up any set of live rows: a region, a tenant, a class, or one row. */
export function summarizeQueueAge(rows: Iterable<AgeRow>, nowMs: number): QueueAge {
  const dueUnclaimed = { count: 0, oldestMs: 0 };
  const held = { count: 0, oldestMs: 0 };
  const byReason = emptyByReason();
  const counts = { gated: 0, ready: 0, delayed: 0, inFlight: 0, expiredLeases: 0 };
  let oldestFirstMs = 0;
  for (const row of rows) {
    oldestFirstMs = Math.max(oldestFirstMs, firstAttemptAgeMs(row, nowMs) ?? 0);
    if (!isWaiting(row)) {
      const alive = row.leaseUntilMs !== null && row.leaseUntilMs > nowMs;
      counts.inFlight += 1;
      counts.expiredLeases += alive ? 0 : 1;
      continue;
    }
    counts[row.state === "ready" ? "ready" : "delayed"] += 1;
    if (row.dueMs > nowMs) {
      continue;
    }
    const reason = heldReasonOf(row);
    if (reason !== null) {
      byReason[reason] += 1;
      count(held, nowMs - row.dueMs);
    } else if (lateFromMs(row) > nowMs) {
      counts.gated += 1;
    } else {
      count(dueUnclaimed, lagAtMs(row, nowMs));
    }
  }
  return { firstAttemptAgeMs: oldestFirstMs, dueUnclaimed, held: { ...held, byReason }, ...counts };
}

/**
 * The second objective: the due-but-unclaimed lag of work that was attempted before, by itself. It is a part of
 * `dueUnclaimed` and is shown beside the first-attempt age, never blended with it.
 */
export function delayedLag(rows: Iterable<AgeRow>, nowMs: number): CountAndAge {
  return summarizeQueueAge(
    [...rows].filter((row) => row.lane !== "first"),
    nowMs,
  ).dueUnclaimed;
}

/** The summary of two disjoint sets of rows of one region. Ages of different regions are never merged. */
export function mergeQueueAge(a: QueueAge, b: QueueAge): QueueAge {
  const byReason = emptyByReason();
  for (const reason of HELD_REASONS) {
    byReason[reason] = a.held.byReason[reason] + b.held.byReason[reason];
  }
  return {
    firstAttemptAgeMs: Math.max(a.firstAttemptAgeMs, b.firstAttemptAgeMs),
    dueUnclaimed: mergeCountAndAge(a.dueUnclaimed, b.dueUnclaimed),
    held: { ...mergeCountAndAge(a.held, b.held), byReason },
    gated: a.gated + b.gated,
    ready: a.ready + b.ready,
    delayed: a.delayed + b.delayed,
    inFlight: a.inFlight + b.inFlight,
    expiredLeases: a.expiredLeases + b.expiredLeases,
  };
}

/** The summary of no rows at all: a drained queue. */
export function emptyQueueAge(): QueueAge {
  return summarizeQueueAge([], 0);
}

function count(target: { count: number; oldestMs: number }, ageMs: number): void {
  target.count += 1;
  target.oldestMs = Math.max(target.oldestMs, ageMs);
}

function emptyByReason(): Record<HeldReason, number> {
  return { region_draining: 0, tenant_paused: 0, destination_disabled: 0, destination_paused: 0 };
}

function mergeCountAndAge(a: CountAndAge, b: CountAndAge): CountAndAge {
  return { count: a.count + b.count, oldestMs: Math.max(a.oldestMs, b.oldestMs) };
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** What is shown where there is no measurement. Never 0. */
export const NO_DATA = "no data";

/**
 * An age for people, two units at most and rounded down: `0 s`, `35 ms`, `12 s`, `6 m 12 s`, `3 h 5 m`, `2 d 4 h`.
 * null, undefined and NaN are "no data".
 */
export function formatAge(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) {
    return NO_DATA;
  }
  const whole = Math.max(0, Math.floor(ms));
  if (whole < SECOND_MS) {
    return whole === 0 ? "0 s" : `${whole} ms`;
  }
  if (whole < MINUTE_MS) {
    return `${Math.floor(whole / SECOND_MS)} s`;
  }
  if (whole < HOUR_MS) {
    return `${Math.floor(whole / MINUTE_MS)} m ${Math.floor((whole % MINUTE_MS) / SECOND_MS)} s`;
  }
  if (whole < DAY_MS) {
    return `${Math.floor(whole / HOUR_MS)} h ${Math.floor((whole % HOUR_MS) / MINUTE_MS)} m`;
  }
  return `${Math.floor(whole / DAY_MS)} d ${Math.floor((whole % DAY_MS) / HOUR_MS)} h`;
}

/** A length that was chosen or configured, which is round, and so are its words: `4 h` where an age would say `4 h 0 m`. */
export function formatLength(ms: number): string {
  return formatAge(ms).replace(/ 0 [smh]$/, "");
}
