/** /healthz and /readyz: the truth about this process, also while the database is away and while it stops. */
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { startHeldReceiver } from "#tests/support/held-receiver.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { startProxy } from "#tests/support/worker-proxy.ts";
import { countDeliveries, readAttempts } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";
import { type HealthFacts, isHealthy, MAX_SILENCE_MS } from "./health.ts";

const LONG_MS = 150_000;
const FACTS: HealthFacts = {
  region: "us",
  workerId: "w",
  state: "running",
  lastTurnMs: 10,
  lastHeartbeatMs: 10,
  inFlight: 0,
  slots: 4,
  claimP95Ms: null,
  alarms: [],
};

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let worker: TestWorker | null = null;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool);
});
afterEach(async () => {
  await worker?.stop();
  worker = null;
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});

async function ask(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`http://127.0.0.1:${worker?.healthPort}${path}`);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const enqueue = (path: string, count = 1): Promise<string[]> => enqueueAt(`${receiver.url}${path}`, count);

async function enqueueAt(url: string, count = 1): Promise<string[]> {
  const destinationId = await makeDestination(database.pool, tenantId, { url });
  return makeDeliveries(database.pool, { tenantId, destinationId, count });
}

describe("isHealthy", () => {
  it.each<[string, Partial<HealthFacts>, boolean]>([
    ["at work", {}, true],
    ["before its first heartbeat", { lastHeartbeatMs: null }, false],
    ["with something for a person to look at", { alarms: [{ name: "xmin_horizon", text: "old" }] }, true],
    ["with a dispatcher that is silent", { lastTurnMs: MAX_SILENCE_MS }, false],
    ["with a heartbeat that is silent", { lastHeartbeatMs: MAX_SILENCE_MS }, false],
  ])("a process %s", (_name, facts, expected) => expect(isHealthy({ ...FACTS, ...facts })).toBe(expected));
});

describe("the health page", () => {
  it("says 200 at work, 404 elsewhere, and what is in flight, with nothing of a delivery", async () => {
    worker = await startTestWorker(database, { healthPort: 0 });
    await waitFor(async () => (await ask("/healthz")).status === 200);
    expect((await ask("/readyz")).status).toBe(200);
    expect((await ask("/")).status).toBe(404);
    const held = await startHeldReceiver();
    onTestFinished(() => held.close());
    await enqueueAt(held.url, 2);
    await waitFor(async () => (await ask("/healthz")).body.inFlight === 2);
    expect((await ask("/healthz?x=1")).body).toMatchObject({
      ok: true,
      region: "us",
      state: "running",
      slots: 64,
    });
    held.letGo();
    await waitFor(async () => (await ask("/healthz")).body.inFlight === 0);
  });

  it("says 503 to /readyz and 200 to /healthz while it drains", async () => {
    worker = await startTestWorker(database, { healthPort: 0, drainMs: LONG_MS });
    const held = await startHeldReceiver();
    onTestFinished(() => held.close());
    const [id = ""] = await enqueueAt(held.url);
    await held.arrived(1);
    const stopped = worker.stop();
    await waitFor(async () => (await ask("/readyz")).status === 503);
    expect(await ask("/healthz")).toMatchObject({ status: 200, body: { state: "stopping" } });
    held.letGo();
    await stopped;
    await expect(ask("/healthz")).rejects.toThrow();
    expect((await readAttempts(database.pool, id)).map(({ outcome }) => outcome)).toEqual(["delivered"]);
  });
});

describe("a database that is away", () => {
  it(
    "fault 49: /healthz says 503 meanwhile, and the same process claims again when it is back",
    async () => {
      const proxy = await startProxy(database.connectionString);
      const { connectionString } = proxy;
      worker = await startTestWorker({ region: "us", connectionString }, { healthPort: 0 });
      await waitFor(async () => (await ask("/healthz")).status === 200);
      proxy.shut();
      await waitFor(async () => (await ask("/healthz")).status === 503, {
        timeoutMs: LONG_MS,
        intervalMs: 100,
      });
      expect((await ask("/readyz")).status).toBe(503);
      const before = await countDeliveries(database.pool);
      await enqueue("/ok/after-outage", 5);
      proxy.open();
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === before.delivered + 5, {
        timeoutMs: LONG_MS,
      });
      await waitFor(async () => (await ask("/healthz")).status === 200);
      await worker.stop();
      await proxy.close();
    },
    LONG_MS * 2,
  );

  it(
    "LEASE-6 a claim whose answer is lost sends nothing; its rows go back long before their leases end",
    async () => {
      const proxy = await startProxy(database.connectionString);
      const { connectionString } = proxy;
      worker = await startTestWorker({ region: "us", connectionString });
      const lost = proxy.loseAnswerTo("sluice-claim");
      const ids = await enqueue("/ok/unclaimed", 5);
      await lost;
      await receiver.waitFor("unclaimed", (stats) => stats.effects === 5, LONG_MS);
      expect(receiver.stats("unclaimed").requests).toBe(5);
      const kindsOf = async (id: string) => (await readAttempts(database.pool, id)).map(({ kind }) => kind);
      await waitFor(async () => (await kindsOf(ids[4] ?? "")).length === 1);
      expect(await Promise.all(ids.map(kindsOf))).toEqual(ids.map(() => ["http"]));
      expect(worker.captured.lines()).toContainEqual(
        expect.objectContaining({ event: "unanswered_claim", rows: 5 }),
      );
      await worker.stop();
      await proxy.close();
    },
    LONG_MS * 2,
  );
});
