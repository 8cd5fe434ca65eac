/**
 * A control beside a claim that is open: the change commits, the barrier waits for the claim, and after its answer no
 * claim that is older than the change can still commit. What starts after that is a finding.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { drainStatus } from "#db/console/commands/drain-status.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { readTenantControl } from "#db/console/commands/read-control.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import type { CommandAnswer, CommandContext } from "#db/console/commands/run-command.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import { type Claim, claim } from "#db/queue/claim.ts";
import { release } from "#db/queue/release.ts";
import { toPublicId, uuidV7 } from "#domain/ids.ts";
import type { Place } from "../places.ts";
import type { RegionWorld } from "../world.ts";
import { type Arena, anyRegion, type Inject, LEASE_MS, placeOf, sure } from "./arena.ts";
import { BARRIER_CALL } from "./names.ts";
import { countLeases, countStarts, nowMs, takeClaimLock, waitingIn } from "./sql.ts";

const ROWS = 3;
const REASON = "a fault of a chaos run";
const PAUSE_MS = 600_000;
const LOOK_EVERY_MS = 20;
const BLOCKED_MS = 1_500;
/** How long the control holds after the last lease is gone. */
const HELD_MS = 500;
/** Leases that were out when the control came end by themselves within this. */
const LEASES_END_MS = LEASE_MS + 15_000;

interface OpenClaim {
  readonly client: PoolClient;
  readonly claimed: Claim;
}

/** A claim of rows that nobody else can have taken, not committed yet. */
async function openClaim(region: RegionWorld, place: Place): Promise<OpenClaim> {
  const client = await region.pool.connect();
  try {
    await client.query("BEGIN");
    await takeClaimLock(client);
    await region.load.write(place, ROWS);
    const lane = {
      serviceClass: "routine",
      tenantId: place.tenantId,
      destinationId: place.destinationId,
    } as const;
    const claimed = await claim(client, {
      owner: "sluice",
      workerId: randomUUID(),
      leaseMs: LEASE_MS,
      maxBytes: 1_000_000,
      entries: [
        { lane: "first", ...lane, wanted: ROWS },
        { lane: "first", ...lane, serviceClass: "urgent", wanted: ROWS },
      ],
    });
    return { client, claimed };
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Gives the command beside an open claim. Returns whether its barrier waited for the claim. */
async function commandBesideClaim(
  region: RegionWorld,
  place: Place,
  command: () => Promise<CommandAnswer>,
): Promise<boolean> {
  const { client, claimed } = await openClaim(region, place);
  let isOpen = true;
  let isAnswered = false;
  let hasWaited = false;
  try {
    const answer = command().finally(() => {
      isAnswered = true;
    });
    answer.catch(() => undefined);
    for (const untilMs = performance.now() + BLOCKED_MS; performance.now() < untilMs && !hasWaited; ) {
      hasWaited = !isAnswered && (await waitingIn(region.pool, BARRIER_CALL)).length > 0;
      if (!hasWaited) await pause(LOOK_EVERY_MS);
    }
    hasWaited &&= !isAnswered;
    await client.query("COMMIT");
    isOpen = false;
    return (await answer).applied && hasWaited && claimed.ids.length > 0;
  } finally {
    client.release(isOpen);
    // Nothing of it was sent. If this fails, the lease ends by itself.
    await release(region.pool, claimed.ids, claimed.token).catch(() => 0);
  }
}

/** Waits for the leases that were out, then watches: nothing may start any more. */
async function expectNothingStarts(arena: Arena, region: RegionWorld, tenantId: string | null, what: string) {
  for (const untilMs = performance.now() + LEASES_END_MS; ; await pause(LOOK_EVERY_MS)) {
    if ((await sure(() => countLeases(region.pool, tenantId))) === 0) break;
    if (performance.now() < untilMs) continue;
    arena.findings.controlBreaches.push(`${region.region}: leases are left long after ${what}`);
    return;
  }
  const sinceMs = await sure(() => nowMs(region.pool));
  await pause(HELD_MS);
  const leases = await sure(() => countLeases(region.pool, tenantId));
  const starts = await sure(() => countStarts(region.pool, tenantId, sinceMs));
  if (leases + starts > 0) {
    arena.findings.controlBreaches.push(
      `${region.region}: ${leases} leases and ${starts} requests after ${what}`,
    );
  }
}

interface Control {
  readonly what: string;
  /** Whose requests it holds; null for everybody's. */
  readonly tenantOf: (place: Place) => string | null;
  readonly on: (region: RegionWorld, place: Place) => Promise<CommandAnswer>;
  /** Puts it right whether or not it is on. */
  readonly off: (region: RegionWorld, place: Place) => Promise<unknown>;
}

async function beside(arena: Arena, { what, tenantOf, on, off }: Control): Promise<boolean> {
  const region = anyRegion(arena);
  const place = placeOf(region, "held");
  return arena.exclusive(async () => {
    try {
      const hasWaited = await commandBesideClaim(region, place, () => on(region, place));
      if (hasWaited) await expectNothingStarts(arena, region, tenantOf(place), what);
      return hasWaited;
    } catch {
      return false;
    } finally {
      await sure(() => off(region, place));
    }
  });
}

function contextOf({ region, pool }: RegionWorld): CommandContext {
  return {
    region,
    pool,
    actor: "cli:chaos",
    role: "admin",
    correlationId: "chaos",
    newId: () => uuidV7(Date.now(), randomBytes),
  };
}

const tenantControl = ({ pool }: RegionWorld, { tenantId }: Place) =>
  readTenantControl(pool, toPublicId("ten", tenantId));

export const barrierBesideClaim: Inject = (arena) =>
  beside(arena, {
    what: "the pause of a tenant",
    tenantOf: (place) => place.tenantId,
    on: async (region, place) => {
      const { id, version } = await tenantControl(region, place);
      return pauseTenant(contextOf(region), {
        tenantId: id,
        version,
        reason: REASON,
        end: { forMs: PAUSE_MS },
      });
    },
    off: async (region, place) => {
      const { id, version, pausedUntil } = await tenantControl(region, place);
      if (pausedUntil === null) return;
      await resumeTenant(contextOf(region), { tenantId: id, version, reason: REASON });
    },
  });

export const drainBesideClaim: Inject = (arena) =>
  beside(arena, {
    what: "the drain",
    tenantOf: () => null,
    on: async (region) => {
      const { version } = await drainStatus(contextOf(region));
      return stopClaims(contextOf(region), { version, reason: REASON });
    },
    off: async (region) => {
      const { version, claims } = await drainStatus(contextOf(region));
      if (claims === "on") return;
      await startClaims(contextOf(region), { version, reason: REASON });
    },
  });
