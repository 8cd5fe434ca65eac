/**
 * What the outbox costs a business that writes: 16 writers, each one Prisma transaction after the other, with the outbox
 * and its hint, with the same rows and no hint, and with the business row alone, in turns. One connection listens, as a
 * worker would, but nothing is sent: a worker's own cost is the drain's number. Destinations are many, as are the bodies.
 */
import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import {
  createHinter,
  enqueueDelivery,
  type Hinter,
  outboxStatementName,
  transactWithOutbox,
} from "#outbox/index.ts";
import { jsonBody, withBench } from "../lib/context.ts";
import { machineFacts } from "../lib/machine.ts";
import { progress } from "../lib/progress.ts";
import { atLeast, type Scenario } from "../lib/scenario.ts";
import { type BenchTenant, makeBenchTenant } from "../lib/sql.ts";
import { median, round } from "../lib/stats.ts";
import { clearWritten, INSERT_BUSINESS, LISTEN_WAKE, makeBusinessTable } from "../writers/sql.ts";

const WRITERS = 16;
const GOAL_TO_NO_HINT = 0.85;
const GOAL_TO_BUSINESS = 0.4;
const WARM_UP_SHARE = 0.2;

const KINDS = ["outbox", "no-hint", "business"] as const;
type Kind = (typeof KINDS)[number];

interface Writing {
  readonly prisma: PrismaClient;
  readonly hinter: Hinter;
  readonly tenant: BenchTenant;
  readonly body: Buffer;
}

export const writers: Scenario = {
  name: "writers",
  title: "16 writers: business row, outbox and hint; the same without the hint; the business row alone",
  defaults: { seconds: 8 },
  run: (options) =>
    withBench(0, async (bench) => {
      const { database, receiver } = bench;
      await makeBusinessTable(database.pool);
      const tenant = await makeBenchTenant(database.pool, receiver.url, options.destinations);
      const pool = createPool({
        connectionString: database.url,
        max: WRITERS,
        applicationName: "sluice-bench-writer",
      });
      bench.defer(() => pool.end());
      const prisma = createPrisma(pool, { statementName: outboxStatementName });
      bench.defer(() => prisma.$disconnect());
      const hinter = createHinter({ connectionString: database.url });
      bench.defer(() => hinter.close());
      const hints = await listen(database.url);
      bench.defer(() => hints.close());
      const writing: Writing = { prisma, hinter, tenant, body: jsonBody(options.bodyBytes) };
      const rates = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
      for (const kind of KINDS) await oneTurn(kind, writing, options.seconds * WARM_UP_SHARE);
      await clearWritten(database.pool);
      for (let number = 1; number <= options.rounds; number++) {
        for (const kind of KINDS) {
          const { written, perSecond } = await oneTurn(kind, writing, options.seconds);
          check(kind, written, await clearWritten(database.pool));
          rates.get(kind)?.push(perSecond);
          progress(`round ${number} of ${options.rounds}: ${kind} ${round(perSecond)} transactions/s`);
        }
      }
      if (hints.count() === 0) throw new Error("no hint was heard");
      return report(rates, { ...machineFacts(database), rounds: options.rounds, hints: hints.count() });
    }),
};

/** Hears what a worker would hear. */
async function listen(url: string): Promise<{ count(): number; close(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  let count = 0;
  client.on("notification", () => {
    count++;
  });
  client.on("error", () => {});
  await client.connect();
  await client.query(LISTEN_WAKE);
  return { count: () => count, close: () => client.end() };
}

async function oneTurn(kind: Kind, writing: Writing, seconds: number) {
  const begunAt = performance.now();
  const endsAt = begunAt + seconds * 1_000;
  let written = 0;
  const write = async () => {
    while (performance.now() < endsAt) {
      await transaction(kind, writing, written);
      written++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return { written, perSecond: (written / (performance.now() - begunAt)) * 1_000 };
}

function transaction(kind: Kind, { prisma, hinter, tenant, body }: Writing, index: number): Promise<unknown> {
  const id = randomUUID();
  const business = (tx: Pick<PrismaClient, "$executeRawUnsafe">) =>
    tx.$executeRawUnsafe(INSERT_BUSINESS, id, tenant.tenantId, 1_250, "bench");
  if (kind === "business") return prisma.$transaction(business);
  const both = async (tx: Parameters<Parameters<PrismaClient["$transaction"]>[0]>[0]) => {
    await business(tx);
    return await enqueueDelivery(tx, {
      region: "us",
      tenantId: tenant.tenantId,
      destinationId: tenant.destinationIds[index % tenant.destinationIds.length] ?? "",
      eventType: "bench.event",
      idempotencyKey: id,
      body,
    });
  };
  return kind === "outbox" ? transactWithOutbox(prisma, hinter, both) : prisma.$transaction(both);
}

/** @throws Error when the tables do not hold what the writers were told */
function check(kind: Kind, written: number, stood: { business: number; deliveries: number }): void {
  const deliveries = kind === "business" ? 0 : written;
  if (stood.business !== written || stood.deliveries !== deliveries) {
    throw new Error(`${kind}: ${written} transactions left ${JSON.stringify(stood)}`);
  }
}

function report(rates: ReadonlyMap<Kind, readonly number[]>, facts: Record<string, unknown>) {
  const of = (kind: Kind) => rates.get(kind) ?? [];
  const against = (other: Kind) =>
    round(median(of("outbox").map((rate, index) => rate / (of(other)[index] ?? Number.NaN))), 3);
  return {
    goals: [
      atLeast(
        "writer throughput divided by the same rows without a hint",
        against("no-hint"),
        GOAL_TO_NO_HINT,
      ),
      atLeast("writer throughput divided by the business row alone", against("business"), GOAL_TO_BUSINESS),
    ],
    facts: {
      ...facts,
      writers: WRITERS,
      perSecond: Object.fromEntries(KINDS.map((kind) => [kind, round(median(of(kind)))])),
      each: Object.fromEntries(KINDS.map((kind) => [kind, of(kind).map((rate) => round(rate))])),
    },
  };
}
