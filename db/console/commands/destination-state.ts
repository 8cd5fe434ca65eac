/**
 * What workers remember of a destination, for the commands that steer it: gate and adaptive limit. It is locked after
 * the destination's own row, in the order in which everybody takes the two.
 */
import type { PoolClient } from "pg";
import { fromPublicId } from "#domain/ids.ts";
import type { Facts } from "./run-command.ts";

export interface StateRow {
  readonly hold_until_ms: number | null;
  readonly hold_why: string | null;
  readonly hold_status: number | null;
  readonly hold_retry_after: string | null;
  readonly hold_delivery_id: string | null;
  readonly probing: boolean;
  readonly consecutive_gates: number;
  readonly adaptive_limit: number | null;
  readonly adaptive_safe_limit: number | null;
  readonly adaptive_pinned: boolean;
}

export const STATE_COLUMNS = `(extract(epoch FROM hold_until) * 1000)::float8 AS hold_until_ms, hold_why, hold_status, hold_retry_after,
  hold_delivery_id, probing, consecutive_gates, adaptive_limit, adaptive_safe_limit, adaptive_pinned`;

/** Null when workers remember nothing: no gate, no adaptive limit. */
export async function lockState(client: PoolClient, destination: string): Promise<StateRow | null> {
  const { rows } = await client.query<StateRow>(
    `SELECT ${STATE_COLUMNS} FROM sluice.destination_state WHERE destination_id = $1 FOR UPDATE`,
    [fromPublicId("dst", destination)],
  );
  return rows[0] ?? null;
}

/** Counts a change of the state as a change of the destination, so that two people cannot steer it past each other. */
export async function bumpDestination(
  client: PoolClient,
  row: { id: string; version: number },
): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    "UPDATE sluice.destination SET version = version + 1 WHERE id = $1 AND version = $2 RETURNING version",
    [row.id, row.version],
  );
  if (rows[0] === undefined) throw new Error("a locked row was not updated");
  return rows[0].version;
}

export function adaptiveFacts(state: StateRow | null): Facts {
  return {
    adaptiveLimit: state?.adaptive_limit ?? null,
    safeLimit: state?.adaptive_safe_limit ?? null,
    pinned: state?.adaptive_pinned ?? false,
  };
}
