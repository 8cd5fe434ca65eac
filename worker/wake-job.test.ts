/**
 * graphile-worker's job carries the wait: one job for a region, at the moment at which something is next due. Losing
 * it costs a moment, it is enough alone, and nothing depends on it for correctness.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import {
  isListening,
  makeDue,
  readDelivery,
  readWakeJob,
  terminateSessions,
} from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;

// A database for each test: a job stands for a whole region, so every other due row would change it.
let database: TestDatabase;
let receiver: Receiver;
let workers: TestWorker[] = [];

beforeEach(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await receiver.close();
  await database.drop();
});

async function start(options: TestWorkerOptions = {}): Promise<TestWorker> {
  const worker = await startTestWorker(database, options);
  workers.push(worker);
  return worker;
}

async function enqueue(path: string, dueInMs = 0, count = 1): Promise<string[]> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}${path}` });
  return makeDeliveries(database.pool, { tenantId, destinationId, dueInMs, count });
}

const isDelivered = async (id: string) => (await readDelivery(database.pool, id)).state === "delivered";

describe("the wake-up job", () => {
  it("RETRY-4 stands at the stored due time, within a second, after a 429 with Retry-After: 120 and nothing else due", async () => {
    await start();
    const [id = ""] = await enqueue("/429/seconds/120/later");
    const delayed = await waitFor(async () => {
      const row = await readDelivery(database.pool, id);
      return row.state === "delayed" ? row : null;
    });
    const job = await waitFor(async () => {
      const found = await readWakeJob(database.pool, "us");
      // The gate opens a moment before the row is due; the job may stand at either.
      return found !== null && Math.abs(found.run_ms - delayed.due_ms) < 1_000 ? found : null;
    });
    const [attempt] = receiver.requests({ destination: "later" });
    expect(job.run_ms).toBeGreaterThanOrEqual(attempt?.notBeforeMs ?? Number.POSITIVE_INFINITY);
    // It is an envelope without content: nothing of a delivery stands in it.
    expect(job.payload).toEqual({ region: "us" });
    expect(receiver.stats("later").requests).toBe(1);
  });

  it("alone delivers what became due: with probe, timers, reconciler and hints switched off", async () => {
    const [id = ""] = await enqueue("/429/seconds/2/alone?times=1");
    const worker = await start({ off: ["probe", "timers", "reconciler", "listen"] });
    await waitFor(() => isDelivered(id), { timeoutMs: LONG_MS, what: "the job to deliver it" });
    const [first, second] = receiver.requests({ destination: "alone" });
    expect(second?.arrivedAtMs).toBeGreaterThanOrEqual(first?.notBeforeMs ?? Number.POSITIVE_INFINITY);
    expect(receiver.stats("alone").requests).toBe(2);
    expect(worker.captured.lines().filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });

  it("moves to a due time that is earlier than the one it stands at", async () => {
    await start();
    await enqueue("/ok/far", 3_600_000);
    await waitFor(
      async () => ((await readWakeJob(database.pool, "us"))?.run_ms ?? 0) > Date.now() + 3_000_000,
    );
    const [near = ""] = await enqueue("/ok/near", 600_000);
    const dueMs = (await readDelivery(database.pool, near)).due_ms;
    await waitFor(
      async () => Math.abs(((await readWakeJob(database.pool, "us"))?.run_ms ?? 0) - dueMs) < 1_000,
    );
  });
});

describe("a wake-up that is lost", () => {
  it("fault 51: with all of graphile's jobs deleted, due rows are still delivered", async () => {
    const first = await start({ off: ["timers", "listen"] });
    const ids = await enqueue("/ok/forgotten", 3_600_000, 5);
    await waitFor(async () => (await readWakeJob(database.pool, "us")) !== null);
    await database.pool.query("DELETE FROM graphile_worker._private_jobs");
    await makeDue(database.pool, ids);
    await waitFor(async () => (await Promise.all(ids.map(isDelivered))).every(Boolean), {
      timeoutMs: LONG_MS,
    });
    expect(first.captured.text()).not.toContain("dispatch_failed");
  });

  it("fault 51: is put back by the reconciler, with probe, timers and hints switched off", async () => {
    await start({ off: ["probe", "timers", "listen"] });
    const ids = await enqueue("/ok/restored", 1_000, 3);
    await database.pool.query("DELETE FROM graphile_worker._private_jobs");
    await waitFor(async () => (await Promise.all(ids.map(isDelivered))).every(Boolean), {
      timeoutMs: LONG_MS,
    });
    expect(receiver.stats("restored").requests).toBe(3);
  });

  it("fault 52: two ticks at once, and a tick while the last one runs, lead to one request", async () => {
    await Promise.all([start(), start(), start()]);
    const ids = await enqueue("/ok/ticks?ms=50", 0, 20);
    for (let tick = 0; tick < 10; tick++) {
      await Promise.all(
        workers.map(() =>
          database.pool.query(
            "SELECT graphile_worker.add_job('dispatch', '{}'::json, job_key => 'dispatch:us', job_key_mode => 'replace')",
          ),
        ),
      );
    }
    await waitFor(async () => (await Promise.all(ids.map(isDelivered))).every(Boolean), {
      timeoutMs: LONG_MS,
    });
    expect(receiver.stats("ticks")).toMatchObject({ requests: 20, distinctKeys: 20, effects: 20 });
  });
});

describe("each other source of a wake", () => {
  it("a hint alone: with probe, timers and reconciler switched off", async () => {
    const worker = await start({ off: ["probe", "timers", "reconciler"] });
    const ids = await enqueue("/ok/hinted", 0, 3);
    await waitFor(
      async () => {
        // A worker listens a moment after it has started.
        await database.pool.query("NOTIFY sluice_wake");
        return (await Promise.all(ids.map(isDelivered))).every(Boolean);
      },
      { intervalMs: 100 },
    );
    expect(worker.captured.text()).not.toContain("hint_connection_lost");
  });

  it("the probe alone: with timers, reconciler and hints switched off, and no job", async () => {
    await start({ off: ["timers", "reconciler", "listen"] });
    const ids = await enqueue("/ok/probed", 0, 3);
    await waitFor(async () => (await Promise.all(ids.map(isDelivered))).every(Boolean));
  });

  it("the timer of a known due time alone: with probe, reconciler and hints switched off, and the job deleted", async () => {
    const [id = ""] = await enqueue("/ok/timed", 2_500);
    await start({ off: ["probe", "reconciler", "listen"] });
    // A machine that was too slow for the job to be seen has shown nothing, and is not at fault.
    await waitFor(async () => (await readWakeJob(database.pool, "us")) !== null || (await isDelivered(id)));
    await database.pool.query("DELETE FROM graphile_worker._private_jobs");
    await waitFor(() => isDelivered(id));
    const { due_ms: dueMs } = await readDelivery(database.pool, id);
    expect(receiver.stats("timed").firstArrivalMs).toBeGreaterThanOrEqual(dueMs);
  });
});

describe("graphile-worker's runner", () => {
  it(
    "fault 49: is started again when its connections were ended, and then carries a wait alone",
    async () => {
      const worker = await start({ off: ["probe", "timers", "reconciler"] });
      // A listener that is still on its way would have nothing to lose.
      await waitFor(() => isListening(database.pool, "sluice-worker-us-hints"), { timeoutMs: LONG_MS });
      expect(await terminateSessions(database.pool, "sluice-worker-us%")).toBeGreaterThan(1);
      await waitFor(() => worker.captured.text().includes("hint_connection_lost"), {
        what: "the loss to be noticed",
      });
      // Its connections ended too: a new runner, or its own second try, listens again before it carries anything alone.
      await waitFor(() => isListening(database.pool, "sluice-worker-us"), {
        timeoutMs: 2 * LONG_MS,
        what: "graphile-worker's runner to be back",
      });
      const [id = ""] = await enqueue("/429/seconds/2/again?times=1");
      await database.pool.query("NOTIFY sluice_wake");
      await waitFor(
        async () => {
          // The hint may come while the listener is still away.
          await database.pool.query("NOTIFY sluice_wake");
          return (await readDelivery(database.pool, id)).attempts === 1;
        },
        { timeoutMs: LONG_MS, intervalMs: 100 },
      );
      await waitFor(() => isDelivered(id), { timeoutMs: LONG_MS, what: "the job to deliver it" });
    },
    5 * LONG_MS,
  );
});
