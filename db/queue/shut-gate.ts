/**
 * Shuts a destination's gate, at once and in its own statement: siblings must not spend attempts while the finish
 * batch is still being collected.
 */
import type { Queryable } from "./types.ts";

export interface ShutGate {
  readonly destinationId: string;
  readonly deliveryId: string;
  /** From now, by the database's clock. */
  readonly delayMs: number;
  /** Database time at which the request began that met the limit. */
  readonly startedMs: number;
  readonly why: "retry_after" | "rate_limited";
  readonly status: number | null;
  readonly retryAfter: string | null;
}

export interface GateState {
  readonly holdUntilMs: number;
  readonly consecutiveGates: number;
}

/** The gate never opens earlier than it would have before the call. */
export async function shutGate(pool: Queryable, gate: ShutGate): Promise<GateState> {
  const result = await pool.query<{ hold_until: Date; consecutive_gates: number }>({
    name: "sluice-shut-gate",
    text: "SELECT * FROM sluice.shut_gate($1, $2, $3, to_timestamp($4::float8 / 1000), $5, $6, $7)",
    values: [
      gate.destinationId,
      gate.deliveryId,
      Math.ceil(gate.delayMs),
      gate.startedMs,
      gate.why,
      gate.status,
      gate.retryAfter,
    ],
  });
  const row = result.rows[0];
  if (row === undefined) throw new Error("sluice.shut_gate returned no row");
  return { holdUntilMs: row.hold_until.getTime(), consecutiveGates: row.consecutive_gates };
}
