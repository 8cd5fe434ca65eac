/**
 * Opens a destination's gate before its time. One request goes first, as after every gate: the delivery that shut it,
 * whose due time becomes now. What shut the gate stays on the row as evidence until the next one.
 */
import type { PoolClient } from "pg";
import { OpenGate, readCommand } from "#domain/commands.ts";
import { bumpDestination, lockState, type StateRow } from "./destination-state.ts";
import { isoOf, lockDestination, stateConflict, versionConflict } from "./locked-row.ts";
import { type CommandAnswer, type CommandContext, type Facts, runCommand } from "./run-command.ts";

/** The opening travels in whole milliseconds. */
const ROUNDING_MS = 1;

/**
 * The other deliveries leave when the probe has an outcome that opens the gate; a request that was in flight and is
 * answered with 429 may shut it again.
 * @throws SluiceError `state_conflict` when it is not shut, `version_conflict` also when it was shut again for longer
 *   since the caller looked, and those of readCommand and runCommand
 */
export async function openGate(context: CommandContext, input: OpenGate): Promise<CommandAnswer> {
  const command = readCommand(OpenGate, input);
  const { reason, ticket, destinationId: targetId } = command;
  return runCommand(
    context,
    { action: "destination.open_gate", targetKind: "destination", targetId, reason, ticket },
    async (client, nowMs) => {
      const row = await lockDestination(client, targetId, command.version);
      const state = await lockState(client, targetId);
      if (state?.hold_until_ms == null || state.hold_until_ms <= nowMs) {
        throw stateConflict("the gate is not shut");
      }
      if (state.hold_until_ms > Date.parse(command.gateUntil) + ROUNDING_MS) {
        throw versionConflict("the gate (shut again since)", command.version, row.version, gateFacts(state));
      }
      await client.query(
        `UPDATE sluice.destination_state SET hold_until = clock_timestamp(), probing = true, updated_at = clock_timestamp()
          WHERE destination_id = $1`,
        [row.id],
      );
      const probeDelivery = await bringProbeForward(client, state.hold_delivery_id);
      return {
        tenantId: row.tenant_id,
        version: await bumpDestination(client, row),
        before: gateFacts(state),
        after: { gateUntil: null, probing: true, probeBroughtForward: probeDelivery },
      };
    },
  );
}

/** SKIP LOCKED: a claim or a finish that has the row in its hand is never waited for; another row is the probe then. */
async function bringProbeForward(client: PoolClient, deliveryId: string | null): Promise<boolean> {
  if (deliveryId === null) return false;
  const { rowCount } = await client.query(
    `WITH probe AS MATERIALIZED (
       SELECT d.id FROM sluice.delivery d WHERE d.id = $1 AND d.state = 'delayed' AND d.due_at > clock_timestamp() FOR UPDATE SKIP LOCKED)
     UPDATE sluice.delivery d SET due_at = clock_timestamp() FROM probe p WHERE d.id = p.id`,
    [deliveryId],
  );
  return rowCount === 1;
}

function gateFacts(state: StateRow): Facts {
  return {
    gateUntil: isoOf(state.hold_until_ms),
    why: state.hold_why,
    status: state.hold_status,
    retryAfter: state.hold_retry_after,
    consecutiveGates: state.consecutive_gates,
  };
}
