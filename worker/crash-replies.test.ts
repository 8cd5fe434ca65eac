/**
 * LEASE-6: the answer to a commit is lost on its way to a worker process under load. What was claimed goes back at once,
 * since nothing of it was sent; what was recorded is recorded once, and the process goes on.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { type DatabaseProxy, startProxy } from "#tests/support/worker-proxy.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 150_000;
const COUNT = 300;

let database: TestDatabase;
let proxy: DatabaseProxy;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.connectionString);
});
afterEach(async () => {
  await endWorkers();
  await proxy.close();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

async function kinds(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ kind: string; n: number }>(
    "SELECT kind, count(*)::integer AS n FROM sluice.attempt GROUP BY 1",
  );
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n]));
}

describe("a worker process under load whose connection is cut after a commit", () => {
  it.each([
    ["a claim", "sluice-claim"],
    ["a finish", "sluice-finish"],
  ])(
    "of %s: every delivery has one effect and ends once",
    async (_name, statement) => {
      const worker = await spawnReadyWorker({ urls: { us: proxy.connectionString } });
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      const url = `${receiver.url}/ok/cut?ms=20`;
      const destinationId = await makeDestination(database.pool, tenantId, { url, concurrencyLimit: 20 });
      await makeDeliveries(database.pool, { tenantId, destinationId, count: COUNT });
      for (const part of [0.2, 0.5]) {
        await receiver.waitFor("cut", (stats) => stats.requests >= COUNT * part, LONG_MS);
        await proxy.loseAnswerTo(statement);
      }
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === COUNT, {
        timeoutMs: LONG_MS,
        intervalMs: 50,
      });

      // Nothing was sent of what was claimed unheard, and nothing of what was recorded unheard is sent again.
      expect(receiver.stats("cut")).toMatchObject({ requests: COUNT, distinctKeys: COUNT, effects: COUNT });
      const seen = await kinds();
      expect(seen.http).toBe(COUNT);
      expect(seen.stale_result).toBeUndefined();
      // No lease was waited for, and none of the three that a delivery may lose was spent.
      expect(seen.lease_expired).toBeUndefined();
      const { rows: numbers } = await database.pool.query(
        "SELECT 1 FROM sluice.attempt GROUP BY delivery_id, number HAVING count(*) > 1",
      );
      expect(numbers).toEqual([]);
      expect(worker.isRunning()).toBe(true);
      worker.kill("SIGTERM");
      expect((await worker.exited).code).toBe(0);
    },
    LONG_MS * 2,
  );
});
