/**
 * A Postgres that really goes away and comes back under worker processes at work, cleanly and not: they live on, lose
 * nothing, double nothing, and work again by themselves.
 */
import type { Pool } from "pg";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createDatabase, withDatabase } from "#db/admin.ts";
import { createPool } from "#db/pool.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { migrate } from "#prisma/migrate.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, writePolicy } from "#tests/support/worker-rows/sql.ts";
import {
  type RestartableServer,
  type StopMode,
  startRestartableServer,
} from "#tests/support/worker-server.ts";

const LEASE = { leaseMs: 5_000, requestDeadlineMs: 2_000, leaseMarginMs: 500 };
const LONG_MS = 90_000;
const DELIVERIES = 1_200;
const DESTINATIONS = 12;

let server: RestartableServer;
let receiver: Receiver;
let url: string;
let pool: Pool;

beforeAll(async () => {
  [server, receiver] = await Promise.all([
    startRestartableServer({ max_connections: "80" }),
    createReceiver(),
  ]);
  await createDatabase(server.url, "restarted");
  url = withDatabase(server.url, "restarted");
  await migrate({ connectionString: url, region: "us" });
  pool = createPool({ connectionString: url, max: 4, applicationName: "sluice-test" });
  for (const serviceClass of ["routine", "urgent"] as const) await writePolicy(pool, serviceClass, LEASE);
});
afterEach(endWorkers);
afterAll(async () => {
  await pool.end();
  await server.stop();
  await receiver.close();
});

it.each<StopMode>(["fast", "immediate"])(
  "fault 49, LEASE-6: a restart (%s) of Postgres under load loses nothing, doubles nothing and ends no worker",
  async (mode) => {
    const { delivered: before } = await countDeliveries(pool);
    const workers = await Promise.all([1, 2].map(() => spawnReadyWorker({ urls: { us: url } })));
    const tenantId = await makeTenant(pool, { concurrencyLimit: 1_000 });
    const names = Array.from({ length: DESTINATIONS }, (_, n) => `${mode}/${n}`);
    for (const name of names) {
      // Answered slowly enough that requests are out when the server goes.
      const destinationId = await makeDestination(pool, tenantId, {
        url: `${receiver.url}/ok/${name}?ms=40`,
      });
      await makeDeliveries(pool, { tenantId, destinationId, count: DELIVERIES / DESTINATIONS });
    }
    const seen = () => names.reduce((sum, name) => sum + receiver.stats(name).requests, 0);
    await waitFor(() => seen() > DELIVERIES / 6, { timeoutMs: LONG_MS, what: "the load" });
    await server.restart(mode);
    expect(seen()).toBeLessThan(DELIVERIES);
    await waitFor(async () => (await countDeliveries(pool)).delivered === before + DELIVERIES, {
      timeoutMs: LONG_MS,
      intervalMs: 50,
      what: "all to be delivered after the restart",
    });

    for (const name of names) {
      const each = DELIVERIES / DESTINATIONS;
      expect(receiver.stats(name)).toMatchObject({ distinctKeys: each, effects: each, withoutKey: 0 });
    }
    expect(workers.map((worker) => worker.isRunning())).toEqual([true, true]);
    const { rows: doubled } = await pool.query(
      "SELECT idempotency_key FROM sluice.delivery_archive GROUP BY 1 HAVING count(*) > 1",
    );
    expect(doubled).toEqual([]);
    // The hint connection and graphile-worker's runner are back too: three sessions at least for each process.
    await waitFor(
      async () => {
        const { rows } = await pool.query<{ listening: number }>(
          `SELECT count(*)::integer AS listening FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'sluice-worker-us%' AND query LIKE 'LISTEN%'`,
        );
        return (rows[0]?.listening ?? 0) >= 2 * workers.length;
      },
      { timeoutMs: LONG_MS, what: "both listeners of each process" },
    );
  },
  LONG_MS * 2,
);
