/**
 * Drains deliveries that are all due at once, against a bare undici loop, interleaved round by round. Prints rates,
 * CPU for each delivery, and the ratio to the loop. Everything is checked at the receiver: a run that lost or doubled
 * a delivery has no number.
 */
import { spawnReceiver } from "#demo/receiver/spawn.ts";
import { ALL_ON } from "#worker/config.ts";
import { createHttpClient } from "#worker/exchange.ts";
import { startWorker } from "#worker/start-worker.ts";
import type { BenchOptions } from "../config.ts";
import { readCpu } from "../lib/cpu.ts";
import { type BenchDatabase, openBenchDatabase } from "../lib/database.ts";
import {
  anyLeft,
  BENCH_KEYRING,
  BENCH_SECRET,
  type BenchTenant,
  clearRun,
  fillDeliveries,
  makeBenchTenant,
  setDraining,
} from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { bareLoop } from "./bare-loop.ts";

const CONCURRENCIES = [16, 32, 64, 128, 256];
const CALIBRATION_REQUESTS = 5_000;
const MAX_RUN_MS = 120_000;
const POLL_MS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const MEASURED_KEYS = 2_000_000;

interface DrainRun {
  readonly perSecond: number;
  readonly nodeMs: number;
  readonly postgresMs: number | null;
}

type Receiver = Awaited<ReturnType<typeof spawnReceiver>>;

export async function drain(options: BenchOptions) {
  const receiver = await spawnReceiver(["--records", "0", "--no-hash", "--keys", String(MEASURED_KEYS)]);
  await tellSecrets(receiver, options.destinations);
  const database = await openBenchDatabase();
  const client = createHttpClient(CONNECT_TIMEOUT_MS);
  try {
    const body = jsonBody(options.bodyBytes);
    const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
    const loop = (requests: number, concurrency: number) =>
      bareLoop({
        client,
        receiverUrl: receiver.url,
        requests,
        destinations: options.destinations,
        body,
        concurrency,
      });
    const concurrency = await bestConcurrency(loop);
    // One unmeasured round of each warms code and caches.
    await drainOnce(options, database, tenant, receiver, body);
    const loops: number[] = [];
    const runs: DrainRun[] = [];
    for (let i = 0; i < options.rounds; i++) {
      loops.push(await loop(options.deliveries, concurrency));
      await receiver.client.reset();
      runs.push(await drainOnce(options, database, tenant, receiver, body));
    }
    return report(options, database, concurrency, loops, runs);
  } finally {
    await client.close();
    await database.close();
    await receiver.stop();
  }
}

/** The receiver checks each signature, as a real one has to, in the loop's rounds and in ours. */
async function tellSecrets(receiver: Receiver, destinations: number): Promise<void> {
  for (let n = 1; n <= destinations; n++)
    await receiver.client.setSecret(`d${n}`, { secrets: [BENCH_SECRET] });
}

async function bestConcurrency(
  loop: (requests: number, concurrency: number) => Promise<number>,
): Promise<number> {
  await loop(CALIBRATION_REQUESTS, 64);
  let best = { concurrency: 1, rate: 0 };
  for (const concurrency of CONCURRENCIES) {
    const rate = await loop(CALIBRATION_REQUESTS, concurrency);
    if (rate > best.rate) best = { concurrency, rate };
  }
  return best.concurrency;
}

async function drainOnce(
  options: BenchOptions,
  database: BenchDatabase,
  tenant: BenchTenant,
  receiver: Receiver,
  body: Buffer,
): Promise<DrainRun> {
  const { pool } = database;
  await clearRun(pool);
  await fillDeliveries(pool, tenant, options.deliveries, body);
  await pool.query("ANALYZE");
  await setDraining(pool, true);
  const before = await receiver.client.totals();
  const worker = await startWorker({
    region: "us",
    connectionString: database.url,
    directConnectionString: database.url,
    keyring: BENCH_KEYRING,
    slots: options.slots,
    drainMs: CONNECT_TIMEOUT_MS,
    probeMs: 250,
    healthPort: null,
    logLevel: "warn",
    switches: ALL_ON,
  });
  try {
    const cpu = readCpu(database.serverPid);
    const begunAt = performance.now();
    await setDraining(pool, false);
    await untilDrained(pool, receiver, before.requests + options.deliveries, begunAt);
    const tookMs = performance.now() - begunAt;
    const after = readCpu(database.serverPid);
    const totals = await receiver.client.totals();
    check(options.deliveries, {
      requests: totals.requests - before.requests,
      effects: totals.effects - before.effects,
      validSignatures: totals.validSignatures - before.validSignatures,
    });
    return {
      perSecond: (options.deliveries / tookMs) * 1_000,
      nodeMs: (after.nodeMs - cpu.nodeMs) / options.deliveries,
      postgresMs:
        after.postgresMs === null || cpu.postgresMs === null
          ? null
          : (after.postgresMs - cpu.postgresMs) / options.deliveries,
    };
  } finally {
    await worker.stop();
  }
}

/** The table is asked only at the end: looking for a live row among thousands of dead ones costs what is measured. */
async function untilDrained(
  pool: BenchDatabase["pool"],
  receiver: Receiver,
  requests: number,
  begunAt: number,
): Promise<void> {
  const drained = async () => (await receiver.client.totals()).requests >= requests && !(await anyLeft(pool));
  while (!(await drained())) {
    if (performance.now() - begunAt > MAX_RUN_MS) throw new Error(`not drained after ${MAX_RUN_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** @throws Error when a delivery was lost, doubled or badly signed: such a round has no number */
function check(deliveries: number, seen: Readonly<Record<string, number>>): void {
  for (const [what, count] of Object.entries(seen)) {
    if (count !== deliveries)
      throw new Error(`the receiver saw ${count} ${what} for ${deliveries} deliveries`);
  }
}

function jsonBody(bytes: number): Buffer {
  const frame = '{"data":""}';
  return Buffer.from(`{"data":"${"x".repeat(Math.max(0, bytes - frame.length))}"}`);
}

function report(
  options: BenchOptions,
  database: BenchDatabase,
  concurrency: number,
  loops: readonly number[],
  runs: readonly DrainRun[],
) {
  const postgres = runs.map((run) => run.postgresMs).filter((ms) => ms !== null);
  return {
    scenario: "drain",
    deliveries: options.deliveries,
    destinations: options.destinations,
    bodyBytes: options.bodyBytes,
    rounds: options.rounds,
    postgres: database.version,
    node: process.version,
    deliveriesPerSecond: round(median(runs.map((run) => run.perSecond))),
    loopPerSecond: round(median(loops)),
    loopConcurrency: concurrency,
    ratioToLoop: round(median(runs.map((run, index) => run.perSecond / (loops[index] ?? Number.NaN))), 3),
    nodeCpuMsPerDelivery: round(median(runs.map((run) => run.nodeMs)), 3),
    postgresCpuMsPerDelivery: postgres.length === 0 ? null : round(median(postgres), 3),
    each: runs.map((run, index) => ({
      sluice: round(run.perSecond),
      loop: round(loops[index] ?? Number.NaN),
    })),
  };
}
