/**
 * Bursty arrivals at the R x L x s bound: each destination may be sent R requests a second, answers in L, and has a
 * concurrency cap of R x L x s (s: a margin) and no other limit. Ten times the mean arrives for 5 s. The merchants count
 * for themselves and answer 429 above R; the age of first attempts must be back inside its objective soon after.
 */

import { firstAttemptAgeMs } from "../bursty/sql.ts";
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { type BenchTenant, clearRun, fillDeliveries, hint, makeTenant } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { sleep, untilCount } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const GOAL_SHARE = 0.01;
const GOAL_BACK_S = 30;
/** R: what a merchant takes a second. Its own bucket holds a little more than one request. */
const RATE_PER_SECOND = 50;
const MERCHANT_BURST = 5;
/** L */
const SERVICE_MS = 100;
/** s */
const MARGIN = 0.8;
const CAP = Math.floor((RATE_PER_SECOND * SERVICE_MS * MARGIN) / 1_000);
/** Arrivals a second at each destination: half of what the cap lets through. */
const MEAN_PER_SECOND = 20;
const BURST_FACTOR = 10;
const BURST_SECONDS = 5;
const LEAD_SECONDS = 5;
/** The objective of urgent deliveries. */
const OBJECTIVE_MS = 15_000;
const TICK_MS = 100;
const SAMPLE_MS = 250;
const FINISH_TIMEOUT_MS = 180_000;

interface Round {
  readonly throttledShare: number;
  readonly backInSeconds: number;
  readonly worstAgeMs: number;
}

export const bursty: Scenario = {
  name: "bursty",
  title: "10x the mean for 5 s, concurrency caps at the R x L x s bound",
  defaults: { destinations: 10, seconds: 35, slots: 512 },
  run: (options) =>
    withBench(0, async (bench) => {
      const rounds: Round[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const seen = await oneRound(bench, number, options);
        rounds.push(seen);
        progress(
          `round ${number} of ${options.rounds}: ${round(seen.throttledShare * 100, 2)} % 429, worst age ${round(seen.worstAgeMs / 1_000, 1)} s, back after ${round(seen.backInSeconds, 1)} s`,
        );
      }
      const of = (value: (seen: Round) => number, digits: number) => round(median(rounds.map(value)), digits);
      return {
        goals: [
          atMost(
            "429 share of all answers",
            of(({ throttledShare }) => throttledShare, 4),
            GOAL_SHARE,
          ),
          atMost(
            "s after the burst until the age is inside its objective",
            of(({ backInSeconds }) => backInSeconds, 1),
            GOAL_BACK_S,
          ),
        ],
        facts: {
          ratePerSecond: RATE_PER_SECOND,
          serviceMs: SERVICE_MS,
          margin: MARGIN,
          cap: CAP,
          meanPerSecond: MEAN_PER_SECOND,
          burstFactor: BURST_FACTOR,
          destinations: options.destinations,
          rounds: options.rounds,
          ...machineFacts(bench.database),
          worstAgeS: of(({ worstAgeMs }) => worstAgeMs / 1_000, 1),
          each: rounds,
        },
      };
    }),
};

async function oneRound(bench: Bench, number: number, options: BenchOptions): Promise<Round> {
  const { database, receiver } = bench;
  await clearRun(database.pool);
  const tenant = await makeTenant(database.pool, receiver.url, {
    destinations: Array.from({ length: options.destinations }, (_, n) => ({
      path: `/limit/${RATE_PER_SECOND}/${MERCHANT_BURST}/bursty${number}-${n}?ms=${SERVICE_MS}`,
      concurrency: CAP,
    })),
  });
  const before = await receiver.client.totals();
  const worker = await spawnBenchWorker(database.url, options.slots);
  try {
    const ages: { readonly atMs: number; readonly ageMs: number }[] = [];
    let sampling = true;
    const sampler = (async () => {
      while (sampling) {
        ages.push({ atMs: performance.now(), ageMs: await firstAttemptAgeMs(database.pool) });
        await sleep(SAMPLE_MS);
      }
    })();
    const mean = MEAN_PER_SECOND * options.destinations;
    let written = await arrive(bench, tenant, mean, LEAD_SECONDS, options);
    written += await arrive(bench, tenant, mean * BURST_FACTOR, BURST_SECONDS, options);
    const burstEndMs = performance.now();
    written += await arrive(bench, tenant, mean, options.seconds, options);
    const effects = async () => (await receiver.client.totals()).effects;
    await untilCount(effects, before.effects + written, FINISH_TIMEOUT_MS);
    sampling = false;
    await sampler;
    const after = await receiver.client.totals();
    const requests = after.requests - before.requests;
    const throttled = (after.statuses["429"] ?? 0) - (before.statuses["429"] ?? 0);
    if (requests - throttled !== written || after.effects - before.effects !== written) {
      throw new Error(`the receiver saw ${requests} requests, ${throttled} of them 429, for ${written}`);
    }
    const late = ages.filter(({ atMs, ageMs }) => atMs >= burstEndMs && ageMs > OBJECTIVE_MS).at(-1);
    return {
      throttledShare: throttled / requests,
      // The first sample inside is the one after the last one outside; 0 when the objective was kept throughout.
      backInSeconds: late === undefined ? 0 : (late.atMs + SAMPLE_MS - burstEndMs) / 1_000,
      worstAgeMs: Math.max(...ages.map(({ ageMs }) => ageMs)),
    };
  } finally {
    await worker.stop();
  }
}

/** Writes at an even rate, a small batch for each tick, with a hint as after a commit. Returns how many. */
async function arrive(
  { database }: Bench,
  tenant: BenchTenant,
  perSecond: number,
  seconds: number,
  options: BenchOptions,
): Promise<number> {
  const total = perSecond * seconds;
  const begunAt = performance.now();
  let written = 0;
  while (written < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begunAt) * perSecond) / 1_000));
    if (due > written) {
      const rotated = rotate(tenant, written);
      await fillDeliveries(database.pool, rotated, due - written, jsonBody(options.bodyBytes), {
        serviceClass: "urgent",
      });
      written = due;
      await hint(database.pool);
    }
    await sleep(TICK_MS);
  }
  return written;
}

/** The same destinations, beginning where the last batch ended. */
function rotate({ tenantId, destinationIds }: BenchTenant, by: number): BenchTenant {
  const at = by % destinationIds.length;
  return { tenantId, destinationIds: [...destinationIds.slice(at), ...destinationIds.slice(0, at)] };
}
