/**
 * FAIR-1 and FAIR-7, counted at the receiver. Three worker processes share six destinations with rates, bursts and concurrency caps of
 * their own; all of them have work throughout, and the receiver answers at once. How much of each rate is used, and is any window
 * too full? Then limits are changed up and down as plain rows, without a hint: how long after the commit do they count?
 */
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atLeast, atMost, beside, type Scenario } from "../lib/scenario.ts";
import {
  analyze,
  type BenchTenant,
  clearRun,
  type DestinationSpec,
  fillDeliveries,
  hint,
  makeTenant,
} from "../lib/sql.ts";
import { median, percentile, round } from "../lib/stats.ts";
import { sleep } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";
import { type Arrival, overSends, shareOfRate, startOf } from "../limits/arrivals.ts";
import { type Change, changeLimits } from "../limits/changes.ts";
import { recordedStarts } from "../limits/sql.ts";

const GOAL_SHARE = 0.97;
const GOAL_COUNTS_MS = 1_000;
const WORKERS = 3;
/** The caps leave room for a rate's own requests and for those that wait for their token, and not for much more. */
const PLACES = [
  { ratePerSecond: 2, rateBurst: 1, concurrency: 1 },
  { ratePerSecond: 5, rateBurst: 1, concurrency: 2 },
  { ratePerSecond: 20, rateBurst: 5, concurrency: 2 },
  { ratePerSecond: 50, rateBurst: 10, concurrency: 4 },
  { ratePerSecond: 100, rateBurst: 1, concurrency: 10 },
  { ratePerSecond: 200, rateBurst: 20, concurrency: 10 },
] as const;
/** The burst is spent and the workers have found their places. */
const SETTLE_MS = 3_000;
/** Seconds of work beyond the window, so that nobody runs dry. */
const SPARE_SECONDS = 5;
/**
 * Each process knows the database's time to within a round trip, and a timer that fires up to 3 ms late counts as punctual: a window
 * may be this much too short.
 */
const ALLOWED_MS = 13;
/** Requests of one round at most, for the receiver's records. */
const RECORDS_A_ROUND = 40_000;

interface PlaceShare {
  readonly share: number;
  readonly overSends: number;
  readonly worstWindowMs: number;
  /** The same by arrivals alone: what a receiver with a clock of its own would see. */
  readonly worstArrivalMs: number;
}
interface Round {
  readonly places: readonly PlaceShare[];
  readonly changes: readonly Change[];
}

export const limits: Scenario = {
  name: "limits",
  title: "rates and caps over three workers: share used, over-sends, and how soon a change counts",
  defaults: { seconds: 20, slots: 512, rounds: 3 },
  run: (options) =>
    withBench(RECORDS_A_ROUND * options.rounds, async (bench) => {
      const rounds: Round[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const places = await shareRound(bench, number, options);
        const least = Math.min(...places.map(({ share }) => share));
        progress(`round ${number} of ${options.rounds}: at least ${round(least * 100, 1)} % of a rate used`);
        const changes = await changeRound(bench, number, options);
        const longest = Math.max(...changes.map(({ afterMs }) => afterMs));
        progress(
          `round ${number} of ${options.rounds}: ${changes.length} changes, longest ${round(longest)} ms`,
        );
        rounds.push({ places, changes });
      }
      return report(rounds, {
        seconds: options.seconds,
        workers: WORKERS,
        slots: options.slots,
        rounds: options.rounds,
        ...machineFacts(bench.database),
      });
    }),
};

async function shareRound(bench: Bench, number: number, options: BenchOptions): Promise<PlaceShare[]> {
  const { database } = bench;
  await clearRun(database.pool);
  const nameOf = (index: number) => `limits${number}-${index}`;
  const seconds = SETTLE_MS / 1_000 + options.seconds + SPARE_SECONDS;
  const filled = PLACES.map(({ ratePerSecond, rateBurst }) => rateBurst + Math.ceil(ratePerSecond * seconds));
  const specs = PLACES.map((place, index) => ({ ...place, path: `/ok/${nameOf(index)}` }));
  const tenant = await fillPlaces(bench, specs, filled, options);
  let fromMs = 0;
  await withWorkers(bench, options, async () => {
    fromMs = wallMs() + SETTLE_MS;
    await sleep(SETTLE_MS + options.seconds * 1_000);
  });
  const toMs = fromMs + options.seconds * 1_000;
  const places: PlaceShare[] = [];
  for (const [index, { ratePerSecond, rateBurst }] of PLACES.entries()) {
    const arrivals = await arrivalsOf(bench, nameOf(index), tenant.destinationIds[index] ?? "");
    if (arrivals.length >= (filled[index] ?? 0)) throw new Error(`${nameOf(index)} ran dry`);
    const arrived = arrivals.map(({ arrivedAtMs }) => arrivedAtMs);
    const seen = overSends(arrivals.map(startOf), ratePerSecond, rateBurst, ALLOWED_MS);
    places.push({
      share: shareOfRate(arrived, ratePerSecond, fromMs, toMs),
      overSends: seen.count,
      worstWindowMs: seen.worstMs,
      worstArrivalMs: overSends(arrived, ratePerSecond, rateBurst, ALLOWED_MS).worstMs,
    });
  }
  return places;
}

