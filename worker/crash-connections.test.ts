/**
 * Connections that run out: a worker process that loses all of its own and gets none back lives on, loses nothing, and
 * works again as soon as it can.
 */
import type { Pool } from "pg";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, withDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { migrate } from "#prisma/migrate.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, terminateSessions, writePolicy } from "#tests/support/worker-rows/sql.ts";
import { type RestartableServer, startRestartableServer } from "#tests/support/worker-server.ts";

const LEASE = { leaseMs: 5_000, requestDeadlineMs: 2_000, leaseMarginMs: 500 };
const LONG_MS = 150_000;
const TOO_MANY = "53300";
/** Few, so that a test can take them all. */
const MAX_CONNECTIONS = 40;

let server: RestartableServer;
let receiver: Receiver;
let url: string;
let pool: Pool;
let tenantId: string;

beforeAll(async () => {
  [server, receiver] = await Promise.all([
    startRestartableServer({ max_connections: String(MAX_CONNECTIONS) }),
    createReceiver(),
  ]);
  await createDatabase(server.url, "crowded");
  url = withDatabase(server.url, "crowded");
  await migrate({ connectionString: url, region: "us" });
  // It keeps what it has: the test itself must not run out.
  pool = createPool({ connectionString: url, max: 2, applicationName: "sluice-test", idleTimeoutMs: 0 });
  await Promise.all([pool.query("SELECT pg_sleep(0.1)"), pool.query("SELECT pg_sleep(0.1)")]);
  for (const serviceClass of ["routine", "urgent"] as const) await writePolicy(pool, serviceClass, LEASE);
  tenantId = await makeTenant(pool, { concurrencyLimit: 1_000 });
});
afterEach(endWorkers);
afterAll(async () => {
  await pool.end();
  await server.stop();
  await receiver.close();
});

async function enqueue(path: string, count: number): Promise<string> {
  const destinationId = await makeDestination(pool, tenantId, {
    url: `${receiver.url}${path}`,
    concurrencyLimit: 50,
  });
  await makeDeliveries(pool, { tenantId, destinationId, count });
  return destinationId;
}

const delivered = (destinationId: string, count: number) =>
  waitFor(async () => (await countDeliveries(pool, destinationId)).delivered === count, {
    timeoutMs: LONG_MS,
    intervalMs: 50,
    what: `${count} delivered`,
  });

/** Takes every connection that is left, until the server refuses one. */
async function takeAll(): Promise<Client[]> {
  const taken: Client[] = [];
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      taken.push(client);
    } catch (error) {
      expect((error as { code?: string }).code).toBe(TOO_MANY);
      return taken;
    }
  }
}

describe("a server without a free connection", () => {
  it(
    "fault 91: the workers that lost theirs live on, lose nothing, and work again when there are some",
    async () => {
      const worker = await spawnReadyWorker({ urls: { us: url } });
      const destinationId = await enqueue("/ok/crowded?ms=30", 400);
      await receiver.waitFor("crowded", (stats) => stats.requests > 50, LONG_MS);
      const taken = await takeAll();
      try {
        await waitFor(
          async () => {
            // Whatever becomes free is taken, until the worker has lost the race for every one.
            await terminateSessions(pool, "sluice-worker-us%");
            taken.push(...(await takeAll()));
            const { rows } = await pool.query<{ n: number }>(
              "SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name LIKE 'sluice-worker%'",
            );
            return rows[0]?.n === 0 && worker.output().includes("dispatch_failed");
          },
          { timeoutMs: LONG_MS, what: "the worker to be without a connection" },
        );
        expect(worker.isRunning()).toBe(true);
      } finally {
        await Promise.all(taken.map((client) => client.end()));
      }
      await delivered(destinationId, 400);
      expect(receiver.stats("crowded")).toMatchObject({ distinctKeys: 400, effects: 400 });
      expect(worker.isRunning()).toBe(true);
    },
    LONG_MS * 2,
  );
});
