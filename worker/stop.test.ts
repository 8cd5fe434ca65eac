/**
 * A worker process is told to stop: it drains, leaves no lease behind, and ends in time whatever hangs. What it could
 * not finish is stored as what it is: unknown.
 */
import { describe, expect, it } from "vitest";
import type { Receiver } from "#demo/receiver/types.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import type { SpawnedWorker } from "#tests/support/worker-process.ts";
import { startProxy } from "#tests/support/worker-proxy.ts";
import {
  countDeliveries,
  countLeases,
  countWorkerProcesses,
  readAttempts,
  readDelivery,
  readWakeJob,
} from "#tests/support/worker-rows/sql.ts";
import { startTestWorker } from "#tests/support/worker-run.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

/** A stop takes 15 s at most, whatever hangs; the rest is for a machine that is slow or stands still. */
const GRACE_MS = 30_000;

let database: TestDatabase;
let receiver: Receiver;

const { spawn: spawnHere } = useWorkerWorld((world) => {
  ({ database, receiver } = world);
});

async function enqueue(path: string, count: number, policyOverride?: unknown): Promise<string[]> {
  const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
  const url = `${receiver.url}${path}`;
  const destinationId = await makeDestination(database.pool, tenantId, {
    url,
    concurrencyLimit: 100,
    policyOverride,
  });
  return makeDeliveries(database.pool, { tenantId, destinationId, count });
}

/** Sends the signal and returns how the process ended and how long that took. */
async function endBy(
  worker: SpawnedWorker,
  signal: NodeJS.Signals,
): Promise<{ code: number | null; tookMs: number }> {
  const begunAt = performance.now();
  worker.kill(signal);
  const { code } = await worker.exited;
  return { code, tookMs: performance.now() - begunAt };
}

async function nothingIsLeft(): Promise<void> {
  expect(await countLeases(database.pool)).toBe(0);
  expect(await countWorkerProcesses(database.pool)).toBe(0);
}

describe("a stop under load", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s drains: exit code 0, no lease, no row of the process, every request on record",
    async (signal) => {
      const worker = await spawnHere();
      await enqueue("/ok/load?ms=40", 2_000);
      await receiver.waitFor("load", (stats) => stats.requests >= 200);
      const { code, tookMs } = await endBy(worker, signal);
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(GRACE_MS);
      await nothingIsLeft();
      const counts = await countDeliveries(database.pool);
      expect(counts.ready).toBeGreaterThan(0);
      expect(counts.delivered).toBe(receiver.stats("load").requests);
      expect(counts.ready + counts.delivered).toBe(2_000);
      const { rows } = await database.pool.query(
        "SELECT count(*)::integer AS n FROM sluice.attempt WHERE kind = 'http'",
      );
      expect(rows[0]?.n).toBe(counts.delivered);
      // Whoever is left is told at once, not by the next probe.
      expect((await readWakeJob(database.pool, "us"))?.run_ms).toBeLessThanOrEqual(Date.now() + 1_000);
      expect(worker.output()).toContain('"event":"stopped"');
    },
  );

  it("ends at once, with exit code 0, also while its channel to the process that started it is open", async () => {
    const worker = await spawnHere({ SLUICE_DRAIN_MS: "120000" }, { ipc: true });
    const { code, tookMs } = await endBy(worker, "SIGTERM");
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(PROMPT_MS);
    await nothingIsLeft();
  });

  it("ends when the process that started it is gone", async () => {
    const worker = await spawnHere({}, { ipc: true });
    worker.disconnect();
    expect((await worker.exited).code).toBe(0);
    await nothingIsLeft();
  });
});

