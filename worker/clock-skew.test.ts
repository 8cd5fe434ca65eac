/**
 * LEASE-8 faults 22, 78: the database's clock decides. Worker processes whose own clocks are three minutes fast and three
 * minutes slow send nothing early, nothing late and nothing twice.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  makeDeliveries,
  makeDestination,
  makeTenant,
  TEST_SIGNING_SECRET,
} from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";

const SKEW_MS = 180_000;
const LONG_MS = 60_000;
/** What a slow machine may add. A clock that is wrong by three minutes adds more. */
const LATE_MS = 60_000;
const PRELOAD = path.join(
  fileURLToPath(new URL("../tests/support/", import.meta.url)),
  "worker-skewed-clock.ts",
);

let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver({ secretFor: () => TEST_SIGNING_SECRET });
});
afterAll(() => receiver.close());

function spawnSkewed(database: TestDatabase, skewMs: number): Promise<SpawnedWorker> {
  return spawnReadyWorker({
    urls: { us: database.connectionString },
    env: { SLUICE_TEST_CLOCK_SKEW_MS: String(skewMs) },
    imports: [PRELOAD],
  });
}

/** How far the process's own clock is off, by the times that it prints. */
function ownSkewMs(worker: SpawnedWorker, startedAtMs: number): number {
  const line =
    worker
      .output()
      .split("\n")
      .find((text) => text.includes('"event":"started"')) ?? "{}";
  return Date.parse((JSON.parse(line) as { time: string }).time) - startedAtMs;
}

interface World {
  readonly database: TestDatabase;
  /** Stands in the paths of its destinations. */
  readonly at: string;
  /** Deliveries that are due at once, later, and when a Retry-After with a date says. */
  readonly now: readonly string[];
  readonly later: readonly string[];
  readonly dated: string;
}

const CASES = [
  ["three minutes fast", [SKEW_MS]],
  ["three minutes slow", [-SKEW_MS]],
  ["one fast and one slow, side by side", [SKEW_MS, -SKEW_MS]],
] as const;
const worlds = new Map<string, World>();

// All at once: each of them waits for due times most of the while.
beforeAll(async () => {
  await Promise.all(CASES.map(async ([name, skews]) => worlds.set(name, await openWorld(name, skews))));
});
afterAll(async () => {
  await endWorkers();
  await Promise.all([...worlds.values()].map(({ database }) => database.drop()));
});

/** A database whose workers have such clocks, and their deliveries. */
async function openWorld(name: string, skews: readonly number[]): Promise<World> {
  const database = await createTestDatabase();
  const startedAtMs = Date.now();
  const workers = await Promise.all(skews.map((skewMs) => spawnSkewed(database, skewMs)));
  for (const [index, worker] of workers.entries()) {
    expect(Math.abs(ownSkewMs(worker, startedAtMs) - (skews[index] ?? 0))).toBeLessThan(LONG_MS);
  }
  const at = name.replaceAll(/[^a-z]+/g, "-");
  const tenantId = await makeTenant(database.pool);
  const add = async (url: string, count: number, dueInMs: number) => {
    const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}${url}` });
    return makeDeliveries(database.pool, { tenantId, destinationId, count, dueInMs });
  };
  const now = await add(`/ok/${at}/now?ms=500`, 10, 0);
  const later = await add(`/ok/${at}/later`, 10, 2_500);
  const [dated = ""] = await add(`/429/date/3/${at}/dated?times=1`, 1, 0);
  return { database, at, now, later, dated };
}

describe.each(CASES)("worker clocks that are %s", (name) => {
  it(
    "LEASE-8 send nothing before it is due, nothing twice, and a Retry-After with a date as the database reads it",
    async () => {
      const { database, at, now, later, dated } = worlds.get(name) as World;
      const { pool } = database;
      const all = now.length + later.length + 1;
      await waitFor(async () => (await countDeliveries(pool)).delivered === all, {
        timeoutMs: LONG_MS,
        what: "all to be delivered",
      });

      for (const id of later) {
        const [request, ...others] = receiver.requests({ key: `key-${id}` });
        expect(others).toEqual([]);
        const { first_due_ms: dueMs } = await readDelivery(pool, id);
        expect(request?.arrivedAtMs).toBeGreaterThanOrEqual(dueMs);
        expect(request?.arrivedAtMs).toBeLessThan(dueMs + LATE_MS);
      }
      expect(receiver.stats(`${at}/now`)).toMatchObject({ requests: 10, distinctKeys: 10, effects: 10 });

      const [first, second, ...more] = receiver.requests({ destination: `${at}/dated` });
      expect(more).toEqual([]);
      expect(second?.arrivedAtMs).toBeGreaterThanOrEqual(first?.notBeforeMs ?? Number.POSITIVE_INFINITY);
      expect(second?.arrivedAtMs).toBeLessThan((first?.notBeforeMs ?? 0) + LATE_MS);
      const [attempt] = await readAttempts(pool, dated);
      expect(attempt).toMatchObject({ fallback: false, retry_after_raw: first?.retryAfter });
      expect(attempt?.retry_after_asked_ms).toBeGreaterThan(0);
      expect(attempt?.retry_after_asked_ms).toBeLessThanOrEqual(4_100);

      // The receiver accepts a signature's time within 5 minutes; ours is right within seconds.
      for (const request of receiver
        .requests()
        .filter(({ destination }) => destination.startsWith(`${at}/`))) {
        expect(request.signature).toBe("valid");
        expect(Math.abs(Number(request.webhookTimestamp) * 1_000 - request.arrivedAtMs)).toBeLessThan(
          LATE_MS,
        );
      }
    },
    LONG_MS * 2,
  );
});
