/**
 * How the command line reaches a region's controls: today with that region's database and the name of the system's user
 * as the actor. When the API has sign-in, only this file changes: the verbs know the functions below and nothing else.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import type { Pool } from "pg";
import { readRegionUrl, urlSetting } from "#db/config.ts";
import { cancelDelivery } from "#db/console/commands/cancel-delivery.ts";
import { disableDestination } from "#db/console/commands/disable-destination.ts";
import { drainStatus } from "#db/console/commands/drain-status.ts";
import { enableDestination } from "#db/console/commands/enable-destination.ts";
import { erasePayload } from "#db/console/commands/erase-payload.ts";
import { liftRestriction } from "#db/console/commands/lift-restriction.ts";
import { openGate } from "#db/console/commands/open-gate.ts";
import { pauseDestination } from "#db/console/commands/pause-destination.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { pinAdaptiveLimit } from "#db/console/commands/pin-adaptive-limit.ts";
import {
  findPayload,
  readDeadLetterVersion,
  readDestinationControl,
  readRegionControl,
  readTenantControl,
} from "#db/console/commands/read-control.ts";
import { restrictPayload } from "#db/console/commands/restrict-payload.ts";
import { resumeDestination } from "#db/console/commands/resume-destination.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { retryNow } from "#db/console/commands/retry-now.ts";
import type { CommandAnswer, CommandContext } from "#db/console/commands/run-command.ts";
import { setDestinationLimits } from "#db/console/commands/set-destination-limits.ts";
import { setRegionDefaults } from "#db/console/commands/set-region-defaults.ts";
import { setTenantLimits } from "#db/console/commands/set-tenant-limits.ts";
import { setWeight } from "#db/console/commands/set-weight.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import { unpinAdaptiveLimit } from "#db/console/commands/unpin-adaptive-limit.ts";
import { willNotReplay } from "#db/console/commands/will-not-replay.ts";
import { createPool } from "#db/pool.ts";
import { assertRegion } from "#db/regions.ts";
import { SluiceError } from "#domain/errors.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";

const COMMANDS = {
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

/** What a verb can do in one region. A change names the version that it is based on. */
export interface Controls {
  readonly region: Region;
  change<Name extends keyof Commands>(
    name: Name,
    input: Parameters<Commands[Name]>[1],
  ): Promise<CommandAnswer>;
  tenant(reference: string): ReturnType<typeof readTenantControl>;
  destination(reference: string): ReturnType<typeof readDestinationControl>;
  claims(): ReturnType<typeof readRegionControl>;
  drain(): ReturnType<typeof drainStatus>;
  payload(reference: string): Promise<string>;
  /** The version of a dead letter. */
  deadLetter(publicId: string): Promise<number>;
}

const POOL_MAX = 2;
const STATEMENT_TIMEOUT_MS = 15_000;
const UNREACHABLE: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EHOSTUNREACH",
]);

/**
 * Opens a region's controls, does the work and closes them. `anyStep` lifts the step rule of limits; the audit says so.
 * @throws SluiceError `bad_config`, `region_mismatch`, `database_unreachable`, and what the work throws
 */
export async function withControls<T>(
  region: Region,
  work: (controls: Controls) => Promise<T>,
  { anyStep = false }: { readonly anyStep?: boolean } = {},
): Promise<T> {
  const pool = createPool({
    connectionString: readRegionUrl(region),
    max: POOL_MAX,
    applicationName: `sluice-cli-${region}`,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    await assertRegion(pool, region);
    return await work(controlsOf(contextOf(region, pool, anyStep)));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined || !UNREACHABLE.has(code)) throw error;
    throw new SluiceError(
      "database_unreachable",
      `the database of region ${region} does not answer (${code}): check ${urlSetting(region)}`,
    );
  } finally {
    await pool.end();
  }
}

function contextOf(region: Region, pool: Pool, anyStep: boolean): CommandContext {
  return {
    region,
    pool,
    actor: `cli:${userName()}`,
    // Whoever has the database's URL can do all of it anyway; the API will say who may do what.
    role: "operator",
    correlationId: randomUUID(),
    newId: () => uuidV7(Date.now(), randomBytes),
    limitRules: { steps: !anyStep },
  };
}

function controlsOf(context: CommandContext): Controls {
  const { region, pool } = context;
  return {
    region,
    change: (name, input) => {
      const command = COMMANDS[name] as (context: CommandContext, input: unknown) => Promise<CommandAnswer>;
      return command(context, input);
    },
    tenant: (reference) => readTenantControl(pool, reference),
    destination: (reference) => readDestinationControl(pool, reference),
    claims: () => readRegionControl(pool),
    drain: () => drainStatus(context),
    payload: (reference) => findPayload(pool, reference),
    deadLetter: (publicId) => readDeadLetterVersion(pool, publicId),
  };
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
