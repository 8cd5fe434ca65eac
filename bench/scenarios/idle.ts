/**
 * What one worker costs that has nothing to do: CPU of its process, and of Postgres beyond what Postgres costs without
 * it, in parts of one core. Turns without and with the worker are interleaved.
 */
import { withBench } from "../lib/context.ts";
import { processCpuMs, treeCpuMs } from "../lib/cpu.ts";
import { shareOver } from "../lib/cpu-share.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { makeBenchTenant } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { sleep } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const GOAL_SHARE = 0.01;
/** Start-up is not idling: schema checks and the compiler's first passes come first. */
const SETTLE_MS = 10_000;

interface Turn {
  readonly node: number;
  readonly postgres: number;
  readonly postgresAlone: number;
}

export const idle: Scenario = {
  name: "idle",
  title: "CPU of one idle worker, in its process and in Postgres",
  defaults: { rounds: 3, seconds: 60, destinations: 1_000, slots: 512 },
  run: (options) =>
    withBench(0, async (bench) => {
      const { database } = bench;
      const { serverPid } = database;
      if (serverPid === null) throw new Error("needs its own Postgres: unset DATABASE_URL_US");
      await makeBenchTenant(database.pool, bench.receiver.url, options.destinations);
      const turns: Turn[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const postgresAlone = await shareOver(() => treeCpuMs(serverPid), options.seconds);
        const worker = await spawnBenchWorker(database.url, options.slots);
        try {
          await sleep(SETTLE_MS);
          const [node, postgres] = await Promise.all([
            shareOver(() => processCpuMs(worker.pid), options.seconds),
            shareOver(() => treeCpuMs(serverPid), options.seconds),
          ]);
          turns.push({ node, postgres, postgresAlone });
        } finally {
          await worker.stop();
        }
        const last = turns.at(-1);
        progress(
          `round ${number} of ${options.rounds}: Node ${percent(last?.node)}, Postgres ${percent(last?.postgres)}, without a worker ${percent(last?.postgresAlone)}`,
        );
      }
      const of = (value: (turn: Turn) => number) => round(median(turns.map(value)), 4);
      return {
        goals: [
          atMost(
            "cores that Postgres spends for one idle worker",
            of(({ postgres, postgresAlone }) => postgres - postgresAlone),
            GOAL_SHARE,
          ),
          atMost(
            "cores that the idle worker spends",
            of(({ node }) => node),
            GOAL_SHARE,
          ),
        ],
        facts: {
          seconds: options.seconds,
          rounds: options.rounds,
          ...machineFacts(database),
          postgresCores: of(({ postgres }) => postgres),
          postgresAloneCores: of(({ postgresAlone }) => postgresAlone),
          nodeCores: of(({ node }) => node),
          each: turns,
        },
      };
    }),
};

function percent(share: number | undefined): string {
  return `${round((share ?? Number.NaN) * 100, 2)} %`;
}
