/**
 * A quiet tenant beside 50,000 due deliveries of a noisy one, against its own idle p99: first a noisy tenant with a cap,
 * then one without that fills every slot. Turns are interleaved; a noisy turn counts only when the noise was there.
 */
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { type FreshWork, openFreshWork } from "../lib/fresh-work.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import {
  analyze,
  type BenchTenant,
  checkpoint,
  clearRun,
  countLive,
  fillDeliveries,
  hint,
  makeTenant,
} from "../lib/sql.ts";
import { explained, explainWork, measureStaged, type StagedTurn } from "../lib/staged-work.ts";
import { p99Of } from "../lib/stages.ts";
import { median, round } from "../lib/stats.ts";
import { untilTrue } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";
import { forgetClaims } from "../stages/sql.ts";

const GOAL_CAPPED = 2;
const GOAL_UNCAPPED = 3;
/** The noisy tenant's own cap, in the first case. */
const CAP = 10;
const CAPPED_SERVICE_MS = 20;
/** Long enough that the slots, not the processor, are what is short. */
const UNCAPPED_SERVICE_MS = 400;
const NOISY_DESTINATIONS = 100;
const QUIET_DESTINATIONS = 5;
const BUSY_TIMEOUT_MS = 30_000;
/** Of the slots, what an uncapped noisy tenant must hold before its turn counts; a part may be kept for light tenants. */
const FULL_SHARE = 0.8;
const FULL_POLL_MS = 50;

type Turn = "idle" | "capped" | "uncapped";
const TURNS: readonly Turn[] = ["idle", "capped", "uncapped"];

interface World {
  readonly quiet: FreshWork;
  readonly noisy: Readonly<Record<"capped" | "uncapped", BenchTenant>>;
}

export const noisyNeighbour: Scenario = {
  name: "noisy-neighbour",
  title: "a quiet tenant beside 50,000 due deliveries of a noisy one, capped and uncapped",
  defaults: { deliveries: 50_000, slots: 512, perSecond: 50, seconds: 12 },
  run: (options) => {
    const records = options.perSecond * options.seconds * options.rounds * TURNS.length;
    return withBench(records + options.deliveries * options.rounds * 2, async (bench) => {
      const world = await makeWorld(bench);
      const seen = new Map<Turn, StagedTurn[]>(TURNS.map((turn) => [turn, []]));
      for (let number = 1; number <= options.rounds; number++) {
        for (const turn of TURNS) {
          const measured = await oneTurn(turn, bench, world, options);
          seen.get(turn)?.push(measured);
          progress(`round ${number} of ${options.rounds}: ${turn} p99 ${round(p99Of(measured.lags), 1)} ms`);
        }
      }
      return report(bench, options, seen);
    });
  },
};

async function makeWorld(bench: Bench): Promise<World> {
  const { pool } = bench.database;
  const noisy = (name: string, serviceMs: number, concurrency?: number) =>
    makeTenant(pool, bench.receiver.url, {
      ...(concurrency === undefined ? {} : { concurrency }),
      destinations: Array.from({ length: NOISY_DESTINATIONS }, (_, index) => ({
        path: `/ok/${name}${index}?ms=${serviceMs}`,
      })),
    });
  const names = Array.from({ length: QUIET_DESTINATIONS }, (_, index) => `quiet${index}`);
  const quiet = await makeTenant(pool, bench.receiver.url, {
    destinations: names.map((name) => ({ path: `/ok/${name}` })),
  });
  await explainWork(bench, quiet);
  return {
    quiet: openFreshWork(bench, quiet, names),
    noisy: {
      capped: await noisy("capped", CAPPED_SERVICE_MS, CAP),
      uncapped: await noisy("uncapped", UNCAPPED_SERVICE_MS),
    },
  };
}

/** A worker for each turn: what a turn leaves behind must not reach the next one. */
async function oneTurn(turn: Turn, bench: Bench, world: World, options: BenchOptions): Promise<StagedTurn> {
  const { database, receiver } = bench;
  await clearRun(database.pool);
  await forgetClaims(database.pool);
  if (turn !== "idle") {
    await fillDeliveries(database.pool, world.noisy[turn], options.deliveries, jsonBody(options.bodyBytes));
  }
  await analyze(database.pool);
  // What was filled is on disk: its pages would else be written while its neighbour is measured.
  await checkpoint(database.pool);
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    await hint(database.pool);
    const wanted = { idle: 0, capped: CAP, uncapped: options.slots * FULL_SHARE }[turn];
    const busy = async () => (await receiver.client.totals()).currentConcurrency >= wanted;
    await untilTrue(busy, `${Math.round(wanted)} noisy requests at once`, BUSY_TIMEOUT_MS, FULL_POLL_MS);
    const measured = await measureStaged(bench, world.quiet, worker, options);
    if (turn !== "idle") {
      const { due } = await countLive(database.pool, world.noisy[turn].tenantId);
      if (due === 0)
        throw new Error(`the ${turn} noisy tenant ran dry: more --deliveries or fewer --seconds`);
    }
    return measured;
  } finally {
    await worker.stop();
  }
}

function report({ database }: Bench, options: BenchOptions, seen: ReadonlyMap<Turn, readonly StagedTurn[]>) {
  const p99 = (turn: Turn) => (seen.get(turn) ?? []).map(({ lags }) => p99Of(lags));
  const idle = p99("idle");
  const against = (turn: Turn) =>
    round(median(p99(turn).map((ms, index) => ms / (idle[index] ?? Number.NaN))), 2);
  return {
    goals: [
      atMost("quiet p99 beside a capped noisy tenant / its idle p99", against("capped"), GOAL_CAPPED),
      atMost("quiet p99 beside an uncapped noisy tenant / its idle p99", against("uncapped"), GOAL_UNCAPPED),
    ],
    facts: {
      noisyDue: options.deliveries,
      slots: options.slots,
      quietPerSecond: options.perSecond,
      rounds: options.rounds,
      ...machineFacts(database),
      p99Ms: Object.fromEntries(TURNS.map((turn) => [turn, round(median(p99(turn)), 1)])),
      each: Object.fromEntries(TURNS.map((turn) => [turn, p99(turn).map((ms) => round(ms, 1))])),
      ...Object.fromEntries(TURNS.map((turn) => [turn, explained(seen.get(turn) ?? [])])),
    },
  };
}
