/**
 * FAIR-7: a limit is a row. A change made with the command counts within a moment at the receiver, in every worker
 * process, without a restart; lowering takes nothing back that is in flight.
 */
import { describe, expect, it } from "vitest";
import { openGate } from "#db/console/commands/open-gate.ts";
import { readDestinationControl } from "#db/console/commands/read-control.ts";
import { setDestinationLimits } from "#db/console/commands/set-destination-limits.ts";
import { setTenantLimits } from "#db/console/commands/set-tenant-limits.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { contextOf, destinationId, REASON, tenantId } from "#tests/support/command-rows/sql.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import {
  type DestinationOptions,
  makeDeliveries,
  makeDestination,
  makeTenant,
} from "#tests/support/factories.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries } from "#tests/support/worker-rows/sql.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

const LONG_MS = 150_000;
let database: TestDatabase;
let receiver: Receiver;

const { spawn } = useWorkerWorld((world) => {
  ({ database, receiver } = world);
});

async function start(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => spawn()));
}

async function laneOf(path: string, count: number, options: DestinationOptions = {}) {
  const tenant = await makeTenant(database.pool);
  const destination = await makeDestination(database.pool, tenant, {
    url: `${receiver.url}${path}`,
    ...options,
  });
  await makeDeliveries(database.pool, { tenantId: tenant, destinationId: destination, count });
  return { tenantId: tenant, destinationId: destination, dst: destinationId(destination) };
}

/** Milliseconds from now until the receiver has seen it. */
async function seenAfter(what: string, seen: () => boolean): Promise<number> {
  const fromAt = performance.now();
  await waitFor(seen, { timeoutMs: LONG_MS, intervalMs: 2, what });
  return performance.now() - fromAt;
}

describe("FAIR-7 a changed limit counts at the receiver", () => {
  it(
    "a raised rate at once, however far ahead the next token was",
    async () => {
      await start(2);
      await laneOf("/ok/warm", 40);
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 40, {
        timeoutMs: LONG_MS,
      });
      // One request each 100 s: a process that comes too late to a token gives that one up, and a busy machine is late.
      const lane = await laneOf("/ok/slow", 20, { ratePerSecond: 0.01 });
      await receiver.waitFor("slow", (stats) => stats.requests === 1, LONG_MS);
      const command = { destinationId: lane.dst, version: 1, reason: REASON, ratePerSecond: 50 };
      expect(await setDestinationLimits(contextOf(database), command)).toMatchObject({ applied: true });
      const afterMs = await seenAfter("the second request", () => receiver.stats("slow").requests >= 2);
      expect(afterMs).toBeLessThan(PROMPT_MS);
      await waitFor(async () => (await countDeliveries(database.pool, lane.destinationId)).delivered === 20, {
        timeoutMs: LONG_MS,
      });
    },
    3 * LONG_MS,
  );

  it(
    "a raised and a lowered cap, of the destination and of the tenant",
    async () => {
      const lane = await laneOf("/ok/cap?ms=200", 400, { concurrencyLimit: 1 });
      await start(2);
      await receiver.waitFor("cap", (stats) => stats.requests >= 2, LONG_MS);
      expect(receiver.stats("cap").peakConcurrency).toBe(1);
      const set = (version: number, concurrencyLimit: number) =>
        setDestinationLimits(contextOf(database), {
          destinationId: lane.dst,
          version,
          reason: REASON,
          concurrencyLimit,
        });
      await set(1, 8);
      const afterMs = await seenAfter("more at a time", () => receiver.stats("cap").currentConcurrency >= 6);
      expect(afterMs).toBeLessThan(PROMPT_MS);

      await setTenantLimits(contextOf(database), {
        tenantId: tenantId(lane.tenantId),
        version: 1,
        reason: REASON,
        concurrencyLimit: 2,
      });
      await waitFor(async () => (await countDeliveries(database.pool)).leased <= 2, { timeoutMs: LONG_MS });
      const quietAt = receiver.stats("cap").requests;
      let most = 0;
      await waitFor(
        () => {
          most = Math.max(most, receiver.stats("cap").currentConcurrency);
          return receiver.stats("cap").requests >= quietAt + 8;
        },
        { timeoutMs: LONG_MS, intervalMs: 2 },
      );
      expect(most).toBeLessThanOrEqual(2);
    },
    2 * LONG_MS,
  );

  it(
    "FAIR-6 a gate that staff open: one probe goes first, then the others, long before Retry-After",
    async () => {
      receiver.script("gated", ["429:3600", 200]);
      const lane = await laneOf("/ok/gated", 10, { concurrencyLimit: 1 });
      await start(2);
      const shut = await waitFor(
        async () => (await readDestinationControl(database.pool, lane.dst)).gateUntil,
        {
          timeoutMs: LONG_MS,
          what: "the gate",
        },
      );
      expect(receiver.stats("gated").requests).toBe(1);
      // The gate is shut before the delivery's own outcome is stored; only then can it be brought forward.
      await waitFor(async () => (await countDeliveries(database.pool)).delayed === 1, { timeoutMs: LONG_MS });
      const { version } = await readDestinationControl(database.pool, lane.dst);
      const command = { destinationId: lane.dst, version, reason: REASON, gateUntil: shut };
      await openGate(contextOf(database), command);
      const afterMs = await seenAfter("the probe", () => receiver.stats("gated").requests >= 2);
      expect(afterMs).toBeLessThan(PROMPT_MS);
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 10, {
        timeoutMs: LONG_MS,
      });
      const [first, second, third] = receiver.requests({ destination: "gated" });
      expect(second?.key).toBe(first?.key);
      expect(third?.arrivedAtMs).toBeGreaterThanOrEqual(second?.answeredAtMs ?? Number.POSITIVE_INFINITY);
      expect(receiver.stats("gated")).toMatchObject({ requests: 11, distinctKeys: 10, effects: 10 });
    },
    2 * LONG_MS,
  );
});
