/**
 * CTL-1 with real worker processes, measured at the receiver: a pause holds from its answer on, survives the death of
 * every worker, ends at its end without anybody asking, and a resume lets fresh work pass.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { pauseDestination } from "#db/console/commands/pause-destination.ts";
import { pauseTenant } from "#db/console/commands/pause-tenant.ts";
import { resumeTenant } from "#db/console/commands/resume-tenant.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  type DestinationOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
} from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, type SpawnedWorker, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";

const LONG_MS = 60_000;
const HOUR_MS = 3_600_000;

let database: TestDatabase;
let receiver: Receiver;
let workers: SpawnedWorker[] = [];

beforeAll(async () => {
  receiver = await createReceiver();
});
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await endWorkers();
  workers = [];
  receiver.reset();
  await database.drop();
});
afterAll(() => receiver.close());

async function start(count: number): Promise<void> {
  const here = () => spawnReadyWorker({ urls: { us: database.connectionString } });
  workers.push(...(await Promise.all(Array.from({ length: count }, here))));
}

interface Lane {
  readonly tenantId: string;
  readonly destinationId: string;
}

async function laneOf(path: string, count: number, options: DestinationOptions = {}): Promise<Lane> {
  const tenant = await makeTenant(database.pool);
  const destination = await makeDestination(database.pool, tenant, {
    url: `${receiver.url}${path}`,
    ...options,
  });
  await makeDeliveries(database.pool, { tenantId: tenant, destinationId: destination, count });
  return { tenantId: tenant, destinationId: destination };
}

const countsOf = (lane: Lane) => countDeliveries(database.pool, lane.destinationId);

/** Others are served to the end: the workers have had every chance to do wrong. */
async function othersAreServed(name: string): Promise<void> {
  const lane = await laneOf(`/ok/${name}`, 20);
  await waitFor(async () => (await countsOf(lane)).delivered === 20, { timeoutMs: LONG_MS, what: name });
}

const pause = (lane: Lane, forMs: number) =>
  pauseTenant(contextOf(database), {
    tenantId: tenantId(lane.tenantId),
    version: 1,
    reason: REASON,
    end: { forMs },
  });

describe("a tenant in the middle of its work is paused", () => {
  it(
    "fault 43: all workers are killed and three are started: 0 requests for that tenant, until it is resumed",
    async () => {
      const lane = await laneOf("/ok/held?ms=20", 400, { concurrencyLimit: 4 });
      await start(2);
      await receiver.waitFor("held", (stats) => stats.requests > 20, LONG_MS);
      const answer = await pause(lane, HOUR_MS);
      expect(answer.applied).toBe(true);
      // What was leased before the answer may still reach its socket, and nothing else.
      const allowed = receiver.stats("held").requests + (await countsOf(lane)).leased;
      await waitFor(async () => (await countsOf(lane)).leased === 0, { timeoutMs: LONG_MS });
      const atRest = receiver.stats("held").requests;
      expect(atRest).toBeLessThanOrEqual(allowed);

      for (const worker of workers) worker.kill("SIGKILL");
      await Promise.all(workers.map((worker) => worker.exited));
      workers = [];
      await start(3);
      await othersAreServed("others");
      expect(receiver.stats("held").requests).toBe(atRest);
      const held = await countsOf(lane);
      expect(held).toMatchObject({ leased: 0 });
      expect(held.ready + held.delayed + held.delivered).toBe(400);

      const resumed = { tenantId: tenantId(lane.tenantId), version: 2, reason: REASON, share: 1 };
      await resumeTenant(contextOf(database), resumed);
      const endedAt = performance.now();
      await receiver.waitFor("held", (stats) => stats.requests > atRest, LONG_MS);
      expect(performance.now() - endedAt).toBeLessThan(5_000);
      await waitFor(async () => (await countsOf(lane)).delivered === 400, { timeoutMs: LONG_MS });
      expect(receiver.stats("held")).toMatchObject({ distinctKeys: 400, effects: 400 });
    },
    2 * LONG_MS,
  );
});

describe("the end of a pause", () => {
  it(
    "is honoured to the moment without anybody asking, and audited once by three processes",
    async () => {
      const lane = await laneOf("/ok/brief", 5);
      await start(3);
      const other = await laneOf("/ok/place", 0);
      const command = { version: 1, reason: REASON, end: { forMs: 2_000 } };
      const target = destinationId(other.destinationId);
      const answer = await pauseDestination(contextOf(database), { destinationId: target, ...command });
      await makeDeliveries(database.pool, { ...other, count: 5 });
      await waitFor(async () => (await countsOf(other)).delivered === 5, { timeoutMs: LONG_MS });
      expect(receiver.stats("place").firstArrivalMs).toBeGreaterThanOrEqual(
        Date.parse(String(answer.after.pauseUntil)),
      );
      await waitFor(async () => (await readAudit(database, target)).length === 2, { timeoutMs: LONG_MS });
      // Each of the three looks every second: after the others have been served again, all have looked.
      await othersAreServed("later");
      expect((await readAudit(database, target)).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
        "user:ann destination.pause",
        "worker destination.resume",
      ]);
      expect((await countsOf(lane)).delivered).toBe(5);
    },
    2 * LONG_MS,
  );
});

describe("a resume", () => {
  it(
    "lets fresh work pass while what has piled up comes slowly",
    async () => {
      const lane = await laneOf("/ok/piled?ms=100", 0, { concurrencyLimit: 10 });
      const target = tenantId(lane.tenantId);
      await pause(lane, HOUR_MS);
      await makeDeliveries(database.pool, { ...lane, count: 300 });
      await start(2);
      await resumeTenant(contextOf(database), { tenantId: target, version: 2, reason: REASON, share: 0.1 });
      const [fresh] = await makeDeliveries(database.pool, { ...lane, count: 1 });
      const key = `key-${fresh}`;
      await waitFor(() => receiver.requests({ key }).length === 1, {
        timeoutMs: LONG_MS,
        what: "the fresh one",
      });
      // A share of 10 % of a cap of 10 is one at a time: the fresh one did not wait for the three hundred.
      expect(receiver.stats("piled").requests).toBeLessThan(150);
      await waitFor(() => receiver.stats("piled").requests > 5, { timeoutMs: LONG_MS });
      expect(receiver.stats("piled").peakConcurrency).toBeLessThanOrEqual(2);
    },
    2 * LONG_MS,
  );
});
