/**
 * The row of a delivery that still lives, locked, for the commands that are about one delivery. A claim skips a locked row,
 * and a leased one is refused here, so that no worker's outcome is ever overwritten.
 */
import type { PoolClient } from "pg";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { isoOf, stateConflict } from "./locked-row.ts";
import { type Facts, Refusal } from "./run-command.ts";

export interface LiveDelivery {
  readonly id: string;
  readonly tenant_id: string;
  readonly state: "ready" | "leased" | "delayed";
  readonly lane: "first" | "retry" | "replay";
  readonly due_ms: number;
  readonly attempts: number;
  /** What a person or the receiver holds it back with, or null. Caps and rates are no reason: they only take time. */
  readonly held: string | null;
}

const LIVE = `
  SELECT d.id, d.tenant_id, d.state, d.lane, d.attempts, (extract(epoch FROM d.due_at) * 1000)::float8 AS due_ms,
         CASE WHEN rc.draining THEN 'the claims of the region are stopped'
              WHEN t.pause_until > clock_timestamp() THEN 'its tenant is paused'
              WHEN x.pause_until > clock_timestamp() THEN 'its destination is paused'
              WHEN x.disabled_at IS NOT NULL THEN 'its destination is disabled'
              WHEN s.hold_until > clock_timestamp() THEN 'the gate of its destination is shut' END AS held
    FROM sluice.delivery d
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.tenant t ON t.id = d.tenant_id
    LEFT JOIN sluice.destination x ON x.id = d.destination_id
    LEFT JOIN sluice.destination_state s ON s.destination_id = d.destination_id
   WHERE d.id = $1 FOR UPDATE OF d`;

/** @throws Refusal `state_conflict` when it is in flight, dead or has ended; `not_found` */
export async function lockWaiting(client: PoolClient, publicId: string): Promise<LiveDelivery> {
  const id = fromPublicId("dlv", publicId);
  const { rows } = await client.query<LiveDelivery>(LIVE, [id]);
  const row = rows[0];
  if (row === undefined) throw await explainMissing(client, id, publicId);
  if (row.state === "leased") throw stateConflict("the delivery is in flight", deliveryFacts(row));
  return row;
}

export function deliveryFacts(row: LiveDelivery): Facts {
  return { state: row.state, lane: row.lane, dueAt: isoOf(row.due_ms), attempts: row.attempts };
}

async function explainMissing(client: PoolClient, id: string, publicId: string): Promise<Refusal> {
  const { rows } = await client.query<{ state: string }>(
    "SELECT state FROM sluice.delivery_all WHERE id = $1 LIMIT 1",
    [id],
  );
  const state = rows[0]?.state;
  if (state === undefined) {
    return new Refusal("conflict", new SluiceError("not_found", `${publicId} does not exist in this region`));
  }
  if (state === "dead") return stateConflict("a dead letter needs a reviewed batch", { state });
  return stateConflict(`the delivery has ended: ${state}`, { state });
}