describe("a stop while a receiver hangs", () => {
  it("fault 48: waits, cuts the request off, stores that the outcome is unknown, and the key is the same later", async () => {
    const worker = await spawnHere({ SLUICE_DRAIN_MS: "500" });
    const [id = ""] = await enqueue("/never/hanging?times=1", 1, {
      backoff: { baseMs: 5, capMs: 5 },
      retryAfter: { minMs: 5 },
    });
    await receiver.waitFor("hanging", (stats) => stats.requests === 1);
    const { code, tookMs } = await endBy(worker, "SIGTERM");
    expect(code).toBe(0);
    expect(tookMs).toBeGreaterThan(450);
    expect(tookMs).toBeLessThan(GRACE_MS);
    await nothingIsLeft();
    expect(await readDelivery(database.pool, id)).toMatchObject({
      state: "delayed",
      attempts: 1,
      failures: 0,
      leased: false,
    });
    const [attempt] = await readAttempts(database.pool, id);
    expect(attempt).toMatchObject({
      kind: "http",
      outcome: "shutdown",
      reason: "shutdown",
      counted_failure: false,
    });
    expect(attempt?.error_detail).toBe("shutdown, outcome unknown");
    const next = await startTestWorker(database);
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered");
    await next.stop();
    const requests = receiver.requests({ destination: "hanging" });
    expect(requests.map(({ key, end }) => [key, end])).toEqual([
      [`key-${id}`, "aborted"],
      [`key-${id}`, "finished"],
    ]);
    expect(new Set(requests.map(({ webhookId }) => webhookId)).size).toBe(1);
  });

  it("a second signal ends it at once, with another exit code, and loses nothing", async () => {
    // Long enough for it to wait for, and cut off by nobody else.
    const worker = await spawnHere({ SLUICE_DRAIN_MS: "120000" });
    await enqueue("/never/hanging", 1, { requestDeadlineMs: 27_000 });
    await receiver.waitFor("hanging", (stats) => stats.requests === 1);
    worker.kill("SIGTERM");
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        "SELECT 1 FROM sluice.worker_process WHERE state = 'stopping'",
      );
      return rows.length === 1;
    });
    const { code, tookMs } = await endBy(worker, "SIGTERM");
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(PROMPT_MS);
    // The lease ends by itself, and the reconciler of any other worker brings the row back.
    expect(await countDeliveries(database.pool)).toMatchObject({ leased: 1 });
  });
});

describe("a stop while the database hangs", () => {
  it("ends all the same, with another exit code, and its leases end by themselves", async () => {
    const proxy = await startProxy(database.connectionString);
    try {
      const worker = await spawnHere({ SLUICE_DRAIN_MS: "500" }, { urls: { us: proxy.connectionString } });
      await enqueue("/ok/frozen?ms=500", 3);
      await receiver.waitFor("frozen", (stats) => stats.requests === 3);
      proxy.freeze();
      await receiver.waitFor("frozen", (stats) => stats.finished === 3);
      const { code, tookMs } = await endBy(worker, "SIGTERM");
      expect(code).toBe(1);
      expect(tookMs).toBeLessThan(GRACE_MS);
      expect(await countDeliveries(database.pool)).toMatchObject({ leased: 3 });
    } finally {
      await proxy.close();
    }
  });
});

describe("a stop while the database is away", () => {
  it("ends in time, and what could not be recorded comes back by its lease", async () => {
    const proxy = await startProxy(database.connectionString);
    try {
      const worker = await spawnHere({ SLUICE_DRAIN_MS: "500" }, { urls: { us: proxy.connectionString } });
      receiver.script("unrecorded", [{ status: 200, delayMs: 300 }]);
      await enqueue("/ok/unrecorded", 3);
      await receiver.waitFor("unrecorded", (stats) => stats.requests === 3);
      proxy.shut();
      await receiver.waitFor("unrecorded", (stats) => stats.finished === 3);
      const { code, tookMs } = await endBy(worker, "SIGTERM");
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(GRACE_MS);
      expect(await countDeliveries(database.pool)).toMatchObject({ leased: 3, delivered: 0 });
    } finally {
      await proxy.close();
    }
  });
});
