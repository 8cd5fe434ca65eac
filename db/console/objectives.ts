/**
 * What "late" means, by service class. These are the defaults; every number that a page compares with stands in the
 * answer of the API too, so that a screen never has a threshold of its own.
 */
import type { ServiceClass } from "#domain/delivery.ts";

export interface Objective {
  /** A new delivery should be tried within this. */
  firstAttemptTargetMs: number;
  firstAttemptWarnMs: number;
  firstAttemptPageMs: number;
}

export const OBJECTIVES: Readonly<Record<ServiceClass, Objective>> = {
  urgent: { firstAttemptTargetMs: 15_000, firstAttemptWarnMs: 8_000, firstAttemptPageMs: 60_000 },
  routine: { firstAttemptTargetMs: 120_000, firstAttemptWarnMs: 60_000, firstAttemptPageMs: 300_000 },
};

/** Due work that nobody claims, whatever its class. */
export const DUE_LAG = { warnMs: 15_000, pageMs: 60_000 } as const;

/** A dead letter that waits longer for a person is pointed out. */
export const DEAD_LETTER_WARN_MS = 24 * 60 * 60 * 1_000;

/** A worker that was not heard of for this long does not count as running. */
export const HEARTBEAT_LIMIT_MS = 10_000;

/** Samples are taken every 5 s; a series without one for this long has no data. */
export const SAMPLE_LIMIT_MS = 20_000;

/** Share of new deliveries that should be tried within their class's time. */
export const TRIED_SHARE_TARGET = 0.95;

/** Delayed attempts should leave within this of their due time. */
export const DELAYED_LAG_TARGET_MS = 15_000;

/** 429 answers of all requests: noted, and a reason to act. */
export const RATE_LIMITED_SHARE = { warn: 0.05, act: 0.1 } as const;
