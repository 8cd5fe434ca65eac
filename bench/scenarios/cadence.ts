/**
 * What the poll cadence (SLUICE_PROBE_MS) buys and costs, for three values: how far behind their due time deliveries leave
 * that were written without a hint (the probe alone finds them) and that were planned (timers know them), and what the worker
 * costs when there is nothing to do. The table of docs/limits.md; run by name, on a machine that does nothing else.
 */
import type { BenchOptions } from "../config.ts";
import { storedAttempts } from "../due-lag/sql.ts";
import { type Bench, jsonBody, withBench } from "../lib/context.ts";
import { processCpuMs, treeCpuMs } from "../lib/cpu.ts";
import { shareOver } from "../lib/cpu-share.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { beside, type Scenario } from "../lib/scenario.ts";
import { type BenchTenant, clearRun, fillDeliveries, hint, makeBenchTenant } from "../lib/sql.ts";
import { median, percentile, round } from "../lib/stats.ts";
import { sleep, untilCount } from "../lib/wait.ts";
import { spawnBenchWorker } from "../lib/worker.ts";

const CADENCES_MS = [100, 250, 1_000] as const;
type Cadence = (typeof CADENCES_MS)[number];
/** Start-up is not idling. */
const SETTLE_MS = 10_000;
/** Between two deliveries without a hint; no multiple of a cadence, so that they fall anywhere between two probes. */
const GAP_MS = 37;
const LEAD_MS = 2_000;
const SPREAD_MS = 5_000;
const ARRIVAL_TIMEOUT_MS = 60_000;

interface Turn {
  readonly cadenceMs: Cadence;
  readonly unhintedMs: readonly number[];
  readonly plannedMs: readonly number[];
  readonly nodeCores: number;
  readonly postgresCores: number;
}

export const cadence: Scenario = {
  name: "cadence",
  title: `lag and idle cost for a probe every ${CADENCES_MS.join(", ")} ms (not part of \`all\`)`,
  defaults: { rounds: 3, seconds: 20, deliveries: 300, destinations: 300, slots: 512 },
  run: (options) =>
    withBench(options.deliveries * 2 * options.rounds * CADENCES_MS.length, async (bench) => {
      const { serverPid } = bench.database;
      if (serverPid === null) throw new Error("needs its own Postgres: unset DATABASE_URL_US");
      const tenant = await makeBenchTenant(bench.database.pool, bench.receiver.url, options.destinations);
      const turns: Turn[] = [];
      for (let number = 1; number <= options.rounds; number++) {
        const alone = await shareOver(() => treeCpuMs(serverPid), options.seconds);
        for (const cadenceMs of CADENCES_MS) {
          turns.push(await oneTurn(bench, tenant, cadenceMs, { ...options, serverPid, alone }));
        }
        progress(`round ${number} of ${options.rounds}`);
      }
      return report(turns, { rounds: options.rounds, ...machineFacts(bench.database) });
    }),
};

async function oneTurn(
  bench: Bench,
  tenant: BenchTenant,
  cadenceMs: Cadence,
  options: BenchOptions & { readonly serverPid: number; readonly alone: number },
): Promise<Turn> {
  const { database } = bench;
  await clearRun(database.pool);
  const worker = await spawnBenchWorker(database.url, options.slots, cadenceMs);
  try {
    await sleep(SETTLE_MS);
    const [nodeCores, postgres] = await Promise.all([
      shareOver(() => processCpuMs(worker.pid), options.seconds),
      shareOver(() => treeCpuMs(options.serverPid), options.seconds),
    ]);
    const body = jsonBody(options.bodyBytes);
    const unhintedMs = await lags(bench, tenant, options.deliveries, async () => {
      for (let nth = 0; nth < options.deliveries; nth++) {
        await fillDeliveries(database.pool, oneOf(tenant, nth), 1, body);
        await sleep(GAP_MS);
      }
    });
    const plannedMs = await lags(bench, tenant, options.deliveries, async () => {
      const dueInMs = (index: number) => LEAD_MS + (index * SPREAD_MS) / options.deliveries + Math.random();
      await fillDeliveries(database.pool, tenant, options.deliveries, body, { dueInMs });
      await hint(database.pool);
    });
    return { cadenceMs, unhintedMs, plannedMs, nodeCores, postgresCores: postgres - options.alone };
  } finally {
    await worker.stop();
  }
}

/** A destination for each delivery: neither a cap nor a neighbour is what is measured. */
function oneOf({ tenantId, destinationIds }: BenchTenant, nth: number): BenchTenant {
  return { tenantId, destinationIds: [destinationIds[nth % destinationIds.length] ?? ""] };
}

/**
 * Arrival minus due time of each delivery that `write` writes.
 * @throws Error when one of them was not sent exactly once
 */
async function lags(
  { database, receiver }: Bench,
  { tenantId }: BenchTenant,
  count: number,
  write: () => Promise<void>,
): Promise<number[]> {
  const known = new Set((await storedAttempts(database.pool, tenantId)).map(({ webhookId }) => webhookId));
  const before = (await receiver.client.totals()).requests;
  await write();
  await untilCount(async () => (await receiver.client.totals()).requests, before + count, ARRIVAL_TIMEOUT_MS);
  const stored = async () =>
    (await storedAttempts(database.pool, tenantId)).filter(({ webhookId }) => !known.has(webhookId));
  await untilCount(async () => (await stored()).length, count, ARRIVAL_TIMEOUT_MS);
  const arrivedAt = new Map(
    (await receiver.client.requests()).map(({ webhookId, arrivedAtMs }) => [webhookId, arrivedAtMs]),
  );
  return (await stored()).map(({ webhookId, dueAtMs }) => {
    const arrived = arrivedAt.get(webhookId);
    if (arrived === undefined) throw new Error(`${webhookId} never arrived`);
    return arrived - dueAtMs;
  });
}

function report(turns: readonly Turn[], facts: Record<string, unknown>) {
  const goals = CADENCES_MS.flatMap((cadenceMs) => {
    const own = turns.filter((turn) => turn.cadenceMs === cadenceMs);
    const of = (value: (turn: Turn) => number, digits: number) => round(median(own.map(value)), digits);
    const every = `probe every ${cadenceMs} ms:`;
    return [
      beside(
        `${every} p50 ms behind the due time, no hint`,
        of((turn) => percentile(turn.unhintedMs, 0.5), 1),
      ),
      beside(
        `${every} p99 ms behind the due time, no hint`,
        of((turn) => percentile(turn.unhintedMs, 0.99), 1),
      ),
      beside(
        `${every} p99 ms behind the due time, planned`,
        of((turn) => percentile(turn.plannedMs, 0.99), 1),
      ),
      beside(
        `${every} cores of Node, idle`,
        of((turn) => turn.nodeCores, 4),
      ),
      beside(
        `${every} cores of Postgres, idle`,
        of((turn) => turn.postgresCores, 4),
      ),
    ];
  });
  return { goals, facts };
}
