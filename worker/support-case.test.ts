/**
 * The support case from end to end: a real worker process with the desk's tick, and the reference receiving endpoint behind
 * plain node:http. Urgent follow-ups overtake a bulk batch of their own tenant, and an endpoint that is killed between its
 * commit and its answer gets the same delivery again without a second effect.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { endpointPath } from "#demo/support/desk.ts";
import { createEndpointBook } from "#demo/support/inbox/endpoints.ts";
import { createInbox } from "#demo/support/inbox/inbox.ts";
import { createLimiter } from "#demo/support/inbox/limiter.ts";
import { type ServedInbox, serveInbox } from "#demo/support/inbox/serve.ts";
import { runTick } from "#demo/support/passes.ts";
import { ORDER_BATCH } from "#demo/support/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING, TEST_SECRET_KEYS } from "#tests/support/factories.ts";
import { readInboxRows } from "#tests/support/inbox-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 180_000;
const BATCH = 1_200;
const FOLLOW_UPS = 20;
const CAP = 4;
const SERVICE_MS = 25;
/** For the rest of a batch, when there is nothing more to overtake. */
const WIDE_CAP = 40;
/**
 * Bulk rows that may still start between the moment an urgent one is due and its own first attempt: what is claimed
 * already and what one more claim takes. Without the classes it would be all that is left of the batch.
 */
const MOST_BETWEEN = 200;

let database: TestDatabase;
let prisma: PrismaClient;
let tenantId: string;
let inbox: ServedInbox | null = null;
let serviceMs = SERVICE_MS;
const endpoints = new Set<ChildProcess>();

beforeEach(async () => {
  database = await createTestDatabase({ region: "us" });
  prisma = createPrisma(database.pool);
  tenantId = await makeTenant(database.pool, { concurrencyLimit: CAP });
  serviceMs = SERVICE_MS;
});
afterEach(async () => {
  await endWorkers();
  await Promise.all([...endpoints].map(killEndpoint));
  await inbox?.close();
  inbox = null;
  await prisma.$disconnect();
  await database.drop();
});

/** The endpoint in this process; each answer takes its time, so that a batch lasts. */
async function serveHere(): Promise<string> {
  const poolOf = () => database.pool;
  inbox = await serveInbox(
    createInbox({
      endpoints: createEndpointBook(poolOf, TEST_KEYRING, () => performance.now()),
      poolOf,
      limiter: createLimiter({ ratePerSecond: 100_000, burst: 100_000 }),
      nowMs: () => Date.now(),
      onError: (error) => console.error(error),
      beforeAcknowledge: () => delay(serviceMs),
    }),
  );
  return inbox.url;
}

async function addDestination(origin: string, policyOverride?: unknown): Promise<string> {
  const id = await makeDestination(database.pool, tenantId, { concurrencyLimit: CAP, policyOverride });
  await prisma.destination.update({ where: { id }, data: { url: origin + endpointPath("us", id) } });
  return id;
}

async function addTickets(count: number, destinationId: string, followUpAt: Date | null): Promise<void> {
  await prisma.demoSupportTicket.createMany({
    data: Array.from({ length: count }, (_, index) => ({
      id: randomUUID(),
      region: "us",
      tenantId,
      destinationId,
      subject: `Ticket ${index}`,
      enrichedVersion: 1,
      followUpAt,
    })),
  });
}

/** For each urgent delivery, how many routine ones started between its due time and its own first attempt. */
async function bulkStartsBeforeUrgent(): Promise<number[]> {
  const { rows } = await database.pool.query<{ n: number }>(
    `SELECT (SELECT count(*)::integer FROM sluice.attempt b
              WHERE b.service_class = 'routine' AND b.started_at BETWEEN u.first_due_at AND a.started_at) AS n
       FROM sluice.delivery_archive u JOIN sluice.attempt a ON a.delivery_id = u.id AND a.number = 1
      WHERE u.service_class = 'urgent' ORDER BY n`,
  );
  return rows.map(({ n }) => n);
}

