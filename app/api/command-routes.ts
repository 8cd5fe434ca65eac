/**
 * Every command of the API: what must be permitted, how the audit names it, and the function that does it. The routes
 * below app/api/v1 only name a line of this table; docs/api.md lists the same.
 */
import "server-only";
import { cancelDelivery } from "#db/console/commands/cancel-delivery.ts";
import { disableDestination } from "#db/console/commands/disable-destination.ts";
import { enableDestination } from "#db/console/commands/enable-destination.ts";
import { endPreviousSecret } from "#db/console/commands/end-previous-secret.ts";
import { erasePayload } from "#db/console/commands/erase-payload.ts";
import { liftRestriction } from "#db/console/commands/lift-restriction.ts";
import { openGate } from "#db/console/commands/open-gate.ts";
import { pauseDestination } from "#db/console/commands/pause-destination.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { pinAdaptiveLimit } from "#db/console/commands/pin-adaptive-limit.ts";
import { restrictPayload } from "#db/console/commands/restrict-payload.ts";
import { resumeDestination } from "#db/console/commands/resume-destination.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { retryNow } from "#db/console/commands/retry-now.ts";
import { rotateSecret } from "#db/console/commands/rotate-secret.ts";
import type { CommandContext } from "#db/console/commands/run-command.ts";
import { sendTestEvent, type TestEventContext } from "#db/console/commands/send-test-event.ts";
import { setDestinationLimits } from "#db/console/commands/set-destination-limits.ts";
import { setRegionDefaults } from "#db/console/commands/set-region-defaults.ts";
import { setTenantLimits } from "#db/console/commands/set-tenant-limits.ts";
import { setWeight } from "#db/console/commands/set-weight.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import { unpinAdaptiveLimit } from "#db/console/commands/unpin-adaptive-limit.ts";
import { willNotReplay } from "#db/console/commands/will-not-replay.ts";
import { consoleKeyring } from "#db/console/console-keyring.ts";
import { enqueueDelivery } from "#outbox/index.ts";
import type { CommandResult, CommandRoute } from "./command.ts";

type Run = CommandRoute["run"];

const tenant = (action: CommandRoute["action"], audit: string, run: Run): CommandRoute => ({
  action,
  audit,
  run,
  kind: "tenant",
  idField: "tenantId",
  versioned: true,
});

const destination = (action: CommandRoute["action"], audit: string, run: Run): CommandRoute => ({
  action,
  audit,
  run,
  kind: "destination",
  idField: "destinationId",
  versioned: true,
});

const region = (action: CommandRoute["action"], audit: string, run: Run): CommandRoute => ({
  action,
  audit,
  run,
  kind: "region",
  idField: null,
  versioned: true,
});

/** A live delivery has no version: its state is the guard. */
const delivery = (action: CommandRoute["action"], audit: string, run: Run): CommandRoute => ({
  action,
  audit,
  run,
  kind: "delivery",
  idField: "deliveryId",
  versioned: false,
});

/** A body is there or it is gone. */
const payload = (audit: string, run: Run): CommandRoute => ({
  action: "erase_payload",
  audit,
  run,
  kind: "payload",
  idField: "payloadId",
  versioned: false,
});

export const COMMANDS = {
  tenantPause: tenant("pause", "tenant.pause", pauseTenant),
  tenantResume: tenant("pause", "tenant.resume", resumeTenant),
  tenantLimits: tenant("limits", "tenant.limits", setTenantLimits),
  tenantWeight: tenant("limits", "tenant.weight", setWeight),

  destinationPause: destination("pause", "destination.pause", pauseDestination),
  destinationResume: destination("pause", "destination.resume", resumeDestination),
  destinationLimits: destination("limits", "destination.limits", setDestinationLimits),
  destinationPin: destination("limits", "destination.pin_adaptive", pinAdaptiveLimit),
  destinationUnpin: destination("limits", "destination.unpin_adaptive", unpinAdaptiveLimit),
  destinationDisable: destination("destination_disable", "destination.disable", disableDestination),
  destinationEnable: destination("destination_disable", "destination.enable", enableDestination),
  destinationOpenGate: destination("open_gate", "destination.open_gate", openGate),
  destinationRotateSecret: destination("rotate_secret", "destination.rotate_secret", rotate),
  destinationEndPreviousSecret: destination(
    "rotate_secret",
    "destination.end_previous_secret",
    endPreviousSecret,
  ),
  destinationTestEvent: destination("test_event", "destination.test_event", testEvent),

  regionStopClaims: region("region_claims", "region.stop_claims", stopClaims),
  regionStartClaims: region("region_claims", "region.start_claims", startClaims),
  regionDefaults: region("policies", "region.defaults", setRegionDefaults),

  deliveryRetryNow: delivery("retry_now", "delivery.retry_now", retryNow),
  deliveryCancel: delivery("cancel", "delivery.cancel", cancelDelivery),
  deliveryWillNotReplay: {
    ...delivery("will_not_replay", "dead_letter.will_not_replay", willNotReplay),
    auditKind: "dead_letter",
    versioned: true,
  },

  payloadErase: payload("payload.erase", erasePayload),
  payloadRestrict: payload("payload.restrict", restrictPayload),
  payloadLiftRestriction: payload("payload.lift_restriction", liftRestriction),
} as const satisfies Record<string, CommandRoute>;

/** The new secret stands in this one answer. A repeat gets `secret: null`: it is kept nowhere. */
async function rotate(context: CommandContext, input: never): Promise<CommandResult> {
  const { answer, secret, previousUntil } = await rotateSecret(
    { ...context, keyring: consoleKeyring() },
    input,
  );
  return { ...answer, secret, previousUntil };
}

function testEvent(context: CommandContext, input: never): Promise<CommandResult> {
  const enqueue: TestEventContext["enqueue"] = (client, wanted) =>
    enqueueDelivery(
      {
        $queryRawUnsafe: async <T>(text: string, ...values: unknown[]) =>
          (await client.query(text, values)).rows as T,
      },
      wanted,
    );
  return sendTestEvent({ ...context, enqueue }, input);
}
