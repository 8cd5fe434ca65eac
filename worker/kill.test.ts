/**
 * LEASE-4: a worker process that is killed loses nothing and doubles nothing. What it had leased is claimable again as
 * soon as its leases end, whatever graphile-worker's own locks of four hours say.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, writePolicy } from "#tests/support/worker-rows/sql.ts";

const LEASE = { leaseMs: 5_000, requestDeadlineMs: 2_000, leaseMarginMs: 500 };
const LONG_MS = 60_000;
const DELIVERIES = 2_000;
const DESTINATIONS = 20;

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  await writePolicy(database.pool, "routine", LEASE);
  await writePolicy(database.pool, "urgent", LEASE);
});
afterEach(async () => {
  await endWorkers();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

const spawnHere = (): Promise<SpawnedWorker> => spawnReadyWorker({ urls: { us: database.connectionString } });

async function leasesOf(worker: SpawnedWorker): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM sluice.delivery d JOIN sluice.worker_process w ON w.id = d.leased_by
      WHERE d.state = 'leased' AND w.pid = $1`,
    [worker.pid],
  );
  return rows[0]?.n ?? 0;
}

describe("kill -9 in the middle of 2,000 deliveries with two workers", () => {
  it(
    "LEASE-4 ID-4 all are delivered, none has its effect twice, and the lost leases are back as soon as they end",
    async () => {
      const [first] = await Promise.all([spawnHere(), spawnHere()]);
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      for (let n = 0; n < DESTINATIONS; n++) {
        const url = `${receiver.url}/ok/d${n}?ms=50`;
        const destinationId = await makeDestination(database.pool, tenantId, { url });
        await makeDeliveries(database.pool, { tenantId, destinationId, count: DELIVERIES / DESTINATIONS });
      }
      await waitFor(async () => receiver.totals().requests > 300 && (await leasesOf(first)) > 10, {
        timeoutMs: LONG_MS,
        what: "the first worker to be in the middle",
      });
      first.kill("SIGKILL");
      await first.exited;
      const orphans = await leasesOf(first);
      expect(orphans).toBeGreaterThan(0);
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === DELIVERIES, {
        timeoutMs: LONG_MS,
        intervalMs: 50,
      });

      const totals = receiver.totals();
      expect(totals).toMatchObject({ distinctKeys: DELIVERIES, effects: DELIVERIES, withoutKey: 0 });
      // Whatever was sent twice had been in the dead worker's hands.
      expect(totals.requests - DELIVERIES).toBeLessThanOrEqual(orphans);
      const { rows } = await database.pool.query<{ kind: string; n: number; most_ms: number }>(
        `SELECT kind, count(*)::integer AS n, max(extract(epoch FROM recorded_at - started_at) * 1000)::float8 AS most_ms
           FROM sluice.attempt GROUP BY kind`,
      );
      const lost = rows.find(({ kind }) => kind === "lease_expired");
      expect(lost?.n).toBeGreaterThan(0);
      expect(lost?.n).toBeLessThanOrEqual(orphans);
      // From the claim to the return: the lease, then the reconciler's turn. The default lease is 30 s, the promise 60 s.
      expect(lost?.most_ms).toBeLessThan(LEASE.leaseMs + 10_000);
      const { rows: doubled } = await database.pool.query(
        "SELECT idempotency_key FROM sluice.delivery_archive GROUP BY 1 HAVING count(*) > 1",
      );
      expect(doubled).toEqual([]);
    },
    LONG_MS * 2,
  );

  it(
    "fault 61: the dead worker's share of a cap is free again when its leases end",
    async () => {
      const first = await spawnHere();
      const tenantId = await makeTenant(database.pool);
      const url = `${receiver.url}/never/capped?times=1`;
      const override = { backoff: { baseMs: 5, capMs: 5 }, retryAfter: { minMs: 5 } };
      const destinationId = await makeDestination(database.pool, tenantId, {
        url,
        concurrencyLimit: 2,
        policyOverride: override,
      });
      await makeDeliveries(database.pool, { tenantId, destinationId, count: 2 });
      await receiver.waitFor("capped", (stats) => stats.requests === 2);
      first.kill("SIGKILL");
      await first.exited;
      await spawnHere();
      await makeDeliveries(database.pool, { tenantId, destinationId, count: 4 });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 6, {
        timeoutMs: LONG_MS,
        intervalMs: 50,
      });
      expect(receiver.stats("capped")).toMatchObject({ distinctKeys: 6, effects: 6 });
      expect(receiver.stats("capped").peakConcurrency).toBeLessThanOrEqual(2);
    },
    LONG_MS * 2,
  );
});
