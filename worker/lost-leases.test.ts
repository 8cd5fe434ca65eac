/**
 * LEASE-3, LEASE-5: what a dead worker left behind comes back with the same key; what killed three workers in a row ends;
 * what lost a lease goes out one at a time, so that a body that kills its process takes no neighbour along.
 */
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { type HeldReceiver, startHeldReceiver } from "#tests/support/held-receiver.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import {
  countDeliveries,
  countLeases,
  expireLeases,
  readAttempts,
  readDelivery,
  writePolicy,
} from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let workers: TestWorker[] = [];
let held: HeldReceiver | null = null;

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await held?.close();
  held = null;
  await receiver.close();
  await database.drop();
});

async function start(): Promise<TestWorker> {
  const worker = await startTestWorker(database);
  workers.push(worker);
  return worker;
}

const enqueue = (name: string, count: number, more: { lostLeases?: number } = {}) =>
  enqueueAt(`${receiver.url}/ok/${name}?ms=2`, count, more);

async function enqueueAt(url: string, count: number, more: { lostLeases?: number } = {}) {
  const destinationId = await makeDestination(database.pool, tenantId, { url, concurrencyLimit: 100 });
  return {
    destinationId,
    ids: await makeDeliveries(database.pool, { tenantId, destinationId, count, ...more }),
  };
}

/** What a worker does that takes these rows and then dies: its leases are there, and they are over. */
async function claimAndDie(destinationId: string, ids: readonly string[]): Promise<void> {
  const claimed = await claim(database.pool, {
    owner: "sluice",
    workerId: randomUUID(),
    leaseMs: 30_000,
    maxBytes: 1_000_000,
    token: randomUUID(),
    entries: [{ lane: "first", serviceClass: "routine", tenantId, destinationId, wanted: ids.length }],
  });
  expect(claimed.ids).toHaveLength(ids.length);
  await expireLeases(database.pool, ids);
}

describe("leases of a worker that died", () => {
  it("LEASE-3 come back by the reconciler, in their lane, with the same key, counted as a possible start", async () => {
    const { destinationId, ids } = await enqueue("orphans", 5);
    await claimAndDie(destinationId, ids);
    await start();
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 5, { timeoutMs: LONG_MS });
    for (const id of ids) {
      const attempts = await readAttempts(database.pool, id);
      expect(attempts.map(({ kind, number, decision }) => [kind, number, decision])).toEqual([
        ["lease_expired", 1, "delayed"],
        ["http", 2, "delivered"],
      ]);
      expect(await readDelivery(database.pool, id)).toMatchObject({
        attempts: 2,
        failures: 0,
        key: `key-${id}`,
      });
    }
    expect(receiver.stats("orphans")).toMatchObject({ requests: 5, distinctKeys: 5 });
    expect(new Set(receiver.requests().map(({ attempt }) => attempt))).toEqual(new Set([2]));
  });

  it("LEASE-5 that are the third in a row end the delivery as worker_lost, without a request", async () => {
    const { destinationId, ids } = await enqueue("killer", 1, { lostLeases: 2 });
    await claimAndDie(destinationId, ids);
    await start();
    const [lost = ""] = ids;
    await waitFor(async () => (await readDelivery(database.pool, lost)).state === "dead");
    expect(await readDelivery(database.pool, lost)).toMatchObject({ reason: "worker_lost", lost_leases: 3 });
    expect(receiver.stats("killer").requests).toBe(0);
    expect((await readAttempts(database.pool, lost)).at(-1)).toMatchObject({
      kind: "lease_expired",
      decision: "dead",
      reason: "worker_lost",
    });
  });

  it("LEASE-3 fault 58: a live lease is nobody else's, however old its work is", async () => {
    const { destinationId, ids } = await enqueue("alive", 3);
    await claim(database.pool, {
      owner: "sluice",
      workerId: randomUUID(),
      leaseMs: 600_000,
      maxBytes: 1_000_000,
      token: randomUUID(),
      entries: [{ lane: "first", serviceClass: "routine", tenantId, destinationId, wanted: 3 }],
    });
    await database.pool.query(
      "UPDATE sluice.delivery SET leased_at = clock_timestamp() - interval '5 minutes'",
    );
    const worker = await start();
    const other = await enqueue("other", 1);
    await waitFor(async () => (await readDelivery(database.pool, other.ids[0] ?? "")).state === "delivered");
    // The reconciler has had its turns.
    await expireLeases(database.pool, [ids[0] ?? ""]);
    await waitFor(() => worker.captured.text().includes("leases_expired"));
    await waitFor(async () => (await readDelivery(database.pool, ids[0] ?? "")).state === "delivered");
    expect(await countLeases(database.pool)).toBe(2);
    expect(receiver.stats("alive").requests).toBe(1);
  });
});

describe("deliveries that lost a lease", () => {
  it("LEASE-5 go out one at a time in each process, and hundreds of them are through in seconds", async () => {
    const { ids } = await enqueue("suspects", 200, { lostLeases: 1 });
    await start();
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === ids.length, {
      timeoutMs: LONG_MS,
    });
    expect(receiver.stats("suspects")).toMatchObject({ requests: 200, effects: 200, peakConcurrency: 1 });
  });

  it("LEASE-5 go out at most two at a time from two processes, also over many destinations", async () => {
    for (let n = 0; n < 20; n++) await enqueue(`spread/${n}`, 5, { lostLeases: 1 });
    await Promise.all([start(), start()]);
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 100, {
      timeoutMs: LONG_MS,
    });
    expect(receiver.totals().peakConcurrency).toBeLessThanOrEqual(2);
  });

  it("LEASE-5 hold up no delivery that lost none", async () => {
    // The one that is out stays out for as long as the others need.
    for (const serviceClass of ["routine", "urgent"] as const)
      await writePolicy(database.pool, serviceClass, { leaseMs: 120_000, requestDeadlineMs: 100_000 });
    held = await startHeldReceiver();
    const stuck = await enqueueAt(held.url, 20, { lostLeases: 1 });
    await start();
    await held.arrived(1);
    const { destinationId } = await enqueue("sound", 50);
    await waitFor(async () => (await countDeliveries(database.pool, destinationId)).delivered === 50, {
      timeoutMs: LONG_MS,
    });
    // All of them were served while the one is out, and no second one beside it.
    expect(await countDeliveries(database.pool, stuck.destinationId)).toMatchObject({
      leased: 1,
      delivered: 0,
    });
    expect(held.keys()).toHaveLength(1);
    expect(receiver.stats("sound").peakConcurrency).toBeGreaterThan(1);
  });
});
