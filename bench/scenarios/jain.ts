/**
 * One process whose slots are all in use: do ten equal tenants get equal parts of 10 s, and tenants with weights 1:2:4
 * theirs? Counted at the receiver between two readings, with every tenant still waiting at the end.
 */
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atLeast, atMost, type Scenario } from "../lib/scenario.ts";
import {
  analyze,
  type BenchTenant,
  clearRun,
  countLive,
  fillDeliveries,
  hint,
  makeTenant,
} from "../lib/sql.ts";
import { jainIndex, median, round, worstWeightError } from "../lib/stats.ts";
import { sleep, untilTrue } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const GOAL_JAIN = 0.98;
const GOAL_WEIGHT_ERROR = 0.05;
const EQUAL = Array.from({ length: 10 }, () => 1);
const WEIGHTED = [1, 2, 4];
const DESTINATIONS_EACH = 10;
/** So long that the slots, not the processor, decide how much is sent. */
const SERVICE_MS = 50;
/** Rows for this many times what the slots can send in the window, so that nobody runs dry. */
const SPARE = 2;
const SETTLE_MS = 1_000;
const BUSY_TIMEOUT_MS = 30_000;
const BUSY_SHARE = 0.9;
const POLL_MS = 20;

export const jain: Scenario = {
  name: "jain",
  title: "one process saturated by ten equal tenants; by three with weights 1:2:4",
  defaults: { slots: 64, seconds: 10 },
  run: (options) =>
    withBench(0, async (bench) => {
      const equal: number[] = [];
      const weighted: number[] = [];
      const each: Record<string, unknown>[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const equalShares = await oneTurn(bench, `equal${number}`, EQUAL, options);
        const weightedShares = await oneTurn(bench, `weighted${number}`, WEIGHTED, options);
        equal.push(jainIndex(equalShares));
        weighted.push(worstWeightError(weightedShares, WEIGHTED));
        each.push({ equal: equalShares, weighted: weightedShares });
        progress(
          `round ${number} of ${options.rounds}: Jain ${round(equal.at(-1) ?? 0, 4)}, weights off by ${round((weighted.at(-1) ?? 0) * 100, 1)} %`,
        );
      }
      return {
        goals: [
          atLeast("Jain's index of ten equal tenants", round(median(equal), 4), GOAL_JAIN),
          atMost("worst share off its weight 1:2:4", round(median(weighted), 4), GOAL_WEIGHT_ERROR),
        ],
        facts: {
          slots: options.slots,
          seconds: options.seconds,
          rounds: options.rounds,
          ...machineFacts(bench.database),
          each,
        },
      };
    }),
};

/** Requests of each tenant in the window. */
async function oneTurn(
  bench: Bench,
  name: string,
  weights: readonly number[],
  options: BenchOptions,
): Promise<number[]> {
  const { database, receiver } = bench;
  await clearRun(database.pool);
  const tenants: BenchTenant[] = [];
  const possible = (options.slots * 1_000 * options.seconds) / SERVICE_MS;
  const heaviest = Math.max(...weights) / weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    const tenant = await makeTenant(database.pool, receiver.url, {
      weight,
      destinations: Array.from({ length: DESTINATIONS_EACH }, (_, n) => ({
        path: `/ok/${name}-${index}-${n}?ms=${SERVICE_MS}`,
      })),
    });
    tenants.push(tenant);
    await fillDeliveries(
      database.pool,
      tenant,
      Math.ceil(possible * heaviest * SPARE),
      jsonBody(options.bodyBytes),
    );
  }
  await analyze(database.pool);
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    await hint(database.pool);
    const busy = async () =>
      (await receiver.client.totals()).currentConcurrency >= options.slots * BUSY_SHARE;
    await untilTrue(busy, "every slot to be in use", BUSY_TIMEOUT_MS, POLL_MS);
    await sleep(SETTLE_MS);
    const before = await requestsOf(bench, name, weights.length);
    await sleep(options.seconds * 1_000);
    const after = await requestsOf(bench, name, weights.length);
    for (const tenant of tenants) {
      const { due } = await countLive(database.pool, tenant.tenantId);
      if (due === 0) throw new Error("a tenant ran dry: it did not compete to the end");
    }
    return after.map((count, index) => count - (before[index] ?? 0));
  } finally {
    await worker.stop();
  }
}

/** @throws Error when the receiver saw a key twice */
async function requestsOf({ receiver }: Bench, name: string, tenants: number): Promise<number[]> {
  const counts = Array.from({ length: tenants }, () => 0);
  for (const { destination, requests, distinctKeys } of await receiver.client.allStats()) {
    if (!destination.startsWith(`${name}-`)) continue;
    if (requests !== distinctKeys) throw new Error(`${requests} requests for ${distinctKeys} keys`);
    const tenant = Number(destination.split("-")[1]);
    counts[tenant] = (counts[tenant] ?? 0) + requests;
  }
  return counts;
}
