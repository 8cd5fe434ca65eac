/**
 * Sends a signed test event to a destination: an ordinary delivery of the type `sluice.test`, written in the transaction
 * of its audit row, claimed, signed, limited and recorded like any other. It must never go past a pause, a gate or a limit:
 * what it proves is the way that real deliveries take.
 */
import type { PoolClient } from "pg";
import { DestinationCommand, readCommand } from "#domain/commands.ts";
import { SluiceError } from "#domain/errors.ts";
import { lockState } from "./destination-state.ts";
import { isoOf, isPaused, lockDestination, stateConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, type Facts, Refusal, runCommand } from "./run-command.ts";

export const TEST_EVENT_TYPE = "sluice.test";
/** One test event of a destination in this time, whoever sends it. */
export const TEST_EVENT_EVERY_MS = 10_000;

/** What the outbox's `enqueueDelivery` is given; the caller brings it, because this room may not import the outbox. */
export interface TestDelivery {
  readonly region: string;
  readonly tenantId: string;
  readonly destinationId: string;
  readonly eventType: string;
  readonly idempotencyKey: string;
  readonly body: string;
}

export interface TestEventContext extends CommandContext {
  /** Writes the delivery in the client's transaction. */
  readonly enqueue: (
    client: PoolClient,
    delivery: TestDelivery,
  ) => Promise<{ readonly deliveryId: string; readonly status: string }>;
}

/**
 * `after.deliveryId` names the delivery; `after.waitsForGate` says until when a shut gate holds it.
 * @throws SluiceError `state_conflict` while the destination, its tenant or the region is held (it would only wait),
 *   `too_many_requests` with `retryAfterMs`, and those of readCommand and runCommand
 */
export async function sendTestEvent(
  context: TestEventContext,
  input: DestinationCommand,
): Promise<CommandAnswer> {
  const command = readCommand(DestinationCommand, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.test_event", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      await refuseHeld(client, row.tenant_id, row.disabled_ms !== null, isPaused(row, nowMs));
      await refuseSoon(client, targetId);
      const { deliveryId } = await context.enqueue(client, {
        region: context.region,
        tenantId: row.tenant_id,
        destinationId: row.id,
        eventType: TEST_EVENT_TYPE,
        idempotencyKey: `${TEST_EVENT_TYPE}:${context.newId()}`,
        body: JSON.stringify({
          type: TEST_EVENT_TYPE,
          data: { destination: targetId, sentAt: new Date(nowMs).toISOString() },
        }),
      });
      const gateMs = (await lockState(client, targetId))?.hold_until_ms ?? null;
      const waitsForGate = gateMs !== null && gateMs > nowMs ? isoOf(gateMs) : null;
      const after: Facts = { deliveryId, eventType: TEST_EVENT_TYPE, waitsForGate };
      return { tenantId: row.tenant_id, version: row.version, before: {}, after };
    },
  );
}

async function refuseHeld(
  client: PoolClient,
  tenantId: string,
  disabled: boolean,
  paused: boolean,
): Promise<void> {
  const { rows } = await client.query<{ draining: boolean; tenant_paused: boolean }>(
    `SELECT rc.draining, coalesce(t.pause_until > clock_timestamp(), false) AS tenant_paused
       FROM sluice.region_control rc LEFT JOIN sluice.tenant t ON t.id = $1`,
    [tenantId],
  );
  const why =
    (disabled && "the destination is disabled") ||
    (paused && "the destination is paused") ||
    (rows[0]?.tenant_paused && "its tenant is paused") ||
    (rows[0]?.draining && "the claims of the region are stopped");
  if (why) throw stateConflict(`a test event would only be held: ${why}`);
}

/** By rows, so that it holds across processes; the destination's row is locked, so that two at once are one after the other. */
async function refuseSoon(client: PoolClient, targetId: string): Promise<void> {
  const { rows } = await client.query<{ since_ms: number }>(
    `SELECT (extract(epoch FROM clock_timestamp() - at) * 1000)::float8 AS since_ms ${LAST_TEST_EVENT}`,
    [targetId, TEST_EVENT_EVERY_MS],
  );
  if (rows[0] === undefined) return;
  const retryAfterMs = Math.max(1, Math.ceil(TEST_EVENT_EVERY_MS - rows[0].since_ms));
  const detail = `a test event was sent a moment ago: one in ${TEST_EVENT_EVERY_MS / 1_000} s for each destination`;
  throw new Refusal("conflict", new SluiceError("too_many_requests", detail, { retryAfterMs }));
}

/** $1 the destination's public id, $2 the length of the window in ms. */
export const LAST_TEST_EVENT = `
  FROM sluice.operator_action WHERE target_kind = 'destination' AND target_id = $1 AND action = 'destination.test_event'
   AND result = 'done' AND at > clock_timestamp() - $2::float8 * interval '1 millisecond' ORDER BY at DESC LIMIT 1`;
