/**
 * Data that goes wrong beside data that is right: answers that no text column can hold, rows that somebody else has
 * just changed, transactions of others that stay open. Whatever it is, the neighbours do not notice.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPrisma } from "#db/prisma.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { fromPublicId } from "#domain/ids.ts";
import { enqueueDelivery } from "#outbox/index.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { openTransaction, waitUntilBlocked } from "#tests/support/queue-rows/sql.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
const workers: TestWorker[] = [];

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await endWorkers();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

async function destination(path: string, concurrencyLimit = 300): Promise<string> {
  return makeDestination(database.pool, tenantId, { url: `${receiver.url}${path}`, concurrencyLimit });
}

async function enqueue(path: string, count: number): Promise<string[]> {
  return makeDeliveries(database.pool, { tenantId, destinationId: await destination(path), count });
}

const delivered = (count: number) =>
  waitFor(async () => (await countDeliveries(database.pool)).delivered === count, {
    timeoutMs: LONG_MS,
    what: `${count} delivered`,
  });

async function start(options: Parameters<typeof startTestWorker>[1] = {}): Promise<TestWorker> {
  const worker = await startTestWorker(database, options);
  workers.push(worker);
  return worker;
}

describe("an answer of NUL, invalid UTF-8 and half surrogates", () => {
  it(
    "is kept byte for byte, beside 249 good ones of the same batch, all of which are recorded at once",
    async () => {
      // All 250 are answered before the first is recorded: the table is shut until then.
      const good = await enqueue("/ok/good", 249);
      const [bad = ""] = await enqueue("/raw/bad", 1);
      const holder = await openTransaction(database.pool);
      await holder.client.query("LOCK TABLE sluice.attempt IN EXCLUSIVE MODE");
      const worker = await start({ slots: 300 });
      await waitFor(() => receiver.totals().finished === 250, { timeoutMs: LONG_MS, what: "all answers" });
      await holder.commit();
      await delivered(250);
      expect(receiver.totals()).toMatchObject({ requests: 250, effects: 250 });
      const [attempt, ...more] = await readAttempts(database.pool, bad);
      expect(more).toEqual([]);
      expect(attempt).toMatchObject({ outcome: "delivered", status: 200 });
      const body = attempt?.response_body ?? Buffer.alloc(0);
      expect(body.includes(0)).toBe(true);
      expect(body.includes(Buffer.from([0xed, 0xa0, 0x80]))).toBe(true);
      for (const id of good) {
        expect(await readDelivery(database.pool, id)).toMatchObject({ state: "delivered", attempts: 1 });
      }
      // Nothing had to be halved: the bytes are bytes.
      expect(worker.captured.text()).not.toContain("evidence_refused");
    },
    LONG_MS * 2,
  );
});

describe("a leased row that another transaction updates while its finish waits", () => {
  it(
    "is recorded all the same, with its neighbours, and nothing is sent again",
    async () => {
      const worker = await spawnReadyWorker({ urls: { us: database.connectionString } });
      const ids = await enqueue("/ok/touched?ms=500", 5);
      await receiver.waitFor("touched", (stats) => stats.requests === 5, LONG_MS);
      const holder = await openTransaction(database.pool);
      await holder.client.query(
        "UPDATE sluice.delivery SET last_outcome = 'touched' WHERE id = ANY($1::uuid[])",
        [ids.slice(0, 2)],
      );
      await waitUntilBlocked(database.pool, "sluice.finish");
      await holder.commit();
      await delivered(5);
      expect(receiver.stats("touched")).toMatchObject({ requests: 5, effects: 5 });
      for (const id of ids) expect(await readAttempts(database.pool, id)).toHaveLength(1);
      expect(worker.isRunning()).toBe(true);
    },
    LONG_MS * 2,
  );
});

describe("transactions of others that stay open", () => {
  it(
    "fault 94: a delivery whose transaction commits long after younger ones were delivered is not passed over",
    async () => {
      const place = { region: "us", tenantId, destinationId: await destination("/ok/late-commit") } as const;
      const prisma = createPrisma(database.pool);
      const input = { ...place, eventType: "test.event", body: "{}" };
      await start();
      let commitOld: () => void = () => {};
      const mayCommit = new Promise<void>((resolve) => {
        commitOld = resolve;
      });
      let isWritten = false;
      const old = prisma.$transaction(
        async (tx) => {
          const written = await enqueueDelivery(tx, { ...input, idempotencyKey: "old" });
          isWritten = true;
          await mayCommit;
          return written;
        },
        { timeout: LONG_MS },
      );
      await waitFor(() => isWritten);
      for (const key of ["young-1", "young-2", "young-3"]) {
        await prisma.$transaction((tx) => enqueueDelivery(tx, { ...input, idempotencyKey: key }));
      }
      await delivered(3);
      expect(receiver.stats("late-commit").requests).toBe(3);
      commitOld();
      const { deliveryId } = await old;
      await delivered(4);
      expect(await readDelivery(database.pool, fromPublicId("dlv", deliveryId))).toMatchObject({
        attempts: 1,
      });
      expect(receiver.stats("late-commit")).toMatchObject({ requests: 4, effects: 4 });
    },
    LONG_MS * 2,
  );

  it(
    "fault 116: an old snapshot that keeps dead rows from being cleaned holds up no claim",
    async () => {
      const holder = await database.pool.connect();
      try {
        await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
        await holder.query("SELECT count(*) FROM sluice.delivery");
        // Every one of these leaves a dead row, and its index entries, behind.
        await start({ slots: 100 });
        const churnedAt = performance.now();
        await enqueue("/ok/churn", 3_000);
        await delivered(3_000);
        const churnMs = performance.now() - churnedAt;
        // What a claim of a single fresh row reads among them; the plan would read it all if it walked the dead ones.
        const begunAt = performance.now();
        for (let n = 0; n < 20; n++) await enqueue(`/ok/fresh-${n}`, 1);
        await delivered(3_020);
        expect(performance.now() - begunAt).toBeLessThan(Math.max(2 * PROMPT_MS, churnMs));
        const { rows } = await holder.query<{ n: number }>(
          "SELECT count(*)::integer AS n FROM sluice.delivery",
        );
        // It still sees the table as it was: none of the dead rows may have been removed.
        expect(rows[0]?.n).toBe(0);
      } finally {
        await holder.query("ROLLBACK");
        holder.release();
      }
    },
    LONG_MS * 2,
  );
});
