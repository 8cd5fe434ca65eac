/**
 * What a verb can do in one region, whichever way it goes there: the commands by their names, and what is read before one.
 * Nothing here may know a database, an address or who asks: by-database.ts and by-api.ts do.
 */
import { cancelDelivery } from "#db/console/commands/cancel-delivery.ts";
import { disableDestination } from "#db/console/commands/disable-destination.ts";
import type { DrainStatus } from "#db/console/commands/drain-status.ts";
import { enableDestination } from "#db/console/commands/enable-destination.ts";
import { erasePayload } from "#db/console/commands/erase-payload.ts";
import { liftRestriction } from "#db/console/commands/lift-restriction.ts";
import { openGate } from "#db/console/commands/open-gate.ts";
import { pauseDestination } from "#db/console/commands/pause-destination.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { pinAdaptiveLimit } from "#db/console/commands/pin-adaptive-limit.ts";
import type { DestinationControl, RegionControl, TenantControl } from "#db/console/commands/read-control.ts";
import { restrictPayload } from "#db/console/commands/restrict-payload.ts";
import { resumeDestination } from "#db/console/commands/resume-destination.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { retryNow } from "#db/console/commands/retry-now.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import { setDestinationLimits } from "#db/console/commands/set-destination-limits.ts";
import { setRegionDefaults } from "#db/console/commands/set-region-defaults.ts";
import { setTenantLimits } from "#db/console/commands/set-tenant-limits.ts";
import { setWeight } from "#db/console/commands/set-weight.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import { unpinAdaptiveLimit } from "#db/console/commands/unpin-adaptive-limit.ts";
import { willNotReplay } from "#db/console/commands/will-not-replay.ts";
import type { Region } from "#domain/region.ts";

export const COMMANDS = {
  pauseTenant,
  resumeTenant,
  pauseDestination,
  resumeDestination,
  stopClaims,
  startClaims,
  setTenantLimits,
  setDestinationLimits,
  setWeight,
  pinAdaptiveLimit,
  unpinAdaptiveLimit,
  openGate,
  enableDestination,
  disableDestination,
  erasePayload,
  restrictPayload,
  liftRestriction,
  retryNow,
  cancelDelivery,
  willNotReplay,
  setRegionDefaults,
} as const;

type Commands = typeof COMMANDS;
export type CommandName = keyof Commands;
export type CommandInput<Name extends CommandName> = Parameters<Commands[Name]>[1];

/**
 * A region as the verbs see it. A change names the version that it is based on. What is refused is a SluiceError or a
 * Refused, with the same words both ways where both can know them.
 */
export interface Controls {
  readonly region: Region;
  change<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandAnswer>;
  /** @param reference `ten_...` or a slug */
  tenant(reference: string): Promise<TenantControl>;
  /** @param reference `dst_...` or `<tenant slug>/<name>` */
  destination(reference: string): Promise<DestinationControl>;
  claims(): Promise<RegionControl>;
  drain(): Promise<DrainStatus>;
  /**
   * The `pay_...` of a body.
   * @param reference `pay_...`, or the `dlv_...` of a delivery that uses it
   */
  payload(reference: string): Promise<string>;
  /** The version of a dead letter. */
  deadLetter(publicId: string): Promise<number>;
}
