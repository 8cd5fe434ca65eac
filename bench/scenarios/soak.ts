/**
 * Memory of a worker process that has 512 requests in flight for as long as it is told to. It is fed so that all slots stay
 * in use; its resident memory is read at intervals. Growth: the median of the last tenth against that of the tenth after
 * the warm-up.
 */
import type { BenchOptions } from "../config.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { residentBytes } from "../lib/cpu.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atMost, type Scenario } from "../lib/scenario.ts";
import { type BenchTenant, countLive, fillDeliveries, hint, makeTenant } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { sleep, untilCount, untilTrue } from "../lib/wait.ts";
import { type SpawnedBenchWorker, spawnBenchWorker } from "../lib/worker.ts";

const GOAL_MB = 250;
const GOAL_GROWTH = 0.05;
const MB = 1_000_000;
/** Long beside the turn of a slot from one delivery to the next: 512 slots make 256 requests a second. */
const SERVICE_MS = 2_000;
/** Rows that wait beside those in flight, in seconds of work. */
const STOCK_SECONDS = 4;
const SAMPLE_MS = 2_000;
const WARM_UP_SHARE = 0.1;
const TENTH = 0.1;
/** In flight at a sample, of the slots; a run that was not full has no number. */
const FULL_SHARE = 0.9;
const FULL_TIMEOUT_MS = 60_000;
const FINISH_TIMEOUT_MS = 120_000;
const FULL_POLL_MS = 50;

interface Sample {
  readonly bytes: number;
  readonly inFlight: number;
}

export const soak: Scenario = {
  name: "soak",
  title: "memory of a worker with 512 requests in flight, for --minutes",
  defaults: { slots: 512, minutes: 30, destinations: 100 },
  run: (options) =>
    withBench(0, async (bench) => {
      const { database, receiver } = bench;
      const tenant = await makeTenant(database.pool, receiver.url, {
        destinations: Array.from({ length: options.destinations }, (_, n) => ({
          path: `/ok/soak${n}?ms=${SERVICE_MS}`,
        })),
      });
      const worker = await spawnBenchWorker(database.url, options.slots);
      bench.defer(() => worker.stop());
      const { samples, written } = await run(bench, tenant, worker, options);
      const requests = async () => (await receiver.client.totals()).requests;
      await untilCount(requests, written, FINISH_TIMEOUT_MS);
      const totals = await receiver.client.totals();
      if (totals.requests !== written || totals.effects !== written) {
        throw new Error(
          `${totals.requests} requests and ${totals.effects} effects for ${written} deliveries`,
        );
      }
      return report(bench, options, samples, written);
    }),
};

async function run(bench: Bench, tenant: BenchTenant, worker: SpawnedBenchWorker, options: BenchOptions) {
  const { pool } = bench.database;
  const body = jsonBody(options.bodyBytes);
  // Something waits for every destination: as many lanes are known to the worker.
  const stock = Math.max(options.slots * STOCK_SECONDS * (1_000 / SERVICE_MS), options.destinations);
  let written = 0;
  const topUp = async () => {
    const { due } = await countLive(pool, tenant.tenantId);
    const missing = Math.ceil(stock - due);
    if (missing <= 0) return;
    await fillDeliveries(pool, tenant, missing, body);
    written += missing;
    await hint(pool);
  };
  await topUp();
  const inFlight = async () => (await bench.receiver.client.totals()).currentConcurrency;
  const full = async () => (await inFlight()) >= options.slots * FULL_SHARE;
  await untilTrue(full, `${options.slots} requests in flight`, FULL_TIMEOUT_MS, FULL_POLL_MS);
  const samples: Sample[] = [];
  const endsAt = performance.now() + options.minutes * 60_000;
  let toldAt = performance.now();
  while (performance.now() < endsAt) {
    await topUp();
    const bytes = residentBytes(worker.pid);
    if (bytes === null) throw new Error("memory of processes can be read on Linux only");
    samples.push({ bytes, inFlight: await inFlight() });
    if (performance.now() - toldAt > 60_000) {
      toldAt = performance.now();
      progress(`soak: ${round(bytes / MB)} MB, ${written} deliveries so far`);
    }
    await sleep(SAMPLE_MS);
  }
  return { samples, written };
}

function report({ database }: Bench, options: BenchOptions, samples: readonly Sample[], written: number) {
  const measured = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const inFlight = median(measured.map((sample) => sample.inFlight));
  if (!(inFlight >= options.slots * FULL_SHARE)) {
    throw new Error(
      `only ${inFlight} of ${options.slots} requests were in flight: not the soak that was asked for`,
    );
  }
  const part = Math.max(1, Math.floor(measured.length * TENTH));
  const bytes = measured.map((sample) => sample.bytes);
  const first = median(bytes.slice(0, part));
  const last = median(bytes.slice(-part));
  return {
    goals: [
      atMost(
        "MB of memory, largest",
        round(Math.max(...samples.map((sample) => sample.bytes)) / MB, 1),
        GOAL_MB,
      ),
      atMost("growth after the warm-up", round(last / first - 1, 4), GOAL_GROWTH),
    ],
    facts: {
      minutes: options.minutes,
      destinations: options.destinations,
      inFlight,
      deliveries: written,
      ...machineFacts(database),
      firstMb: round(first / MB, 1),
      lastMb: round(last / MB, 1),
    },
  };
}
