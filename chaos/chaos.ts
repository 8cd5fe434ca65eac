/**
 * A run: load in both regions, faults at random from the seed, rest, evidence, judgement. Every wait has an end, so a
 * run that cannot come to rest says so; it never waits for ever and never leaves a process behind.
 */
import { setTimeout as pause } from "node:timers/promises";
import { REGIONS } from "#domain/region.ts";
import { type Judgement, judge } from "./check.ts";
import { collect } from "./collect.ts";
import { type ChaosOptions, DELIVERIES_PER_FAULT } from "./config.ts";
import type { Evidence } from "./evidence.ts";
import { type Arena, type Findings, makeArena } from "./faults/arena.ts";
import { FAULTS } from "./faults/index.ts";
import type { FaultKind } from "./kinds.ts";
import { chanceFrom } from "./random.ts";
import { countLive, describeLive } from "./sql.ts";
import { openWorld, type World } from "./world.ts";

export interface ChaosResult {
  readonly options: ChaosOptions;
  readonly faultsByKind: Readonly<Record<string, number>>;
  /** Faults that found no hold and were tried again. */
  readonly misses: number;
  readonly findings: Findings;
  readonly unexpectedExits: readonly string[];
  /** What is left when the run did not come to rest in time; empty otherwise. */
  readonly restless: readonly string[];
  readonly evidence: Evidence;
  /** What each worker process has said, by worker id. */
  readonly words: Readonly<Record<string, string>>;
  readonly judgement: Judgement;
  readonly loadSeconds: number;
  readonly restSeconds: number;
  readonly seconds: number;
  /** Transactions of the writers that had to be tried again. */
  readonly writerFailures: number;
}

/** Faults at work at once. */
const MAX_AT_ONCE = 6;
/** Tries of one kind that found no hold before the run gives it up; the summary then shows what is missing. */
const MAX_MISSES_PER_FAULT = 10;
const MISS_PAUSE_MS = 200;
const LOOK_MS = 250;
/** After the last fault and the end of the load. */
const REST_MS = 180_000;
/** A load that the workers do not take is ended all the same. */
const LOAD_LIMIT = 5;
const LOAD_LIMIT_MIN_SECONDS = 120;

/** @param say hears one line for each thing that happens */
export async function runChaos(options: ChaosOptions, say: (line: string) => void): Promise<ChaosResult> {
  const begunAt = performance.now();
  const world = await openWorld(options);
  try {
    say(
      `two regions, ${options.workers} workers each, ${options.perSecond} deliveries/s, seed ${options.seed}`,
    );
    const arena = makeArena(world, chanceFrom(options.seed));
    const reviving = keepAlive(world);
    const loadBegunAt = performance.now();
    for (const region of REGIONS) world.regions[region].load.start(options.perSecond / REGIONS.length);
    const { faultsByKind, misses } = await injectAll(arena, options, say);
    await keepLoadUp(world, options, loadBegunAt);
    await Promise.all(REGIONS.map((region) => world.regions[region].load.stop()));
    const loadSeconds = (performance.now() - loadBegunAt) / 1_000;
    say(`${written(world)} deliveries written in ${loadSeconds.toFixed(0)} s; waiting for rest`);
    const restBegunAt = performance.now();
    const restless = await rest(world);
    const restSeconds = (performance.now() - restBegunAt) / 1_000;
    await reviving.stop();
    await stopWorkers(world, arena.findings);
    say("collecting the evidence");
    const evidence = await collect(world);
    return {
      options,
      faultsByKind,
      misses,
      findings: arena.findings,
      unexpectedExits: world.log.unexpectedExits,
      restless,
      evidence,
      words: Object.fromEntries(world.log.words),
      judgement: judge(evidence),
      loadSeconds,
      restSeconds,
      seconds: (performance.now() - begunAt) / 1_000,
      writerFailures: world.regions.us.load.failures + world.regions.eu.load.failures,
    };
  } finally {
    await world.close();
  }
}

