/**
 * Leases: a request always ends before its lease does, a result that comes too late changes nothing, and a delivery
 * that this process is still sending does not hold up its neighbours.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { returnExpiredLeases } from "#db/queue/reconcile.ts";
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
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let workers: TestWorker[] = [];
let held: HeldReceiver | null = null;

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool);
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await held?.close();
  held = null;
  await receiver.close();
  await database.drop();
});

async function start(options: TestWorkerOptions = {}): Promise<TestWorker> {
  const worker = await startTestWorker(database, options);
  workers.push(worker);
  return worker;
}

async function enqueueAt(url: string, count = 1, policyOverride?: unknown): Promise<string[]> {
  const destinationId = await makeDestination(database.pool, tenantId, { url, policyOverride });
  return makeDeliveries(database.pool, { tenantId, destinationId, count });
}

const enqueue = (path: string, count = 1, policyOverride?: unknown): Promise<string[]> =>
  enqueueAt(`${receiver.url}${path}`, count, policyOverride);

/** A delivery whose request is out, and will not be answered before the test says so. */
async function enqueueHeld(): Promise<{ id: string; held: HeldReceiver }> {
  held = await startHeldReceiver(1);
  // As long as the lease lets a request take.
  const [id = ""] = await enqueueAt(held.url, 1, { requestDeadlineMs: 27_000 });
  await held.arrived(1);
  return { id, held };
}

async function allDelivered(count: number): Promise<void> {
  await waitFor(async () => (await countDeliveries(database.pool)).delivered === count, {
    timeoutMs: LONG_MS,
    what: `${count} delivered`,
  });
}

async function loseLease(ids: readonly string[]): Promise<void> {
  await expireLeases(database.pool, ids);
  await waitFor(async () => {
    await returnExpiredLeases(database.pool);
    return (await readDelivery(database.pool, ids[0] ?? "")).lost_leases !== 0;
  });
}

describe("a request and its lease", () => {
  it.each([
    ["a class's lease that is exactly deadline and margin", { leaseMs: 12_000 }, undefined],
    [
      "a destination's deadline that is longer than the lease of the claim",
      {},
      { requestDeadlineMs: 60_000, leaseMs: 70_000 },
    ],
  ])("LEASE-3 %s does not stop the delivery", async (_name, classPolicy, override) => {
    await writePolicy(database.pool, "routine", classPolicy);
    await writePolicy(database.pool, "urgent", classPolicy);
    await start();
    await enqueue("/ok/tight", 3, override);
    await allDelivered(3);
  });

  it("LEASE-3 fault 28: a destination's longer deadline is cut, so that the request ends inside the lease", async () => {
    // The request is cut at two seconds; the margin is what a slow machine has until the lease ends.
    const short = { leaseMs: 6_000, requestDeadlineMs: 1_000, leaseMarginMs: 4_000 };
    await writePolicy(database.pool, "routine", short);
    await writePolicy(database.pool, "urgent", short);
    await start();
    const [id = ""] = await enqueue("/never/silent", 1, {
      requestDeadlineMs: 60_000,
      leaseMs: 70_000,
      backoff: { baseMs: 3_600_000, capMs: 3_600_000 },
    });
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delayed");
    const [attempt, ...others] = await readAttempts(database.pool, id);
    expect(others).toEqual([]);
    expect(attempt).toMatchObject({ kind: "http", outcome: "timeout" });
    expect(attempt?.duration_ms).toBeLessThan(short.leaseMs);
    expect(receiver.stats("silent")).toMatchObject({ requests: 1, peakConcurrency: 1 });
  });

  it("fault 56: what is not sent in time is released unsent, with no attempt and no lost lease", async () => {
    const policy = { leaseMs: 4_000, requestDeadlineMs: 2_000, leaseMarginMs: 500 };
    await writePolicy(database.pool, "routine", policy);
    await writePolicy(database.pool, "urgent", policy);
    await start({ off: ["reconciler"] });
    // Bodies cannot be read: the claim is made, the requests cannot begin.
    const blocker = await database.pool.connect();
    await blocker.query("BEGIN");
    const ids = await enqueue("/ok/blocked", 5);
    await blocker.query("LOCK TABLE sluice.payload IN ACCESS EXCLUSIVE MODE");
    await waitFor(async () => (await countLeases(database.pool)) === 5);
    const { rows: first } = await database.pool.query<{ token: string }>(
      "SELECT DISTINCT lease_token AS token FROM sluice.delivery",
    );
    await waitFor(async () => {
      const { rows } = await database.pool.query<{ late: boolean }>(
        "SELECT bool_and(lease_until < clock_timestamp() + interval '2 seconds') AS late FROM sluice.delivery",
      );
      return rows[0]?.late;
    });
    expect(receiver.stats("blocked").requests).toBe(0);
    await blocker.query("COMMIT");
    blocker.release();
    await allDelivered(5);
    expect(receiver.stats("blocked")).toMatchObject({ requests: 5, effects: 5 });
    for (const id of ids) {
      const attempts = await readAttempts(database.pool, id);
      expect(attempts.map(({ kind, number }) => [kind, number])).toEqual([["http", 1]]);
    }
    const { rows: tokens } = await database.pool.query<{ token: string }>(
      "SELECT DISTINCT lease_token AS token FROM sluice.attempt",
    );
    expect(tokens.map(({ token }) => token)).not.toContain(first[0]?.token);
  });

  it("fault 56: a process leases no more than it has free slots, all of which are being sent", async () => {
    await start({ slots: 4 });
    await enqueue("/ok/slots?ms=30", 60);
    let most = 0;
    await waitFor(
      async () => {
        most = Math.max(most, await countLeases(database.pool));
        return (await countDeliveries(database.pool)).delivered === 60;
      },
      { timeoutMs: LONG_MS, intervalMs: 1 },
    );
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    expect(receiver.stats("slots")).toMatchObject({ requests: 60, peakConcurrency: 4 });
  });
});

describe("a lease that was lost", () => {
  it("LEASE-2 fault 14: a result that comes after another worker delivered is kept as stale and changes nothing", async () => {
    const first = await start();
    const late = await enqueueHeld();
    const { id } = late;
    await start();
    await loseLease([id]);
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered");
    late.held.letGo(500);
    await waitFor(() => first.captured.text().includes("stale_result"), { what: "the late result" });
    expect(await readDelivery(database.pool, id)).toMatchObject({ state: "delivered", failures: 0 });
    const attempts = await readAttempts(database.pool, id);
    expect(attempts.map(({ kind }) => kind).sort()).toEqual(["http", "lease_expired", "stale_result"]);
    expect(attempts.find(({ kind }) => kind === "stale_result")).toMatchObject({
      decision: "ignored",
      status: 500,
    });
    expect(late.held.keys()).toEqual([`key-${id}`, `key-${id}`]);
  });

  it("a delivery that this process is still sending holds up none of its neighbours when it is claimed again", async () => {
    await start({ off: ["reconciler"], probeMs: 2_000 });
    const sending = await enqueueHeld();
    await loseLease([sending.id]);
    for (let n = 0; n < 10; n++) await enqueue(`/ok/neighbour-${n}`);
    await database.pool.query("NOTIFY sluice_wake");
    // While the held request is still out.
    await allDelivered(10);
    expect(sending.held.keys()).toHaveLength(1);
    sending.held.letGo();
    await allDelivered(11);
    const kinds = (await readAttempts(database.pool, sending.id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "http")).toHaveLength(1);
    expect(new Set(sending.held.keys())).toEqual(new Set([`key-${sending.id}`]));
  });
});
