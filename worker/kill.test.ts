/**
 * LEASE-4: a worker process that is killed loses nothing and doubles nothing. What it had leased is claimable again as
 * soon as its leases end, whatever graphile-worker's own locks of four hours say.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { countRows } from "#tests/support/queue-rows/sql.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, endLeasesOf, writePolicy } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 150_000;
const DELIVERIES = 2_000;
const DESTINATIONS = 20;
/** More, at a destination of their own. */
const BESIDE = 50;

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  // Longer than a slow machine needs for what is not lost: no lease ends by itself here, the test ends them.
  for (const serviceClass of ["routine", "urgent"] as const)
    await writePolicy(database.pool, serviceClass, { leaseMs: 300_000 });
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

const until = (condition: () => Promise<boolean>, what: string) =>
  waitFor(condition, { timeoutMs: LONG_MS, intervalMs: 50, what });

const delivered = async () => (await countDeliveries(database.pool)).delivered;

describe("kill -9 in the middle of 2,000 deliveries with two workers", () => {
  it(
    "LEASE-4 ID-4 all are delivered, none has its effect twice, and the lost leases are back as soon as they end",
    async () => {
      const [first] = await Promise.all([spawnHere(), spawnHere()]);
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      for (let n = 0; n < DESTINATIONS; n++) {
        const url = `${receiver.url}/ok/d${n}?ms=20`;
        const destinationId = await makeDestination(database.pool, tenantId, { url });
        await makeDeliveries(database.pool, { tenantId, destinationId, count: DELIVERIES / DESTINATIONS });
      }
      await waitFor(async () => receiver.totals().requests > 300 && (await leasesOf(first)) > 10, {
        timeoutMs: LONG_MS,
        what: "the first worker to be in the middle",
      });
      first.kill("SIGKILL");
      await first.exited;
      // Nobody touches what it held before its leases end, while others are served.
      const beside = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/beside` });
      await makeDeliveries(database.pool, { tenantId, destinationId: beside, count: BESIDE });
      await receiver.waitFor("beside", (stats) => stats.requests === BESIDE, LONG_MS);
      expect(await countRows(database.pool, "attempt WHERE kind = 'lease_expired'")).toBe(0);
      const orphans = await endLeasesOf(database.pool, first.pid);
      expect(orphans).toBeGreaterThan(0);
      const endedAt = performance.now();
      await until(async () => (await leasesOf(first)) === 0, "the lost leases to be back");
      expect(performance.now() - endedAt).toBeLessThan(PROMPT_MS);
      const all = DELIVERIES + BESIDE;
      await until(async () => (await delivered()) === all, "all of them");

      const totals = receiver.totals();
      expect(totals).toMatchObject({ distinctKeys: all, effects: all, withoutKey: 0 });
      // Whatever was sent twice had been in the dead worker's hands.
      expect(totals.requests - all).toBeLessThanOrEqual(orphans);
      const { rows } = await database.pool.query<{ kind: string; n: number }>(
        "SELECT kind, count(*)::integer AS n FROM sluice.attempt GROUP BY kind",
      );
      expect(rows.find(({ kind }) => kind === "lease_expired")?.n).toBe(orphans);
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
      const url = `${receiver.url}/ok/capped`;
      receiver.script("capped", [{ status: 200, delayMs: LONG_MS }, { status: 200, delayMs: LONG_MS }, 200]);
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
      expect(await endLeasesOf(database.pool, first.pid)).toBe(2);
      await until(async () => (await delivered()) === 6, "all of them");
      expect(receiver.stats("capped")).toMatchObject({ distinctKeys: 6, effects: 6 });
      expect(receiver.stats("capped").peakConcurrency).toBeLessThanOrEqual(2);
    },
    LONG_MS * 2,
  );
});
