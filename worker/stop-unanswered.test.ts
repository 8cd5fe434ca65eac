/**
 * LEASE-6: a worker is told to stop right after a claim or a release of it was cut off from its answer. It leaves no lease
 * behind: nobody else can know that nothing of those rows was sent. A database that is gone does not hold it up.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { type DatabaseProxy, startProxy } from "#tests/support/worker-proxy.ts";
import { countDeliveries, countLeases, countWorkerProcesses } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const COUNT = 20;
/** Above what asking at the end may take on a slow machine, below the lease of 30 s. */
const GRACE_MS = 28_000;

let database: TestDatabase;
let proxy: DatabaseProxy;
let receiver: Receiver;
let worker: TestWorker;

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.connectionString);
  worker = await startTestWorker({ region: "us", connectionString: proxy.connectionString });
});
afterEach(async () => {
  await worker.stop();
  await proxy.close();
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

async function enqueue(): Promise<void> {
  const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
  const url = `${receiver.url}/ok/unheard`;
  const destinationId = await makeDestination(database.pool, tenantId, { url, concurrencyLimit: 100 });
  await makeDeliveries(database.pool, { tenantId, destinationId, count: COUNT });
}

/** Every connection breaks; new ones are taken. */
function cutOnce(): void {
  proxy.shut();
  proxy.open();
}

const events = () => worker.captured.lines().map(({ event }) => event);

describe("a stop right after the answer to a claim was lost", () => {
  it("gives the rows of the claim back: no lease, no lost lease, nothing sent", async () => {
    const lost = proxy.loseAnswerTo("sluice-claim");
    await enqueue();
    await lost;
    // The turn that would give them back comes half a second later; this one ends before it.
    await worker.stop();
    expect(events()).toContain("unanswered_claim");
    expect(await countLeases(database.pool)).toBe(0);
    expect(await countWorkerProcesses(database.pool)).toBe(0);
    expect(await countDeliveries(database.pool)).toMatchObject({ ready: COUNT, leased: 0 });
    expect(receiver.stats("unheard").requests).toBe(0);
    const { rows } = await database.pool.query("SELECT 1 FROM sluice.delivery WHERE lost_leases > 0");
    expect(rows).toEqual([]);
  });

  it("asks again when the connection breaks before the question has arrived", async () => {
    const lost = proxy.loseAnswerTo("sluice-claim");
    await enqueue();
    await lost;
    const swallowed = proxy.swallowFrom("sluice-release-unanswered");
    const stopped = worker.stop();
    await swallowed;
    cutOnce();
    await stopped;
    expect(await countLeases(database.pool)).toBe(0);
    expect(await countDeliveries(database.pool)).toMatchObject({ ready: COUNT });
  });

  it("ends in time when the database is gone for good, and the leases end by themselves", async () => {
    const lost = proxy.loseAnswerTo("sluice-claim");
    await enqueue();
    await lost;
    proxy.shut();
    const begunAt = performance.now();
    await worker.stop();
    expect(performance.now() - begunAt).toBeLessThan(GRACE_MS);
    expect(events()).toContain("unanswered_claim_left");
    expect(await countDeliveries(database.pool)).toMatchObject({ leased: COUNT });
  });
});

describe("a release that did not arrive", () => {
  it("is repeated: rows of a claim that could not be read wait for no lease", async () => {
    // Their reading fails, and then the first try to give them back.
    const unread = proxy.loseAnswerTo("sluice-read-claimed");
    const swallowed = unread.then(() => proxy.swallowFrom("sluice-release"));
    await enqueue();
    await swallowed;
    cutOnce();
    await worker.stop();
    expect(await countLeases(database.pool)).toBe(0);
    const counts = await countDeliveries(database.pool);
    expect(counts.ready + counts.delivered).toBe(COUNT);
  });
});
