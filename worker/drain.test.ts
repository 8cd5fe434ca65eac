/**
 * CTL-3 and ID-9 with real worker processes, measured at the receiver: a drain under load ends with no lease and says
 * so, nothing starts behind it, and an erased body makes no request.
 */
import { describe, expect, it } from "vitest";
import { drainStatus } from "#db/console/commands/drain-status.ts";
import { erasePayload } from "#db/console/commands/erase-payload.ts";
import { findPayload } from "#db/console/commands/read-control.ts";
import { startClaims } from "#db/console/commands/start-claims.ts";
import { stopClaims } from "#db/console/commands/stop-claims.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { toPublicId } from "#domain/ids.ts";
import { contextOf, REASON } from "#tests/support/command-rows/sql.ts";
import type { TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, countLeases, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { useWorkerWorld } from "#tests/support/worker-world.ts";

const LONG_MS = 150_000;
const DESTINATIONS = 8;
const DELIVERIES = 1_600;

let database: TestDatabase;
let receiver: Receiver;

const { spawn: spawnHere } = useWorkerWorld((world) => {
  ({ database, receiver } = world);
});

describe("CTL-3 a drain under load", () => {
  it(
    "leaves no lease and says so; nothing starts behind it; started again, all of it is delivered once",
    async () => {
      const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
      for (let n = 0; n < DESTINATIONS; n++) {
        const url = `${receiver.url}/ok/load${n}?ms=100`;
        const destinationId = await makeDestination(database.pool, tenantId, { url });
        await makeDeliveries(database.pool, { tenantId, destinationId, count: DELIVERIES / DESTINATIONS });
      }
      await Promise.all([spawnHere(), spawnHere()]);
      await waitFor(() => receiver.totals().requests > 100, { timeoutMs: LONG_MS, what: "load" });

      const stopped = await stopClaims(contextOf(database), { version: 1, reason: REASON });
      expect(stopped).toMatchObject({ applied: true, version: 2 });
      const allowed = receiver.totals().requests + (await countLeases(database.pool));
      const status = await waitFor(
        async () => {
          const now = await drainStatus(contextOf(database));
          // It says that it is drained exactly when there is nothing left under a lease.
          expect(now.drained).toBe(now.leases === 0);
          return now.drained ? now : null;
        },
        { timeoutMs: LONG_MS, what: "the drain" },
      );
      expect(status).toMatchObject({ claims: "stopped", leases: 0, lastLeaseUntil: null, workers: 2 });
      const atRest = receiver.totals().requests;
      expect(atRest).toBeLessThanOrEqual(allowed);
      expect(receiver.totals().currentConcurrency).toBe(0);

      // A process that starts now finds the drain, and has every chance to overlook it.
      await spawnHere();
      await waitFor(async () => (await drainStatus(contextOf(database))).workers === 3, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.totals().requests).toBe(atRest);
      expect((await countDeliveries(database.pool)).ready).toBe(DELIVERIES - atRest);

      await startClaims(contextOf(database), { version: 2, reason: REASON });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === DELIVERIES, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.totals()).toMatchObject({
        requests: DELIVERIES,
        distinctKeys: DELIVERIES,
        effects: DELIVERIES,
      });
    },
    2 * LONG_MS,
  );
});

describe("ID-9 an erased body", () => {
  it(
    "makes no request on the next attempt: the delivery ends as payload_erased, and its siblings go on",
    async () => {
      receiver.script("private", [500]);
      const tenantId = await makeTenant(database.pool);
      const destinationId = await makeDestination(database.pool, tenantId, {
        url: `${receiver.url}/ok/private`,
        policyOverride: {
          backoff: { baseMs: 3_600_000, factor: 1, capMs: 3_600_000, jitter: 0 },
          retryAfter: { minMs: 5 },
        },
      });
      const [tried] = await makeDeliveries(database.pool, { tenantId, destinationId });
      await spawnHere();
      await waitFor(async () => (await readDelivery(database.pool, String(tried))).failures === 1, {
        timeoutMs: LONG_MS,
      });
      const payloadId = await findPayload(database.pool, toPublicId("dlv", String(tried)));
      const answer = await erasePayload(contextOf(database), { payloadId, reason: REASON });
      expect(answer.after).toMatchObject({ erased: true, waiting: 1, leased: 0 });
      receiver.script("private", [200]);
      await database.pool.query("UPDATE sluice.delivery SET due_at = clock_timestamp() WHERE id = $1", [
        tried,
      ]);
      await waitFor(async () => (await readDelivery(database.pool, String(tried))).state === "dead", {
        timeoutMs: LONG_MS,
      });

      expect(await readDelivery(database.pool, String(tried))).toMatchObject({
        reason: "payload_erased",
        attempts: 1,
      });
      expect(receiver.stats("private").requests).toBe(1);
      expect((await readAttempts(database.pool, String(tried))).map(({ kind }) => kind)).toEqual([
        "http",
        "not_sent",
      ]);
      await makeDeliveries(database.pool, { tenantId, destinationId });
      await waitFor(async () => (await countDeliveries(database.pool)).delivered === 1, {
        timeoutMs: LONG_MS,
      });
      expect(receiver.stats("private")).toMatchObject({ requests: 2, effects: 1 });
    },
    2 * LONG_MS,
  );
});