async function changeRound(bench: Bench, number: number, options: BenchOptions): Promise<readonly Change[]> {
  await clearRun(bench.database.pool);
  const { specs, rows, change } = changeLimits(bench, number);
  const tenant = await fillPlaces(bench, specs, rows, options);
  let read: () => Promise<Change[]> = () => Promise.resolve([]);
  await withWorkers(bench, options, async () => {
    read = await change(tenant.destinationIds);
  });
  return await read();
}

/** A tenant with these destinations, each with its number of due deliveries. */
async function fillPlaces(
  { database, receiver }: Bench,
  destinations: readonly DestinationSpec[],
  rows: readonly number[],
  options: BenchOptions,
): Promise<BenchTenant> {
  const tenant = await makeTenant(database.pool, receiver.url, { destinations });
  for (const [index, id] of tenant.destinationIds.entries()) {
    const one = { tenantId: tenant.tenantId, destinationIds: [id] };
    await fillDeliveries(database.pool, one, rows[index] ?? 0, jsonBody(options.bodyBytes));
  }
  await analyze(database.pool);
  return tenant;
}

/** When it resolves the workers have stopped in order, and every outcome is recorded. */
async function withWorkers(bench: Bench, options: BenchOptions, work: () => Promise<void>): Promise<void> {
  const start = () => spawnBenchWorker(bench.database.url, options.slots);
  const workers = await Promise.all(Array.from({ length: WORKERS }, start));
  try {
    await hint(bench.database.pool);
    await work();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

/** @throws Error when the receiver forgot a request or saw a key twice */
async function arrivalsOf({ database, receiver }: Bench, name: string, id: string): Promise<Arrival[]> {
  const records = await receiver.client.requests({ destination: name });
  const { requests, distinctKeys } = await receiver.client.stats(name);
  if (records.length !== requests || requests !== distinctKeys) {
    throw new Error(`${name}: ${records.length} records of ${requests} requests for ${distinctKeys} keys`);
  }
  const starts = await recordedStarts(database.pool, id);
  return records.map(({ webhookId, attempt, arrivedAtMs, answeredAtMs }) => ({
    arrivedAtMs,
    answeredAtMs: answeredAtMs ?? Number.POSITIVE_INFINITY,
    startedMs: starts.get(`${webhookId} ${attempt}`) ?? arrivedAtMs,
  }));
}

function report(rounds: readonly Round[], facts: Record<string, unknown>) {
  const all = rounds.flatMap(({ places }) => places);
  const changes = rounds.flatMap((each) => each.changes);
  const shares = PLACES.map((_, index) =>
    median(rounds.map(({ places }) => places[index]?.share ?? Number.NaN)),
  );
  const after = changes.map(({ afterMs }) => afterMs);
  const worst = (value: (place: PlaceShare) => number) => round(Math.max(...all.map(value)), 1);
  const kinds = [...Map.groupBy(changes, ({ kind }) => kind)].map(([kind, of]) => {
    const ms = of.map(({ afterMs }) => afterMs);
    return [kind, { changes: ms.length, p50Ms: round(percentile(ms, 0.5)), maxMs: round(Math.max(...ms)) }];
  });
  return {
    goals: [
      atLeast(
        "share of its rate used by the destination that used least",
        round(Math.min(...shares), 3),
        GOAL_SHARE,
      ),
      atMost(
        "requests over burst + rate x t in any window",
        all.reduce((sum, place) => sum + place.overSends, 0),
        0,
      ),
      atMost(
        "ms after its commit until a changed limit counts, the longest",
        round(Math.max(...after)),
        GOAL_COUNTS_MS,
      ),
      beside("... at p50", round(percentile(after, 0.5))),
    ],
    facts: {
      ...facts,
      places: PLACES.map((place, index) => ({ ...place, share: round(shares[index] ?? Number.NaN, 4) })),
      worstWindowMs: worst(({ worstWindowMs }) => worstWindowMs),
      worstArrivalMs: worst(({ worstArrivalMs }) => worstArrivalMs),
      changes: Object.fromEntries(kinds),
    },
  };
}

function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
