/**
 * A region's controls on its own database, with the name of the system's user as the actor: for the night on which the
 * console is down. It must never be the way of somebody who gave a token: that one's role and scope would not count.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import type { Pool } from "pg";
import { readRegionUrl, urlSetting } from "#db/config.ts";
import { drainStatus } from "#db/console/commands/drain-status.ts";
import {
  type DestinationControl,
  findPayload,
  readDeadLetterVersion,
  readDestinationControl,
  readRegionControl,
  readTenantControl,
} from "#db/console/commands/read-control.ts";
import type { CommandAnswer, CommandContext } from "#db/console/commands/run-command.ts";
import { createPool } from "#db/pool.ts";
import { assertRegion } from "#db/regions.ts";
import { SluiceError } from "#domain/errors.ts";
import { uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { COMMANDS, type Controls } from "./commands.ts";

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
 * Opens a region's database, does the work and closes it. `anyStep` lifts the step rule of limits; the audit says so.
 * @throws SluiceError `bad_config`, `region_mismatch`, `database_unreachable`, and what the work throws
 */
export async function withDatabase<T>(
  region: Region,
  work: (controls: Controls) => Promise<T>,
  anyStep: boolean,
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
    // Whoever has the database's URL can do all of it anyway; the API says who may do what.
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
    destination: async (reference) => withoutOldGate(await readDestinationControl(pool, reference)),
    claims: () => readRegionControl(pool),
    drain: () => drainStatus(context),
    payload: (reference) => findPayload(pool, reference),
    deadLetter: (publicId) => readDeadLetterVersion(pool, publicId),
  };
}

/** The row remembers what last shut a gate; of one that is open the API says nothing, and no more is shown here. */
function withoutOldGate(control: DestinationControl): DestinationControl {
  if (control.gateUntil !== null) return control;
  return { ...control, gateWhy: null, gateStatus: null, gateRetryAfter: null };
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}
