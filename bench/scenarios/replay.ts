/**
 * Live first attempts beside a reviewed replay: dead letters of three repaired destinations are sent again by a batch of the
 * product's own commands at the rate that a batch has by itself (or another one), while fresh work for others goes on. Its p99 is held against its own
 * just before, round by round. A turn counts only when the batch ran through all of it, and no effect came twice.
 */
import { setReplayPolicy } from "#db/console/replay/set-replay-policy.ts";
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { type FreshWork, openFreshWork } from "../lib/fresh-work.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { analyze, type BenchTenant, clearRun, fillDeliveries, hint, makeTenant } from "../lib/sql.ts";
import { median, percentile, round } from "../lib/stats.ts";
import { untilTrue } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";
import { person, type RunningBatch, runBatch } from "../replay/batch.ts";
import { countDead, readBatch } from "../replay/sql.ts";

const GOAL = 1.2;
/** Tenants with one destination each that failed and are repaired. */
const LANES = 3;
/** Out at once for each destination: what a batch has by itself, and more where its rate needs it. */
const LEAST_CONCURRENCY = 2;
const FRESH_DESTINATIONS = 20;
/** Beyond what is sent while it is measured: canary, and the time until the measurement begins and has ended. */
const SPARE_SECONDS = 20;
const DEAD_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/** A worker that has just made dead letters has warm code for those, not for what is measured. */
const WARM_UP_SECONDS = 3;
/** Of what the rates allow, what must have been sent while it was measured. */
const RAN_SHARE = 0.5;

const laneName = (lane: number) => `again${lane}`;

interface Turn {
  readonly beforeP99Ms: number;
  readonly duringP99Ms: number;
  /** Replayed deliveries that arrived while fresh work was measured. */
  readonly replayed: number;
}

interface World {
  readonly fresh: FreshWork;
  readonly failed: readonly BenchTenant[];
}

export const replay: Scenario = {
  name: "replay",
  title: "live first attempts before and during a reviewed replay",
  defaults: { slots: 512, perSecond: 150, seconds: 20 },
  run: (options) => {
    const live = options.perSecond * (options.seconds * 2 + WARM_UP_SECONDS) * options.rounds;
    return withBench(live + itemsOf(options) * options.rounds * 2, async (bench) => {
      const world = await makeWorld(bench);
      const turns: Turn[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const turn = await oneRound(bench, world, options);
        turns.push(turn);
        progress(
          `round ${number} of ${options.rounds}: p99 ${round(turn.beforeP99Ms, 1)} ms before, ${round(turn.duringP99Ms, 1)} ms during`,
        );
      }
      return report(bench, options, turns);
    });
  },
};

function itemsOf({ seconds, replayed }: BenchOptions): number {
  return LANES * replayed * (seconds + SPARE_SECONDS);
}

async function makeWorld(bench: Bench): Promise<World> {
  const { pool } = bench.database;
  const names = Array.from({ length: FRESH_DESTINATIONS }, (_, index) => `fresh${index}`);
  const freshTenant = await makeTenant(pool, bench.receiver.url, {
    destinations: names.map((name) => ({ path: `/ok/${name}` })),
  });
  const failed: BenchTenant[] = [];
  for (let lane = 0; lane < LANES; lane++) {
    const path = `/reject/422/${laneName(lane)}`;
    failed.push(await makeTenant(pool, bench.receiver.url, { destinations: [{ path }] }));
  }
  await setReplayPolicy(person(pool, "user:bench-admin", "admin"), {
    version: 0,
    reason: "no holds while it is measured",
    policy: { canaryHoldMs: 0, rampHoldMs: 0 },
  });
  return { fresh: openFreshWork(bench, freshTenant, names), failed };
}

