/**
 * Tells the database what a process saw of its destinations: trouble, and successes where there was trouble. The stored
 * state decides what follows (`sluice.note_health`), so that processes cannot fight. An ordinary success of a destination
 * without an adaptive limit, open breaker or failures must never come here: the hot path would pay for it.
 */
import { toPublicId } from "#domain/ids.ts";
import type { Queryable } from "./types.ts";

/** Most destinations of one call; the SQL function refuses more. */
export const MAX_HEALTH_ROWS = 200;

/** Times in milliseconds of the database's clock. What did not happen is left out. */
export interface HealthReport {
  readonly destination_id: string;
  /** Its last 2xx, and the failures after it. */
  readonly succeeded_ms?: number;
  readonly failures: number;
  readonly first_failure_ms?: number;
  /** Its last answer below 500, and the requests without one after it. */
  readonly alive_ms?: number;
  readonly downs: number;
  readonly first_down_ms?: number;
  readonly last_down_started_ms?: number;
  readonly down_why?: string;
  /** Latest start of a request that timed out. */
  readonly timeout_started_ms?: number;
  /** More successes per second than in the window before. */
  readonly drain_gained?: boolean;
  /** Mean duration of its successes. */
  readonly service_ms?: number;
  /** Since when work waited behind the adaptive limit without trouble, and successes since then. */
  readonly round_since_ms?: number;
  readonly round_successes?: number;
}

/** What stands in the database after the report. */
export interface HealthAnswer {
  readonly destinationId: string;
  readonly breaker: "closed" | "open";
  readonly breakerUntilMs: number | null;
  readonly breakerChanged: boolean;
  readonly adaptiveLimit: number | null;
  readonly adaptiveChangedAtMs: number | null;
  readonly adaptiveMoved: boolean;
  /** 20 failures in a row over 24 h: call `disableDestination`. */
  readonly toDisable: boolean;
}

/**
 * @param random in [0, 1), for the jitter of a breaker's time
 * @returns one answer for each destination that exists
 */
export async function noteHealth(
  pool: Queryable,
  reports: readonly HealthReport[],
  random: number,
): Promise<HealthAnswer[]> {
  const result = await pool.query<HealthAnswer>({
    name: "sluice-note-health",
    text: `SELECT destination_id AS "destinationId", breaker, (extract(epoch FROM breaker_until) * 1000)::float8 AS "breakerUntilMs",
                  breaker_changed AS "breakerChanged", adaptive_limit AS "adaptiveLimit",
                  (extract(epoch FROM adaptive_changed_at) * 1000)::float8 AS "adaptiveChangedAtMs",
                  adaptive_moved AS "adaptiveMoved", to_disable AS "toDisable"
             FROM sluice.note_health($1::json, $2)`,
    values: [JSON.stringify(reports), random],
  });
  return result.rows;
}

export interface DisableDestination {
  readonly destinationId: string;
  /** Why, as staff read it. */
  readonly reason: string;
  /** True: only if its row of failures is still long enough. */
  readonly automatic: boolean;
  /** `worker:<id>`: who says so. */
  readonly actor: string;
  /** A fresh UUIDv7 for the audit row. */
  readonly auditId: string;
  /** Ties the audit row to what it came from: the delivery's public id where there is one. */
  readonly correlationId: string;
}

/** Disables a destination and audits it, once. Held work stays. False when it was disabled already or no longer has to be. */
export async function disableDestination(pool: Queryable, what: DisableDestination): Promise<boolean> {
  const result = await pool.query<{ disabled: boolean }>({
    name: "sluice-disable-destination",
    text: "SELECT sluice.disable_destination($1, $2, $3, $4, $5, $6, $7) AS disabled",
    values: [
      what.destinationId,
      what.reason,
      what.automatic,
      what.actor,
      what.auditId,
      toPublicId("dst", what.destinationId),
      what.correlationId,
    ],
  });
  return result.rows[0]?.disabled ?? false;
}
