/**
 * Controls and what comes back from the dead: a drain is not over while a claim is open or a lease stands, and what a
 * killed worker held stays held when its tenant is paused meanwhile.
 */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { drainStatus } from "#db/console/commands/drain-status.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import { claim } from "#db/queue/claim.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { contextOf, tenantId as publicTenant, REASON } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { openTransaction, waitUntilBlocked } from "#tests/support/queue-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, endLeasesOf, expireLeases, writePolicy } from "#tests/support/worker-rows/sql.ts";

/** Longer than a slow machine needs for anything here: the test says when leases end. */
const LEASE = { leaseMs: 300_000 };
const LONG_MS = 150_000;

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  for (const serviceClass of ["routine", "urgent"] as const)
    await writePolicy(database.pool, serviceClass, LEASE);
  tenantId = await makeTenant(database.pool);
});
afterEach(async () => {
  await endWorkers();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

const spawnHere = () => spawnReadyWorker({ urls: { us: database.connectionString } });

async function enqueue(path: string, count: number): Promise<string> {
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}${path}` });
  await makeDeliveries(database.pool, { tenantId, destinationId, count });
  return destinationId;
}

describe("CTL-3 a drain beside an open claim", () => {
  it(
    "is answered when the claim has ended, and over when its lease has; nothing else is claimed",
    async () => {
      const destinationId = await enqueue("/ok/drained", 5);
      const open = await openTransaction(database.pool);
      const claimed = await claim(open.client, {
        owner: "sluice",
        workerId: randomUUID(),
        leaseMs: LEASE.leaseMs,
        maxBytes: 1_000_000,
        token: randomUUID(),
        entries: [{ lane: "first", serviceClass: "routine", tenantId, destinationId, wanted: 2 }],
      });
      expect(claimed.ids).toHaveLength(2);
      let isAnswered = false;
      const stopped = stopClaims(contextOf(database), { version: 1, reason: REASON }).finally(() => {
        isAnswered = true;
      });
      await waitUntilBlocked(database.pool, "sluice.barrier");
      expect(isAnswered).toBe(false);
      await spawnHere();
      await open.commit();
      expect(await stopped).toMatchObject({ applied: true });
      // The claim that was open counts: its holder may be sending.
      expect(await drainStatus(contextOf(database))).toMatchObject({
        claims: "stopped",
        leases: 2,
        drained: false,
      });
      await expireLeases(database.pool, claimed.ids);
      await waitFor(async () => (await drainStatus(contextOf(database))).drained, {
        timeoutMs: LONG_MS,
        what: "the drain",
      });
      expect(receiver.totals().requests).toBe(0);
      expect(await countDeliveries(database.pool)).toMatchObject({ ready: 3, delayed: 2, leased: 0 });
      await startClaims(contextOf(database), { version: 2, reason: REASON });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 5, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.stats("drained")).toMatchObject({ requests: 5, effects: 5 });
    },
    LONG_MS * 2,
  );
});

describe("a tenant that is paused while a killed worker holds its deliveries", () => {
  it(
    "fault 42: what the reconciler brings back stays held, and goes out after the resume",
    async () => {
      const worker = await spawnHere();
      await enqueue("/never/held?times=1", 4);
      await receiver.waitFor("held", (stats) => stats.requests === 4, LONG_MS);
      worker.kill("SIGKILL");
      await worker.exited;
      const target = { tenantId: publicTenant(tenantId), reason: REASON };
      await pauseTenant(contextOf(database), { ...target, version: 1, end: { forMs: 3_600_000 } });
      await spawnHere();
      expect(await endLeasesOf(database.pool, worker.pid)).toBe(4);
      await waitFor(async () => (await countDeliveries(database.pool)).delayed === 4, {
        timeoutMs: LONG_MS,
        what: "the leases to be taken back",
      });
      // Others are served meanwhile: there was every chance to send what is held.
      const other = await makeTenant(database.pool);
      const destinationId = await makeDestination(database.pool, other, { url: `${receiver.url}/ok/others` });
      await makeDeliveries(database.pool, { tenantId: other, destinationId, count: 20 });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 20, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.stats("held").requests).toBe(4);
      await resumeTenant(contextOf(database), { ...target, version: 2, share: 1 });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 24, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.stats("held")).toMatchObject({ requests: 8, distinctKeys: 4, effects: 4 });
    },
    LONG_MS * 2,
  );
});
