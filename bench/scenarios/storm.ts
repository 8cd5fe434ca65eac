/**
 * A storm of 429: 200 destinations with 500 due deliveries each answer every request with 429 and Retry-After, while
 * fresh work for others goes on. Its p99 is held against its own without the storm, in turns. At the end every stormy
 * delivery must still be there, and the receiver says how many requests the storm cost.
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

const GOAL = 2;
const STORMY_DESTINATIONS = 200;
/** The default of a destination without a cap of its own. */
const STORMY_CONCURRENCY = 10;
const RETRY_AFTER_SECONDS = 5;
const FRESH_DESTINATIONS = 20;
const BEGUN_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

interface StormTurn extends StagedTurn {
  readonly p99Ms: number;
  /** Requests that the storm was given while fresh work was measured, and before. */
  readonly stormRequests: number;
}

export const storm: Scenario = {
  name: "storm",
  title: "200 destinations x 500 due, all answered 429; fresh work elsewhere",
  defaults: { deliveries: 100_000, slots: 512, perSecond: 50, seconds: 12 },
  run: (options) => {
    const records = options.perSecond * options.seconds * options.rounds * 2;
    return withBench(records + options.deliveries * options.rounds, async (bench) => {
      const { pool } = bench.database;
      const names = Array.from({ length: FRESH_DESTINATIONS }, (_, index) => `fresh${index}`);
      const freshTenant = await makeTenant(pool, bench.receiver.url, {
        destinations: names.map((name) => ({ path: `/ok/${name}` })),
      });
      const stormy = await makeTenant(pool, bench.receiver.url, {
        destinations: Array.from({ length: STORMY_DESTINATIONS }, (_, index) => ({
          path: `/429/seconds/${RETRY_AFTER_SECONDS}/storm${index}`,
          concurrency: STORMY_CONCURRENCY,
        })),
      });
      const fresh = openFreshWork(bench, freshTenant, names);
      await explainWork(bench, freshTenant);
      const idle: StormTurn[] = [];
      const stormTurns: StormTurn[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const alone = await oneTurn(bench, fresh, null, options);
        idle.push(alone);
        const turn = await oneTurn(bench, fresh, stormy, options);
        stormTurns.push(turn);
        progress(
          `round ${number} of ${options.rounds}: idle p99 ${round(alone.p99Ms, 1)} ms, in the storm ${round(turn.p99Ms, 1)} ms`,
        );
      }
      return report(bench, options, idle, stormTurns);
    });
  },
};

async function oneTurn(
  bench: Bench,
  fresh: FreshWork,
  stormy: BenchTenant | null,
  options: BenchOptions,
): Promise<StormTurn> {
  const { database, receiver } = bench;
  const { pool } = database;
  await clearRun(pool);
  await forgetClaims(pool);
  if (stormy !== null) await fillDeliveries(pool, stormy, options.deliveries, jsonBody(options.bodyBytes));
  await analyze(pool);
  // What was filled is on disk: its pages would else be written while the storm is measured, which did not write them.
  await checkpoint(pool);
  const before = await throttled(receiver);
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    await hint(pool);
    if (stormy !== null) {
      const begun = async () => (await throttled(receiver)) - before >= STORMY_DESTINATIONS;
      await untilTrue(begun, "the storm to begin", BEGUN_TIMEOUT_MS, POLL_MS);
    }
    const turn = await measureStaged(bench, fresh, worker, options);
    const stormRequests = (await throttled(receiver)) - before;
    if (stormy !== null) {
      const { live } = await countLive(pool, stormy.tenantId);
      if (live !== options.deliveries)
        throw new Error(`${live} of ${options.deliveries} stormy rows are left`);
    }
    return { ...turn, p99Ms: p99Of(turn.lags), stormRequests };
  } finally {
    await worker.stop();
  }
}

async function throttled(receiver: Bench["receiver"]): Promise<number> {
  return (await receiver.client.totals()).statuses["429"] ?? 0;
}

function report(
  { database }: Bench,
  options: BenchOptions,
  idle: readonly StormTurn[],
  turns: readonly StormTurn[],
) {
  const idleP99Ms = idle.map(({ p99Ms }) => p99Ms);
  const ratios = turns.map(({ p99Ms }, index) => p99Ms / (idleP99Ms[index] ?? Number.NaN));
  return {
    goals: [atMost("p99 of fresh work in a storm of 429 / its idle p99", round(median(ratios), 2), GOAL)],
    facts: {
      stormyDue: options.deliveries,
      stormyDestinations: STORMY_DESTINATIONS,
      rounds: options.rounds,
      ...machineFacts(database),
      idleP99Ms: round(median(idleP99Ms), 1),
      stormP99Ms: round(median(turns.map(({ p99Ms }) => p99Ms)), 1),
      stormRequests: median(turns.map(({ stormRequests }) => stormRequests)),
      each: turns.map(({ p99Ms, stormRequests }, index) => ({
        idleP99Ms: round(idleP99Ms[index] ?? Number.NaN, 1),
        stormP99Ms: round(p99Ms, 1),
        stormRequests,
      })),
      idle: explained(idle),
      storm: explained(turns),
    },
  };
}