function written(world: World): number {
  return world.regions.us.load.ledger.length + world.regions.eu.load.ledger.length;
}

/** Kinds in shuffled rounds, so that each comes about equally often, spread over the seconds of the run. */
export function orderOfFaults(options: Pick<ChaosOptions, "faults" | "kinds" | "seed">): FaultKind[] {
  const chance = chanceFrom(options.seed);
  const order: FaultKind[] = [];
  while (order.length < options.faults) order.push(...chance.shuffle(options.kinds));
  return order.slice(0, options.faults);
}

async function injectAll(
  arena: Arena,
  options: ChaosOptions,
  say: (line: string) => void,
): Promise<{ faultsByKind: Record<string, number>; misses: number }> {
  const faultsByKind: Record<string, number> = Object.fromEntries(options.kinds.map((kind) => [kind, 0]));
  const running = new Set<Promise<void>>();
  const gapMs = (options.seconds * 1_000) / options.faults;
  const begunAt = performance.now();
  let misses = 0;
  const inject = async (kind: FaultKind, number: number) => {
    for (let attempt = 0; attempt <= MAX_MISSES_PER_FAULT; attempt++) {
      const tookEffect = await FAULTS[kind](arena).catch((error: unknown) => {
        say(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
        return false;
      });
      if (tookEffect) {
        faultsByKind[kind] = (faultsByKind[kind] ?? 0) + 1;
        say(`${((performance.now() - begunAt) / 1_000).toFixed(1)} s  fault ${number}: ${kind}`);
        return;
      }
      misses++;
      await pause(MISS_PAUSE_MS);
    }
    say(`fault ${number}: ${kind} found no hold`);
  };
  for (const [index, kind] of orderOfFaults(options).entries()) {
    const waitMs = begunAt + (index + arena.chance.next()) * gapMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    while (running.size >= MAX_AT_ONCE) await Promise.race(running);
    const fault: Promise<void> = inject(kind, index + 1).finally(() => running.delete(fault));
    running.add(fault);
  }
  await Promise.all(running);
  return { faultsByKind, misses };
}

/** Until the run has been as long and written as much as it should. */
async function keepLoadUp(world: World, options: ChaosOptions, begunAt: number): Promise<void> {
  const least = options.faults * DELIVERIES_PER_FAULT;
  const mostSeconds = Math.max(LOAD_LIMIT_MIN_SECONDS, options.seconds * LOAD_LIMIT);
  for (;;) {
    const seconds = (performance.now() - begunAt) / 1_000;
    if ((written(world) >= least && seconds >= options.seconds) || seconds > mostSeconds) return;
    await pause(LOOK_MS);
  }
}

/** Waits until no delivery is live. Returns what is left when that takes too long. */
async function rest(world: World): Promise<string[]> {
  for (const untilMs = performance.now() + REST_MS; performance.now() < untilMs; await pause(LOOK_MS)) {
    const live = await Promise.all(
      REGIONS.map((region) => countLive(world.regions[region].pool).catch(() => 1)),
    );
    if (live.every((count) => count === 0)) return [];
  }
  const left: string[] = [];
  for (const region of REGIONS) {
    const { pool } = world.regions[region];
    left.push(`${region}: ${await countLive(pool)} live`, ...(await describeLive(pool)));
  }
  return left;
}

function keepAlive(world: World): { stop(): Promise<void> } {
  let isOver = false;
  const workers = REGIONS.flatMap((region) => world.regions[region].workers);
  const loop = (async () => {
    while (!isOver) {
      await Promise.all(workers.map((worker) => worker.revive()));
      await pause(LOOK_MS);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
    },
  };
}

async function stopWorkers(world: World, findings: Findings): Promise<void> {
  const workers = REGIONS.flatMap((region) => world.regions[region].workers);
  await Promise.all(
    workers.map(async (worker) => {
      const code = await worker.stop();
      if (code !== 0) findings.uncleanStops.push(`${worker.name}: exit code ${code} at the end`);
    }),
  );
}
