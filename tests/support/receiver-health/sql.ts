/**
 * What the tests of receiver health share: the stored state of a destination, and reports. Only tests import this, and
 * it never decides what is right.
 */
import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type HealthReport, noteHealth } from "#db/queue/note-health.ts";
import { shutGate } from "#db/queue/shut-gate.ts";
import type { Place } from "#tests/support/queue-rows/sql.ts";

export interface StateRow {
  adaptive_limit: number | null;
  adaptive_safe_limit: number | null;
  adaptive_pinned: boolean;
  adaptive_why: string | null;
  changed_ms: number | null;
  lowered_ms: number | null;
  breaker: "closed" | "open";
  until_ms: number | null;
  breaker_opens: number;
  down_in_row: number;
  down_ms: number | null;
  failures_since_success: number;
  failing_ms: number | null;
  success_ms: number | null;
}

const MS = (column: string, name: string) => `(extract(epoch FROM ${column}) * 1000)::float8 AS ${name}`;

export async function stateOf(pool: Pool, place: Place): Promise<StateRow> {
  const { rows } = await pool.query<StateRow>(
    `SELECT adaptive_limit, adaptive_safe_limit, adaptive_pinned, adaptive_why, breaker, breaker_opens, down_in_row, failures_since_success,
            ${MS("adaptive_changed_at", "changed_ms")}, ${MS("adaptive_lowered_at", "lowered_ms")}, ${MS("breaker_until", "until_ms")},
            ${MS("down_since", "down_ms")}, ${MS("failing_since", "failing_ms")}, ${MS("last_success_at", "success_ms")}
       FROM sluice.destination_state WHERE destination_id = $1`,
    [place.destinationId],
  );
  const row = rows[0];
  if (row === undefined) throw new Error("no state");
  return row;
}

export async function setState(
  pool: Pool,
  place: Place,
  columns: string,
  values: unknown[] = [],
): Promise<void> {
  await pool.query(
    "INSERT INTO sluice.destination_state (destination_id, region) VALUES ($1, 'us') ON CONFLICT DO NOTHING",
    [place.destinationId],
  );
  await pool.query(`UPDATE sluice.destination_state SET ${columns} WHERE destination_id = $1`, [
    place.destinationId,
    ...values,
  ]);
}

export async function report(pool: Pool, place: Place, what: Partial<HealthReport>, random = 0.5) {
  const row = { destination_id: place.destinationId, failures: 0, downs: 0, ...what };
  const [answer] = await noteHealth(pool, [row], random);
  if (answer === undefined) throw new Error("no answer");
  return answer;
}

/** `n` requests in a row without an answer, the first of them a while ago. */
export const down = (n: number, nowMs: number, agoMs = 40_000) => ({
  failures: n,
  first_failure_ms: nowMs - agoMs,
  downs: n,
  first_down_ms: nowMs - agoMs,
  last_down_started_ms: nowMs,
  down_why: "ECONNREFUSED",
});

export async function gate(pool: Pool, place: Place, startedMs: number): Promise<void> {
  await shutGate(pool, {
    destinationId: place.destinationId,
    deliveryId: randomUUID(),
    delayMs: 0,
    startedMs,
    why: "retry_after",
    status: 429,
    retryAfter: "1",
  });
}
