/**
 * What every fault may use: the world, chance, a hold on one worker at a time, and a turn at what concerns everybody.
 * A fault must put right what it did, whatever happens meanwhile: `sure` asks until the database answers.
 */
import { setTimeout as pause } from "node:timers/promises";
import { REGIONS, type Region } from "#domain/region.ts";
import type { WorkerSlot } from "../fleet.ts";
import { CHAOS_POLICY, type Place } from "../places.ts";
import type { Chance } from "../random.ts";
import { leasesOf } from "../sql.ts";
import type { RegionWorld, World } from "../world.ts";

/** What a fault saw that must not be. Each is one line. */
export interface Findings {
  /** Claims or requests after a control had answered. */
  readonly controlBreaches: string[];
  /** A region that did not go on although only one client of it stood still. */
  readonly stalls: string[];
  /** Stops by SIGTERM that did not end with 0, or left a lease behind. */
  readonly uncleanStops: string[];
}

export interface Arena {
  readonly world: World;
  readonly chance: Chance;
  readonly findings: Findings;
  /** Runs one at a time: faults that everybody feels, or that would be judged by what such a fault does. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
}

/** Injects one fault. Resolves with whether it took effect; one that found no hold is tried again later. */
export type Inject = (arena: Arena) => Promise<boolean>;

export const LEASE_MS = CHAOS_POLICY.leaseMs;
/** Longer than a lease by this much at least, so that the reconciler has taken the rows back meanwhile. */
const BEYOND_LEASE_MS = 1_500;
const SURE_MS = 60_000;
const SURE_EVERY_MS = 100;
const HOLD_MS = 1_500;
const FREE_MS = 60_000;
const FREE_EVERY_MS = 100;
const HOLD_EVERY_MS = 10;

export function makeArena(world: World, chance: Chance): Arena {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    world,
    chance,
    findings: { controlBreaches: [], stalls: [], uncleanStops: [] },
    exclusive(work) {
      const mine = turn.then(work, work);
      turn = mine.catch(() => undefined);
      return mine;
    },
  };
}

export function anyRegion({ world, chance }: Arena): RegionWorld {
  return world.regions[chance.pick(REGIONS)];
}

export function placeOf(region: RegionWorld, name: string): Place {
  const place = region.places.find((each) => each.name === name);
  if (place === undefined) throw new Error(`no place ${name} in ${region.region}`);
  return place;
}

/** Longer than the lease. */
export function beyondLease(chance: Chance): Promise<void> {
  return pause(LEASE_MS + BEYOND_LEASE_MS + chance.between(0, 1_000));
}

/** Takes a worker that nobody else has in hand, as long as another one of its region works on. Null when there is none. */
export function takeWorker(arena: Arena, among: readonly WorkerSlot[] | null = null): WorkerSlot | null {
  const free = REGIONS.flatMap((region: Region) => {
    const able = arena.world.regions[region].workers.filter((worker) => !worker.busy && worker.isUp);
    return able.length > 1 ? able : [];
  }).filter((worker) => among === null || among.includes(worker));
  if (free.length === 0) return null;
  const worker = arena.chance.pick(free);
  worker.busy = true;
  return worker;
}

/** Waits until there is one, for as long as any fault holds a worker. */
async function freeWorker(arena: Arena): Promise<WorkerSlot | null> {
  for (const untilMs = performance.now() + FREE_MS; ; await pause(FREE_EVERY_MS)) {
    const worker = takeWorker(arena);
    if (worker !== null || performance.now() > untilMs) return worker;
  }
}

/** Runs a fault on one worker and lets go of it afterwards. */
export async function withWorker(
  arena: Arena,
  work: (worker: WorkerSlot, region: RegionWorld) => Promise<boolean>,
): Promise<boolean> {
  const worker = await freeWorker(arena);
  if (worker === null) return false;
  try {
    return await work(worker, arena.world.regions[worker.region]);
  } finally {
    worker.busy = false;
  }
}

/** Waits a moment until the worker holds a lease, so that a fault hits it at work. */
export async function whileItHolds(worker: WorkerSlot, region: RegionWorld): Promise<void> {
  for (const untilMs = performance.now() + HOLD_MS; performance.now() < untilMs; await pause(HOLD_EVERY_MS)) {
    if ((await leasesOf(region.pool, worker.workerId).catch(() => [])).length > 0) return;
  }
}

/**
 * Does it until it is done. For what must not be left half done while the database comes and goes.
 * @throws the last error after a minute
 */
export async function sure<T>(work: () => Promise<T>): Promise<T> {
  for (const untilMs = performance.now() + SURE_MS; ; await pause(SURE_EVERY_MS)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
    }
  }
}
