/**
 * From the commit of a business transaction to the first byte at the receiver, in an idle region, at a steady rate: the
 * whole way through Prisma transaction, outbox, hint, claim and request. The worker is a process of its own.
 */
import { withBench } from "../lib/context.ts";
import { openFreshWork } from "../lib/fresh-work.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { explained, explainWork, measureStaged, type StagedTurn } from "../lib/staged-work.ts";
import { p99Of } from "../lib/stages.ts";
import { median, percentile, round } from "../lib/stats.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const GOAL_P50_MS = 8;
const GOAL_P99_MS = 30;

export const latency: Scenario = {
  name: "latency",
  title: "commit to first byte at the receiver, idle region, 150 a second",
  defaults: { destinations: 50, seconds: 10, slots: 512 },
  run: (options) => {
    const records = options.perSecond * options.seconds * options.rounds * 2;
    return withBench(records, async (bench) => {
      const { database, receiver } = bench;
      const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
      const names = tenant.destinationIds.map((_, index) => `d${index + 1}`);
      await explainWork(bench, tenant);
      const worker = await spawnBenchWorker(database.url, options.slots);
      bench.defer(() => worker.stop());
      const fresh = openFreshWork(bench, tenant, names);
      const turns: StagedTurn[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const turn = await measureStaged(bench, fresh, worker, options);
        turns.push(turn);
        progress(`round ${number} of ${options.rounds}: p99 ${round(p99Of(turn.lags), 1)} ms`);
      }
      const rounds = turns.map(({ lags }) => lags.map(({ lagMs }) => lagMs));
      const at = (share: number) => round(median(rounds.map((waits) => percentile(waits, share))), 1);
      return {
        goals: [
          atMost("p50 ms from commit to arrival", at(0.5), GOAL_P50_MS),
          atMost("p99 ms from commit to arrival", at(0.99), GOAL_P99_MS),
        ],
        facts: {
          perSecond: options.perSecond,
          deliveries: rounds.reduce((sum, waits) => sum + waits.length, 0),
          rounds: options.rounds,
          ...machineFacts(database),
          p50Ms: at(0.5),
          p95Ms: at(0.95),
          p99Ms: at(0.99),
          maxMs: round(Math.max(...rounds.map((waits) => Math.max(...waits))), 1),
          ...explained(turns),
        },
      };
    });
  },
};
