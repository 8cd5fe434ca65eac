/**
 * Deliveries that are all due at once, drained by Sluice, by a bare undici loop and by other queues, interleaved. Each
 * contender sends the same requests; its settings are the fastest of its candidates on this machine.
 */
import type { BenchOptions } from "../config.ts";
import { BULL_CANDIDATES, createBull } from "../contenders/bullmq.ts";
import { oneRun, tune } from "../contenders/contender.ts";
import {
  createDefaultGraphile,
  createRecordedGraphile,
  createTunedGraphile,
  GRAPHILE_CANDIDATES,
} from "../contenders/graphile.ts";
import { createLoop, LOOP_CONCURRENCIES } from "../contenders/loop.ts";
import { BOSS_CANDIDATES, createBoss } from "../contenders/pg-boss.ts";
import type { SendContext } from "../contenders/send.ts";
import { createSluice } from "../contenders/sluice.ts";
import { type Bench, sendContext, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { installPeers } from "../lib/peers.ts";
import { progress } from "../lib/progress.ts";
import { findRedis, openRedis } from "../lib/redis.ts";
import { atLeast, beside, type Goal, type Scenario, type ScenarioResult, skipped } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { compare, described, type Entry, ratio } from "./compare.ts";

/** Short drains that find the best settings. */
const TUNING_DELIVERIES = 5_000;
/** The slow contender gets fewer deliveries: its rate needs no more. */
const SLOW_DELIVERIES = 2_000;
const RECORDED = "graphile-recorded";
const NO_REDIS = "there is no redis-server on this machine";
const NO_PEERS = "run with --no-peers";

const GOALS = {
  loop: 0.45,
  "graphile-tuned": 1.15,
  "pg-boss": 1.3,
  bullmq: 1.3,
  "graphile-defaults": 8,
} as const;

export const drain: Scenario = {
  name: "drain",
  title: "20,000 deliveries, all due, to 1,000 destinations, beside a bare loop and other queues",
  defaults: {},
  run: (options) =>
    withBench(0, async (bench) => {
      const context = await sendContext(bench, options);
      const { entries, missing } = await contenders(bench, context, options);
      const rounds = await compare(entries, options.rounds, bench.receiver, bench.database.serverPid);
      return report(bench, options, entries, rounds, missing);
    }),
};

async function contenders(bench: Bench, context: SendContext, options: BenchOptions) {
  const { database, receiver } = bench;
  const entries: Entry[] = [];
  const missing = new Map<string, string>();
  const tuning = Math.min(TUNING_DELIVERIES, options.deliveries);
  const add = (contender: Entry["contender"], deliveries = options.deliveries) => {
    bench.defer(() => contender.close());
    entries.push({ contender, deliveries });
  };
  const loop = createLoop(context);
  progress("tuning: loop");
  await oneRun(loop, tuning);
  await tune(loop, LOOP_CONCURRENCIES, tuning);
  add(loop);
  const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
  const sluice = createSluice(context, { database, tenant, receiver, slots: options.slots, clear: true });
  // One unmeasured run warms code and caches.
  await oneRun(sluice, options.deliveries);
  add(sluice);
  if (!options.peers) {
    for (const name of ["graphile-tuned", "pg-boss", "bullmq", "graphile-defaults"])
      missing.set(name, NO_PEERS);
    return { entries, missing };
  }
  await installPeers();
  const graphile = await createTunedGraphile(context, await database.makeSibling("graphile"));
  progress("tuning: graphile-worker");
  await tune(graphile, GRAPHILE_CANDIDATES, tuning);
  add(graphile);
  const recorded = await createRecordedGraphile(context, await database.makeSibling("recorded"));
  progress("tuning: graphile-worker with records");
  await tune(recorded, GRAPHILE_CANDIDATES, tuning);
  add(recorded);
  const boss = await createBoss(context, await database.makeSibling("boss"));
  progress("tuning: pg-boss");
  await tune(boss, BOSS_CANDIDATES, tuning);
  add(boss);
  const program = findRedis();
  if (program === null) missing.set("bullmq", NO_REDIS);
  else {
    const redis = await openRedis(program);
    bench.defer(() => redis.close());
    const bull = await createBull(context, redis);
    progress("tuning: bullmq");
    await tune(bull, BULL_CANDIDATES, tuning);
    add(bull);
  }
  const defaults = await createDefaultGraphile(context, await database.makeSibling("defaults"));
  add(defaults, Math.min(SLOW_DELIVERIES, options.deliveries));
  return { entries, missing };
}

function report(
  { database }: Bench,
  options: BenchOptions,
  entries: readonly Entry[],
  rounds: Awaited<ReturnType<typeof compare>>,
  missing: ReadonlyMap<string, string>,
): ScenarioResult {
  const goals: Goal[] = Object.entries(GOALS).map(([name, limit]) => {
    const what = `drain rate divided by ${name}'s`;
    const why = missing.get(name);
    if (why !== undefined) return skipped({ atLeast: limit }, what, why);
    return atLeast(what, ratio(rounds, "sluice", name), limit);
  });
  if (rounds.has(RECORDED)) {
    // Like for like: with a row for each delivery and each attempt.
    goals.push(beside(`drain rate divided by ${RECORDED}'s`, ratio(rounds, "sluice", RECORDED)));
  }
  for (const [name, why] of missing) progress(`${name}: skipped, ${why}`);
  return {
    goals,
    facts: {
      ratios: Object.fromEntries(
        entries.map(({ contender: { name } }) => [name, ratio(rounds, "sluice", name)]),
      ),
      ratioToLoop: ratio(rounds, "sluice", "loop"),
      deliveries: options.deliveries,
      destinations: options.destinations,
      bodyBytes: options.bodyBytes,
      rounds: options.rounds,
      ...machineFacts(database),
      contenders: described(entries, rounds),
      skipped: Object.fromEntries(missing),
    },
  };
}
