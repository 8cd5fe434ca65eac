/**
 * LEASE-7: what is due within a moment is the business of the process's own timer: no wake-up job is written for it, and the job for
 * what comes later is written all the same.
 */
import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { postgresStore } from "#db/queue/store.ts";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant, TEST_KEYRING } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { captureLog } from "#tests/support/worker-run.ts";
import { ALL_ON } from "./config.ts";
import { createEngine } from "./engine.ts";
import { createHttpClient } from "./exchange.ts";
import { systemTimers } from "./timers.ts";

const LONG_MS = 60_000;
/** Far enough that a slow machine has rested before, and near enough to have no job. */
const SOON_MS = 240;

it("LEASE-7 writes its wake-up for what is due in an hour, and none for what is due in a moment", async () => {
  const database = await createTestDatabase();
  const receiver = await createReceiver();
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/near` });
  const [later = ""] = await makeDeliveries(database.pool, { tenantId, destinationId, dueInMs: 3_600_000 });
  const jobs: number[] = [];
  const engine = await createEngine(
    {
      region: "us",
      workerId: uuidV7(Date.now(), randomBytes),
      slots: 8,
      keyring: TEST_KEYRING,
      sendingRules: LOCAL_SENDING_RULES,
      switches: ALL_ON,
    },
    {
      store: {
        ...postgresStore(database.pool),
        writeWakeJob: async (_region, runAtMs) => void jobs.push(runAtMs),
      },
      timers: systemTimers,
      random: Math.random,
      randomBytes,
      http: (connectTimeoutMs) => createHttpClient(connectTimeoutMs, { rules: LOCAL_SENDING_RULES }),
      log: captureLog().log,
    },
  );
  const turning = engine.dispatch.run();
  try {
    // Several, a moment apart, so that each rest has another one before it.
    for (let n = 0; n < 5; n++) {
      await makeDeliveries(database.pool, { tenantId, destinationId, dueInMs: SOON_MS - n * 20 });
      engine.parts.wake.raise(true);
    }
    await waitFor(async () => (await countDeliveries(database.pool)).delivered === 5, {
      timeoutMs: LONG_MS,
      what: "what is due soon to be delivered by the timer alone",
    });
    const { due_ms: laterMs } = await readDelivery(database.pool, later);
    await waitFor(() => jobs.length > 0, { timeoutMs: LONG_MS, what: "the job" });
    for (const atMs of jobs) expect(Math.abs(atMs - laterMs)).toBeLessThan(1_000);
  } finally {
    engine.dispatch.stop();
    await turning;
    await engine.parts.http.close();
    await receiver.close();
    await database.drop();
  }
});
