/**
 * Processes that stand still (SIGSTOP) and go on later than their leases allow, and clients that stop in the middle of
 * a call: nobody else waits for them, and what they do when they are back changes nothing.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { openTransaction, waitUntilBlocked } from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import {
  countDeliveries,
  countLeases,
  readAttempts,
  readDelivery,
  writePolicy,
} from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

/** Long enough that a machine which stands still for two seconds loses nothing by it. */
const LEASE = { leaseMs: 8_000, requestDeadlineMs: 7_000, leaseMarginMs: 500 };
const LONG_MS = 150_000;
/** Rows that a process holds while it stands still. */
const HELD = 10;
let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let others: TestWorker[] = [];

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  for (const serviceClass of ["routine", "urgent"] as const)
    await writePolicy(database.pool, serviceClass, LEASE);
  tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
});
afterEach(async () => {
  await Promise.all(others.map((worker) => worker.stop()));
  others = [];
  await endWorkers();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

const spawnHere = (): Promise<SpawnedWorker> => spawnReadyWorker({ urls: { us: database.connectionString } });

/** Of this process: it is there long before the lease of the one that stands still has ended. */
async function startOther(): Promise<void> {
  others.push(await startTestWorker(database));
}

async function enqueue(path: string, count: number): Promise<string[]> {
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}${path}` });
  return makeDeliveries(database.pool, { tenantId, destinationId, count });
}

const delivered = (count: number) =>
  waitFor(async () => (await countDeliveries(database.pool)).delivered === count, {
    timeoutMs: LONG_MS,
    what: `${count} delivered`,
  });

describe("a process that stands still for longer than its lease", () => {
  it(
    "LEASE-2 LEASE-4 fault 14: others deliver what it held; what it brings when it is back is kept as stale and changes nothing",
    async () => {
      const zombie = await spawnHere();
      // Its answers come while it stands still, so it reads them only when it is back. Repeats are answered at once.
      receiver.script("held", [
        ...Array.from({ length: HELD }, () => ({ status: 200, delayMs: 3_000 })),
        200,
      ]);
      await enqueue("/ok/held", HELD);
      await receiver.waitFor("held", (stats) => stats.requests === HELD, LONG_MS);
      zombie.kill("SIGSTOP");
      await startOther();
      await delivered(HELD);
      const before = receiver.totals();
      expect(before).toMatchObject({ distinctKeys: HELD, effects: HELD, requests: 2 * HELD });

      zombie.kill("SIGCONT");
      await waitFor(
        async () => {
          const { rows } = await database.pool.query<{ n: number }>(
            "SELECT count(*)::integer AS n FROM sluice.attempt WHERE kind = 'stale_result'",
          );
          return rows[0]?.n === HELD;
        },
        { timeoutMs: LONG_MS, what: "its late results" },
      );
      // It works again, and what it brought late has changed nothing.
      await enqueue("/ok/after", 20);
      await delivered(HELD + 20);
      expect(receiver.totals()).toMatchObject({ effects: HELD + 20, requests: before.requests + 20 });
      const { rows } = await database.pool.query<{ kind: string; decision: string; n: number }>(
        `SELECT kind, decision, count(*)::integer AS n FROM sluice.attempt a
          WHERE EXISTS (SELECT 1 FROM sluice.attempt l WHERE l.delivery_id = a.delivery_id AND l.kind = 'lease_expired')
          GROUP BY 1, 2 ORDER BY 1`,
      );
      expect(rows).toEqual([
        { kind: "http", decision: "delivered", n: HELD },
        { kind: "lease_expired", decision: "delayed", n: HELD },
        { kind: "stale_result", decision: "ignored", n: HELD },
      ]);
      expect(zombie.isRunning()).toBe(true);
    },
    LONG_MS * 5,
  );
});

describe("a client that is stopped in the middle of its call", () => {
  it(
    "in a claim: others go on while its lease stands, and what it took is back when its lease ends",
    async () => {
      const worker = await spawnHere();
      const holder = await openTransaction(database.pool);
      await holder.client.query("SELECT sluice.barrier()");
      const ids = await enqueue("/ok/taken", 3);
      await waitUntilBlocked(database.pool, "sluice.claim");
      worker.kill("SIGSTOP");
      // Its claim goes through now, and nobody reads the answer.
      await holder.commit();
      await waitFor(async () => (await countLeases(database.pool)) === ids.length, {
        what: "its claim to commit",
      });

      await startOther();
      await enqueue("/ok/others", 10);
      await delivered(10);
      // The claim lock is waited for a second, and the lease ends in eight.
      expect(receiver.stats("taken").requests).toBe(0);
      await delivered(13);
      worker.kill("SIGCONT");
      await enqueue("/ok/later", 5);
      await delivered(18);
      expect(receiver.stats("taken")).toMatchObject({ distinctKeys: 3, effects: 3 });
      for (const id of ids) {
        const kinds = (await readAttempts(database.pool, id)).map(({ kind, number }) => [kind, number]);
        expect(kinds).toEqual([
          ["lease_expired", 1],
          ["http", 2],
        ]);
      }
    },
    LONG_MS * 5,
  );

  it(
    "in a finish: others go on, the finish stands although nobody heard of it, and nothing is sent again",
    async () => {
      const worker = await spawnHere();
      const [id = ""] = await enqueue("/ok/finished?ms=400", 1);
      await receiver.waitFor("finished", (stats) => stats.requests === 1, LONG_MS);
      const holder = await openTransaction(database.pool);
      await holder.client.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [id]);
      await waitUntilBlocked(database.pool, "sluice.finish");
      worker.kill("SIGSTOP");
      await startOther();
      // While the finish waits for the row, and after it has gone through.
      await enqueue("/ok/meanwhile", 10);
      await delivered(10);
      await holder.commit();
      await delivered(11);
      worker.kill("SIGCONT");
      await enqueue("/ok/later", 5);
      await delivered(16);
      expect(receiver.stats("finished")).toMatchObject({ requests: 1, effects: 1 });
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
      expect(await readDelivery(database.pool, id)).toMatchObject({ state: "delivered", attempts: 1 });
    },
    LONG_MS * 5,
  );
});
