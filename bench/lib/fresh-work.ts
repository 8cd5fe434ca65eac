/**
 * Work that is measured from the commit of its business transaction to its arrival at the receiver: written at an even
 * rate through Prisma and the outbox, with its hint, one delivery a transaction. Both clocks are this machine's. The
 * receiver must have records on, and must have seen each delivery exactly once, else there is no number.
 */
import { randomUUID } from "node:crypto";
import { createPool } from "#db/pool.ts";
import { createPrisma, type Prisma } from "#db/prisma.ts";
import { createHinter, enqueueDelivery, outboxStatementName, transactWithOutbox } from "#outbox/index.ts";
import { stagedAttempts } from "../stages/sql.ts";
import type { Bench } from "./context.ts";
import type { BenchTenant } from "./sql.ts";
import { type StagedLag, stagedLag } from "./stages.ts";
import { sleep, untilCount } from "./wait.ts";

const WRITER_POOL_MAX = 5;
const ARRIVAL_TIMEOUT_MS = 60_000;
/** The first ones of a measurement open connections. */
const WARM_UP_SHARE = 0.1;
const BODY = '{"n":1}';

export interface FreshWork {
  /** Milliseconds from commit to arrival, in the order of the commits, the first tenth left out. */
  measure(perSecond: number, seconds: number): Promise<number[]>;
  /** The same with the stages of each. Claims of the tenant must be noted (stages/sql.ts). */
  measureStaged(perSecond: number, seconds: number): Promise<StagedLag[]>;
}

/** Moments in milliseconds since 1970. */
interface Way {
  readonly webhookId: string;
  readonly committedMs: number;
  readonly arrivedMs: number;
}

/** @param names the tenant's destinations at the receiver, in their order */
export function openFreshWork(bench: Bench, tenant: BenchTenant, names: readonly string[]): FreshWork {
  const { database, receiver } = bench;
  const pool = createPool({
    connectionString: database.url,
    max: WRITER_POOL_MAX,
    applicationName: "sluice-bench-writer",
  });
  bench.defer(() => pool.end());
  const prisma = createPrisma(pool, { statementName: outboxStatementName });
  bench.defer(() => prisma.$disconnect());
  const hinter = createHinter({ connectionString: database.url });
  bench.defer(() => hinter.close());

  const writeOne = async (index: number, committedAt: Map<string, number>) => {
    const destinationId = tenant.destinationIds[index % tenant.destinationIds.length] ?? "";
    const delivery = {
      region: "us",
      tenantId: tenant.tenantId,
      destinationId,
      eventType: "bench.event",
      idempotencyKey: randomUUID(),
      body: BODY,
    } as const;
    const patience = { maxWait: ARRIVAL_TIMEOUT_MS, timeout: ARRIVAL_TIMEOUT_MS };
    const enqueue = (tx: Prisma.TransactionClient) => enqueueDelivery(tx, delivery);
    // The wait is counted from the commit: a disk that stands still for seconds before it must not end the run.
    const result = await transactWithOutbox(prisma, hinter, enqueue, patience);
    committedAt.set(result.deliveryId, performance.timeOrigin + performance.now());
  };
  const requests = async () => {
    const seen = await Promise.all(names.map((name) => receiver.client.stats(name)));
    return seen.reduce((sum, stats) => sum + stats.requests, 0);
  };
  const send = async (perSecond: number, seconds: number): Promise<Way[]> => {
    const before = await requests();
    const committedAt = new Map<string, number>();
    await atRate(perSecond * seconds, perSecond, (index) => writeOne(index, committedAt));
    await untilCount(requests, before + committedAt.size, ARRIVAL_TIMEOUT_MS);
    const ways = await waysOf(bench, names, committedAt);
    return ways.slice(Math.floor(ways.length * WARM_UP_SHARE));
  };
  return {
    async measure(perSecond, seconds) {
      return (await send(perSecond, seconds)).map(({ committedMs, arrivedMs }) => arrivedMs - committedMs);
    },
    async measureStaged(perSecond, seconds) {
      return await withStages(bench, tenant, await send(perSecond, seconds));
    },
  };
}

/** Starts `count` pieces of work at an even rate and waits for all. */
export async function atRate(
  count: number,
  perSecond: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  const begunAt = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const waitMs = begunAt + (index * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    running.push(work(index));
  }
  await Promise.all(running);
}

async function waysOf(
  { receiver }: Bench,
  names: readonly string[],
  committedAt: ReadonlyMap<string, number>,
): Promise<Way[]> {
  const arrivedAt = new Map<string, number>();
  for (const destination of names) {
    for (const { webhookId, arrivedAtMs } of await receiver.client.requests({ destination })) {
      if (webhookId === null || !committedAt.has(webhookId)) continue;
      if (arrivedAt.has(webhookId)) throw new Error(`${webhookId} was requested twice`);
      arrivedAt.set(webhookId, arrivedAtMs);
    }
  }
  return [...committedAt].map(([webhookId, committedMs]) => {
    const arrivedMs = arrivedAt.get(webhookId);
    if (arrivedMs === undefined) throw new Error(`${webhookId} was never requested`);
    return { webhookId, committedMs, arrivedMs };
  });
}

/** The last outcomes are recorded some milliseconds after the last arrival. */
async function withStages(
  { database }: Bench,
  { tenantId }: BenchTenant,
  ways: readonly Way[],
): Promise<StagedLag[]> {
  const wanted = new Set(ways.map(({ webhookId }) => webhookId));
  const found = async () =>
    (await stagedAttempts(database.pool, tenantId)).filter(({ webhookId }) => wanted.has(webhookId));
  await untilCount(async () => (await found()).length, ways.length, ARRIVAL_TIMEOUT_MS);
  const attempts = new Map((await found()).map((attempt) => [attempt.webhookId, attempt]));
  return ways.map(({ webhookId, committedMs, arrivedMs }) => {
    const attempt = attempts.get(webhookId);
    if (attempt === undefined) throw new Error(`${webhookId} has no attempt whose claim was noted`);
    return stagedLag(attempt, committedMs, arrivedMs);
  });
}