describe("a bulk batch and follow-ups of one tenant", () => {
  it.each([
    ["at two destinations that share the tenant's cap", false],
    ["at one and the same destination", true],
  ])(
    "FAIR-4 urgent follow-ups overtake a batch of more than a thousand, %s, and every effect is there once",
    async (_where, shared) => {
      const origin = await serveHere();
      const search = await addDestination(origin);
      const tickets = shared ? search : await addDestination(origin);
      await addTickets(BATCH, tickets, null);
      await prisma.$executeRawUnsafe(ORDER_BATCH, randomUUID(), "us", tenantId, search);
      expect(await runTick(prisma, { region: "us", stepMs: 0 })).toMatchObject({ indexed: BATCH });
      await spawnReadyWorker({
        urls: { us: database.connectionString },
        args: ["--region", "us", "--health-port", "0", "--demo"],
      });
      await waitFor(async () => (await readInboxRows(database.pool)).documents > 100, {
        what: "the batch to be under way",
        timeoutMs: LONG_MS,
      });
      await addTickets(FOLLOW_UPS, tickets, new Date(Date.now() - 1_000));
      await runTick(prisma, { region: "us" });
      await waitFor(async () => (await readInboxRows(database.pool)).followUps === FOLLOW_UPS, {
        what: "the follow-ups",
        timeoutMs: LONG_MS,
        intervalMs: 50,
      });
      const left = (await countDeliveries(database.pool)).ready;
      expect(left).toBeGreaterThan(2 * MOST_BETWEEN);
      serviceMs = 0;
      await prisma.tenant.update({ where: { id: tenantId }, data: { concurrencyLimit: WIDE_CAP } });
      await prisma.destination.updateMany({ where: { tenantId }, data: { concurrencyLimit: WIDE_CAP } });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === BATCH + FOLLOW_UPS, {
        what: "the rest of the batch",
        timeoutMs: LONG_MS,
        intervalMs: 100,
      });
      const between = await bulkStartsBeforeUrgent();
      expect(between).toHaveLength(FOLLOW_UPS);
      expect(Math.max(...between)).toBeLessThan(MOST_BETWEEN);
      expect(await readInboxRows(database.pool)).toEqual({
        keys: BATCH + FOLLOW_UPS,
        unfinished: 0,
        followUps: FOLLOW_UPS,
        enrichments: 0,
        doubled: 0,
        documents: BATCH,
        writes: BATCH,
      });
    },
    LONG_MS * 3,
  );
});

async function startEndpoint(args: readonly string[]) {
  const main = path.join(fileURLToPath(new URL("..", import.meta.url)), "demo/support/inbox/main.ts");
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL_US: database.connectionString,
      SLUICE_SECRET_KEYS: TEST_SECRET_KEYS,
    },
  });
  endpoints.add(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  const origin = await waitFor(() => /^inbox ready (\S+)$/m.exec(output)?.[1], {
    what: "the endpoint to listen",
    timeoutMs: LONG_MS,
  });
  return { origin, port: new URL(origin).port, output: () => output, kill: () => killEndpoint(child) };
}

async function killEndpoint(child: ChildProcess): Promise<void> {
  endpoints.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

describe("an endpoint that is killed", () => {
  it(
    "RECV-4 RETRY-10 after its commit and before its answer: the next attempt succeeds, the effect is there once",
    async () => {
      const first = await startEndpoint(["--hold-answers"]);
      const destinationId = await addDestination(first.origin, { backoff: { baseMs: 200, capMs: 500 } });
      await addTickets(1, destinationId, new Date(Date.now() - 1_000));
      await spawnReadyWorker({
        urls: { us: database.connectionString },
        args: ["--region", "us", "--health-port", "0", "--demo"],
      });
      await runTick(prisma, { region: "us" });
      await waitFor(() => first.output().includes("applied"), { what: "the commit", timeoutMs: LONG_MS });
      await first.kill();
      await startEndpoint(["--port", first.port]);
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 1, {
        what: "the redelivery",
        timeoutMs: LONG_MS,
      });
      expect(await readInboxRows(database.pool)).toMatchObject({ keys: 1, followUps: 1, doubled: 0 });
      const { rows } = await database.pool.query<{ outcome: string }>(
        "SELECT outcome FROM sluice.attempt WHERE kind = 'http' ORDER BY number",
      );
      expect(rows.length).toBeGreaterThanOrEqual(2);
      expect(rows.at(-1)?.outcome).toBe("delivered");
      expect(rows[0]?.outcome).not.toBe("delivered");
    },
    LONG_MS * 3,
  );
});
