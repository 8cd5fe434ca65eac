/**
 * REG-1, REG-3: regions do not know each other. A database sees its own region's worker only, and one that is away takes
 * nothing of the other with it; its worker comes back by itself.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { databaseName, withClient } from "#db/admin.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { startHeldReceiver } from "#tests/support/held-receiver.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, readDelivery, terminateSessions } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 150_000;

let regions: TestRegions;
let receiver: Receiver;

beforeAll(async () => {
  regions = await createTestRegions();
  receiver = await createReceiver();
});
afterEach(endWorkers);
afterAll(async () => {
  await receiver.close();
  await regions.drop();
});

const enqueue = (database: TestDatabase, path: string, count = 1): Promise<string[]> =>
  enqueueAt(database, `${receiver.url}${path}`, count);

async function enqueueAt({ pool }: TestDatabase, url: string, count = 1): Promise<string[]> {
  const tenantId = await makeTenant(pool);
  const destinationId = await makeDestination(pool, tenantId, { url });
  return makeDeliveries(pool, { tenantId, destinationId, count });
}

const isDelivered = async ({ pool }: TestDatabase, id: string) =>
  (await readDelivery(pool, id)).state === "delivered";

async function applications({ pool }: TestDatabase): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE datname = current_database() ORDER BY 1",
  );
  return rows.map(({ name }) => name);
}

/** Nobody can connect to the database any more, as if its server were stopped, until `open`. */
async function closeDatabase(database: TestDatabase): Promise<{ open(): Promise<void> }> {
  const server = inject("testServers").serverUrls[database.region];
  const name = databaseName(database.connectionString);
  const allow = (allowed: boolean) =>
    withClient(server, (client) =>
      client.query(`ALTER DATABASE ${client.escapeIdentifier(name)} ALLOW_CONNECTIONS ${allowed}`),
    );
  await allow(false);
  await withClient(server, (client) =>
    client.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]),
  );
  return { open: async () => void (await allow(true)) };
}

describe("a worker of each region", () => {
  it(
    "REG-1 REG-3 each database has connections of its own worker only; eu away leaves us delivering, and eu recovers by itself",
    async () => {
      const urls = { us: regions.us.connectionString, eu: regions.eu.connectionString };
      const [us, eu] = await Promise.all([
        spawnReadyWorker({ region: "us", urls }),
        spawnReadyWorker({ region: "eu", urls }),
      ]);
      await Promise.all([enqueue(regions.us, "/ok/us/before", 20), enqueue(regions.eu, "/ok/eu/before", 20)]);
      for (const database of [regions.us, regions.eu]) {
        await waitFor(async () => (await countDeliveries(database.pool)).delivered === 20, {
          timeoutMs: LONG_MS,
        });
      }
      await waitFor(async () => (await applications(regions.us)).length === 3);
      expect(await applications(regions.us)).toEqual([
        "sluice-test",
        "sluice-worker-us",
        "sluice-worker-us-hints",
      ]);
      expect(await applications(regions.eu)).toEqual([
        "sluice-test",
        "sluice-worker-eu",
        "sluice-worker-eu-hints",
      ]);
      expect(receiver.stats("us/before").regions).toEqual({ us: 20, eu: 0, other: 0 });
      expect(receiver.stats("eu/before").regions).toEqual({ us: 0, eu: 20, other: 0 });

      // One request of eu is in flight while its database goes away.
      const held = await startHeldReceiver();
      onTestFinished(() => held.close());
      const [during = ""] = await enqueueAt(regions.eu, held.url);
      await held.arrived(1);
      const closed = await closeDatabase(regions.eu);
      held.letGo();
      for (let round = 0; round < 3; round++) {
        const [id = ""] = await enqueue(regions.us, "/ok/us/meanwhile");
        await waitFor(() => isDelivered(regions.us, id), { timeoutMs: LONG_MS, what: "us to go on" });
      }
      await waitFor(() => eu.output().includes("finish_retry") && eu.output().includes("dispatch_failed"), {
        timeoutMs: LONG_MS,
      });
      expect([us.isRunning(), eu.isRunning()]).toEqual([true, true]);
      expect(us.output()).not.toMatch(/"level":(40|50)/);

      await closed.open();
      const [after = ""] = await waitFor(() => enqueue(regions.eu, "/ok/eu/after"));
      await waitFor(() => isDelivered(regions.eu, after), { timeoutMs: LONG_MS, what: "eu to be back" });
      // What was answered meanwhile is on record, and was not sent again.
      await waitFor(() => isDelivered(regions.eu, during), { timeoutMs: LONG_MS });
      expect(held.keys()).toEqual([`key-${during}`]);
      eu.kill("SIGTERM");
      expect((await eu.exited).code).toBe(0);
    },
    LONG_MS * 2,
  );

  it(
    "fault 49: goes on when all its connections are ended at once, again and again, under load",
    async () => {
      const worker = await spawnReadyWorker({ region: "us", urls: { us: regions.us.connectionString } });
      const { delivered } = await countDeliveries(regions.us.pool);
      const ids = await enqueue(regions.us, "/ok/us/shaken?ms=20", 400);
      for (const part of [50, 150, 250]) {
        await receiver.waitFor("us/shaken", (stats) => stats.requests >= part, LONG_MS);
        await terminateSessions(regions.us.pool, "sluice-worker-us%");
      }
      await waitFor(
        async () => (await countDeliveries(regions.us.pool)).delivered === delivered + ids.length,
        { timeoutMs: LONG_MS },
      );
      expect(receiver.stats("us/shaken")).toMatchObject({ distinctKeys: 400, effects: 400 });
      expect(worker.isRunning()).toBe(true);
    },
    LONG_MS * 2,
  );
});