async function oneRound(bench: Bench, { fresh, failed }: World, options: BenchOptions): Promise<Turn> {
  const { database } = bench;
  const { pool } = database;
  await clearRun(pool);
  await scriptLanes(bench, []);
  const ids: string[] = [];
  for (const tenant of failed) {
    ids.push(...(await fillDeliveries(pool, tenant, itemsOf(options) / LANES, jsonBody(options.bodyBytes))));
  }
  await analyze(pool);
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    await hint(pool);
    const allDead = async () => (await countDead(pool, ids)) === ids.length;
    await untilTrue(allDead, `${ids.length} dead letters`, DEAD_TIMEOUT_MS, POLL_MS);
    await scriptLanes(bench, ["ok"]);
    await fresh.measure(options.perSecond, WARM_UP_SECONDS);
    const before = await fresh.measure(options.perSecond, options.seconds);
    const effectsBefore = await laneEffects(bench);
    const batch = await runBatch(pool, ids, {
      ratePerSecond: options.replayed,
      concurrency: Math.max(LEAST_CONCURRENCY, options.replayed),
    });
    const replayedBefore = await laneEffects(bench);
    const during = await fresh.measure(options.perSecond, options.seconds);
    const replayed = (await laneEffects(bench)) - replayedBefore;
    await requireRan(bench, batch, replayed, options);
    await batch.stop();
    await requireOnce(bench, batch, effectsBefore);
    return {
      beforeP99Ms: percentile(before, 0.99),
      duringP99Ms: percentile(during, 0.99),
      replayed,
    };
  } finally {
    await worker.stop();
  }
}

/** Without answers the lanes refuse every body again. */
async function scriptLanes({ receiver }: Bench, answers: readonly string[]): Promise<void> {
  for (let lane = 0; lane < LANES; lane++) await receiver.client.script(laneName(lane), answers);
}

async function laneEffects({ receiver }: Bench): Promise<number> {
  let effects = 0;
  for (let lane = 0; lane < LANES; lane++) effects += (await receiver.client.stats(laneName(lane))).effects;
  return effects;
}

/** @throws Error when the batch did not run through the whole measurement: such a round has no number */
async function requireRan(
  { database }: Bench,
  { id }: RunningBatch,
  replayed: number,
  { seconds, replayed: rate }: BenchOptions,
): Promise<void> {
  const { state, cause, ended, items } = await readBatch(database.pool, id);
  if (state !== "running") {
    throw new Error(
      `the batch was ${state} at the end of the measurement (${cause ?? `${ended} of ${items} ended`})`,
    );
  }
  const least = LANES * rate * seconds * RAN_SHARE;
  if (replayed < least) throw new Error(`only ${replayed} were replayed while it was measured, not ${least}`);
}

/** @throws Error when the receiver has more or fewer effects than the batch delivered */
async function requireOnce(bench: Bench, { id }: RunningBatch, effectsBefore: number): Promise<void> {
  const { delivered } = await readBatch(bench.database.pool, id);
  const effects = (await laneEffects(bench)) - effectsBefore;
  if (effects !== delivered) throw new Error(`${delivered} were delivered, and ${effects} had their effect`);
}

function report({ database }: Bench, options: BenchOptions, turns: readonly Turn[]) {
  const ratios = turns.map(({ beforeP99Ms, duringP99Ms }) => duringP99Ms / beforeP99Ms);
  const of = (value: (turn: Turn) => number) => round(median(turns.map(value)), 1);
  return {
    goals: [atMost("live first-attempt p99 during a replay / before", round(median(ratios), 2), GOAL)],
    facts: {
      livePerSecond: options.perSecond,
      replayedPerSecond: LANES * options.replayed,
      items: itemsOf(options),
      rounds: options.rounds,
      ...machineFacts(database),
      beforeP99Ms: of(({ beforeP99Ms }) => beforeP99Ms),
      duringP99Ms: of(({ duringP99Ms }) => duringP99Ms),
      replayed: of(({ replayed }) => replayed),
      each: turns.map(({ beforeP99Ms, duringP99Ms, replayed }) => ({
        beforeP99Ms: round(beforeP99Ms, 1),
        duringP99Ms: round(duringP99Ms, 1),
        replayed,
      })),
    },
  };
}
