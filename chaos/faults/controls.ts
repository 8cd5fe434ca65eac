/**
 * A control beside a claim that is open: the change commits, the barrier waits for the claim, and after its answer no
 * claim that is older than the change can still commit. What starts after that is a finding.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { PoolClient } from "pg";
import { type Claim, claim } from "#db/queue/claim.ts";
import { release } from "#db/queue/release.ts";
import type { Place } from "../places.ts";
import type { RegionWorld } from "../world.ts";
import { type Arena, anyRegion, type Inject, LEASE_MS, placeOf, sure } from "./arena.ts";
import { BARRIER_CALL } from "./names.ts";
import {
  countLeases,
  countStarts,
  nowMs,
  pauseTenant,
  resumeTenant,
  setDraining,
  takeClaimLock,
  waitingIn,
} from "./sql.ts";

const ROWS = 3;
const LOOK_EVERY_MS = 20;
const BLOCKED_MS = 800;
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

/** Commits the change beside an open claim and answers it. Returns whether the barrier waited for the claim. */
async function answerBesideClaim(
  region: RegionWorld,
  place: Place,
  change: () => Promise<void>,
): Promise<boolean> {
  const { client, claimed } = await openClaim(region, place);
  let isOpen = true;
  let answered = false;
  let waited = false;
  try {
    await change();
    const barrier = takeClaimLock(region.pool).then(() => {
      answered = true;
    });
    for (const untilMs = performance.now() + BLOCKED_MS; performance.now() < untilMs && !waited; ) {
      waited = (await waitingIn(region.pool, BARRIER_CALL)).length > 0;
      if (!waited) await pause(LOOK_EVERY_MS);
    }
    waited &&= !answered;
    await client.query("COMMIT");
    isOpen = false;
    await barrier;
    return waited && claimed.ids.length > 0;
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

async function beside(
  arena: Arena,
  what: string,
  tenantOf: (place: Place) => string | null,
  on: (region: RegionWorld, place: Place) => Promise<void>,
  off: (region: RegionWorld, place: Place) => Promise<void>,
): Promise<boolean> {
  const region = anyRegion(arena);
  const place = placeOf(region, "held");
  return arena.exclusive(async () => {
    try {
      const waited = await answerBesideClaim(region, place, () => sure(() => on(region, place)));
      if (waited) await expectNothingStarts(arena, region, tenantOf(place), what);
      return waited;
    } catch {
      return false;
    } finally {
      await sure(() => off(region, place));
    }
  });
}

export const barrierBesideClaim: Inject = (arena) =>
  beside(
    arena,
    "the pause of a tenant",
    (place) => place.tenantId,
    (region, place) => pauseTenant(region.pool, place.tenantId),
    (region, place) => resumeTenant(region.pool, place.tenantId),
  );

export const drainBesideClaim: Inject = (arena) =>
  beside(
    arena,
    "the drain",
    () => null,
    (region) => setDraining(region.pool, true),
    (region) => setDraining(region.pool, false),
  );
