/**
 * From the commit of a business transaction to the first byte at the receiver, in an idle region, at a steady rate.
 * Each delivery goes the whole way: Prisma transaction, outbox, hint, claim, request. Both clocks are this machine's.
 */
import { randomUUID } from "node:crypto";
import { createPool } from "#db/pool.ts";
import { createPrisma } from "#db/prisma.ts";
import { spawnReceiver } from "#demo/receiver/spawn.ts";
import { createHinter, enqueueDelivery, outboxStatementName, transactWithOutbox } from "#outbox/index.ts";
import { ALL_ON } from "#worker/config.ts";
import { startWorker } from "#worker/start-worker.ts";
import type { BenchOptions } from "../config.ts";
import { openBenchDatabase } from "../lib/database.ts";
import { BENCH_KEYRING, makeBenchTenant } from "../lib/sql.ts";
import { percentile, round } from "../lib/stats.ts";

const WRITER_POOL_MAX = 5;
const DESTINATIONS = 50;
const ARRIVAL_TIMEOUT_MS = 30_000;
const WARM_UP_SHARE = 0.1;

export async function latency(options: BenchOptions) {
  const count = options.perSecond * options.seconds;
  const receiver = await spawnReceiver(["--records", String(count * 2), "--no-hash"]);
  const database = await openBenchDatabase();
  const writers = createPool({
    connectionString: database.url,
    max: WRITER_POOL_MAX,
    applicationName: "sluice-bench-writer",
  });
  const prisma = createPrisma(writers, { statementName: outboxStatementName });
  const hinter = createHinter({ connectionString: database.url });
  const tenant = await makeBenchTenant(database.pool, receiver.url, DESTINATIONS);
  const worker = await startWorker({
    region: "us",
    connectionString: database.url,
    directConnectionString: database.url,
    keyring: BENCH_KEYRING,
    slots: options.slots,
    drainMs: 8_000,
    probeMs: 250,
    healthPort: null,
    logLevel: "warn",
    switches: ALL_ON,
  });
  try {
    const committedAt = new Map<string, number>();
    const writeOne = async (index: number) => {
      const destinationId = tenant.destinationIds[index % tenant.destinationIds.length] ?? "";
      const result = await transactWithOutbox(prisma, hinter, (tx) =>
        enqueueDelivery(tx, {
          region: "us",
          tenantId: tenant.tenantId,
          destinationId,
          eventType: "bench.event",
          idempotencyKey: randomUUID(),
          body: '{"n":1}',
        }),
      );
      committedAt.set(result.deliveryId, performance.timeOrigin + performance.now());
    };
    await atRate(count, options.perSecond, writeOne);
    const waits = await arrivals(receiver, committedAt);
    const measured = waits.slice(Math.floor(waits.length * WARM_UP_SHARE));
    return {
      scenario: "latency",
      perSecond: options.perSecond,
      deliveries: measured.length,
      postgres: database.version,
      node: process.version,
      p50Ms: round(percentile(measured, 0.5), 1),
      p95Ms: round(percentile(measured, 0.95), 1),
      p99Ms: round(percentile(measured, 0.99), 1),
      maxMs: round(Math.max(...measured), 1),
    };
  } finally {
    await worker.stop();
    await hinter.close();
    await prisma.$disconnect();
    await writers.end();
    await database.close();
    await receiver.stop();
  }
}

/** Starts `count` pieces of work at an even rate and waits for all. */
async function atRate(
  count: number,
  perSecond: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  const begunAt = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const waitMs = begunAt + (index * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    running.push(work(index));
  }
  await Promise.all(running);
}

/** Milliseconds from commit to arrival, in the order of the commits. @throws when one never arrived */
async function arrivals(
  receiver: Awaited<ReturnType<typeof spawnReceiver>>,
  committedAt: ReadonlyMap<string, number>,
): Promise<number[]> {
  const giveUpAt = performance.now() + ARRIVAL_TIMEOUT_MS;
  for (;;) {
    const { requests } = await receiver.client.totals();
    if (requests >= committedAt.size) break;
    if (performance.now() > giveUpAt) throw new Error(`${requests} of ${committedAt.size} arrived`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const arrivedAt = new Map<string, number>();
  for (const record of await receiver.client.requests()) {
    if (record.webhookId !== null) arrivedAt.set(record.webhookId, record.arrivedAtMs);
  }
  return [...committedAt].map(([id, at]) => {
    const arrived = arrivedAt.get(id);
    if (arrived === undefined) throw new Error(`${id} was never requested`);
    return arrived - at;
  });
}
