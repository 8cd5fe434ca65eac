/**
 * The runner with a real graphile-worker: a job that is lost, a budget that is kept, a clock that is three minutes off, and a
 * hook that is told. The database's clock decides, and a lost job costs a moment.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { toPublicId } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { countRows, readAttempts } from "#tests/support/queue-rows/sql.ts";
import {
  intoRun,
  RUN_ITEMS,
  RUN_PLAN,
  startAt,
  stateOf,
  untilLong,
} from "#tests/support/replay-rows/runs.ts";
import {
  type Batch,
  deadRows,
  itemStates,
  readBatch,
  setReplayPolicy,
} from "#tests/support/replay-rows/sql.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { captureLog, startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";
import { sendReplayNotices } from "./replay-notices.ts";

const TEST_MS = 300_000;
const SKEW_MS = 180_000;
/** Less than the clocks are off, and long enough for a busy machine. */
const LIMIT_MS = 150_000;
const PRELOAD = path.join(
  fileURLToPath(new URL("../tests/support/", import.meta.url)),
  "worker-skewed-clock.ts",
);

let receiver: Receiver;

beforeAll(async () => {
  receiver = await createReceiver();
});
afterAll(() => receiver.close());

async function makeDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  await setReplayPolicy(database.pool, { canaryHoldMs: 0, rampHoldMs: 0, metricsMaxAgeMs: LIMIT_MS });
  return database;
}

const jobsOf = (database: TestDatabase, batch: Batch) =>
  database.pool
    .query("SELECT 1 FROM graphile_worker.jobs WHERE key = $1", [`replay:${batch.id}`])
    .then(({ rows }) => rows.length);

describe("a batch and one worker", () => {
  let database: TestDatabase;
  let worker: TestWorker;
  beforeAll(async () => {
    database = await makeDatabase();
    worker = await startTestWorker(database);
  });
  afterAll(async () => {
    await worker.stop();
    await database.drop();
  });

  it(
    "a lost job is put back, an ended batch has none, and its tenant's second header names the batch",
    async () => {
      const headers: Record<string, unknown>[] = [];
      const target = createServer((request, response) => {
        headers.push(request.headers);
        request.resume().on("end", () => response.writeHead(204).end());
      });
      const { batch } = await startAt(database, await listen(target));
      await database.pool.query(
        "UPDATE sluice.tenant SET replay_header = true WHERE id = (SELECT tenant_ids[1] FROM sluice.replay_batch WHERE id = $1)",
        [batch.id],
      );
      await intoRun(database, batch);
      await database.pool.query("DELETE FROM graphile_worker._private_jobs WHERE key = $1", [
        `replay:${batch.id}`,
      ]);
      await untilLong(async () => (await stateOf(database, batch)) === "completed", "the end of the batch");
      expect(await itemStates(database.pool, batch.id)).toEqual({ delivered: RUN_ITEMS });
      await untilLong(async () => (await jobsOf(database, batch)) === 0, "no job of an ended batch");
      expect(headers).toHaveLength(RUN_ITEMS);
      // The canary had left before the tenant asked for it.
      expect(headers.every((sent) => sent["sluice-replay"] === batch.publicId)).toBe(true);
      expect(
        headers.filter((sent) => sent["webhook-replay"] === batch.publicId).length,
      ).toBeGreaterThanOrEqual(15);
      target.closeAllConnections();
      await new Promise((resolve) => target.close(resolve));
    },
    TEST_MS,
  );

  it(
    "DLQ-8 an item has its declared attempts and no more, whatever the policy of its destination says",
    async () => {
      const { batch, ids } = await startAt(database, `${receiver.url}/status/503/budget`);
      await untilLong(async () => (await stateOf(database, batch)) === "stopped", "the end of the batch");
      const again = (await deadRows(database.pool, ids)).filter(({ cycle }) => cycle === 2);
      expect(again.length).toBeGreaterThan(0);
      for (const row of again) {
        const attempts = (await readAttempts(database.pool, String(row.id))).filter(
          ({ cycle }) => cycle === 2,
        );
        expect(attempts.length).toBeLessThanOrEqual(RUN_PLAN.attemptBudget);
        expect(row).toMatchObject({ reason: "attempts_exhausted", replay_batch_id: batch.id });
      }
    },
    TEST_MS,
  );

  it("a hook is told once of each batch that waits for a person or has ended, again when it did not answer, and no entry", async () => {
    const told: { key: string | undefined; body: Record<string, unknown> }[] = [];
    let status = 503;
    const hook = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      told.push({ key: request.headers["idempotency-key"] as string | undefined, body });
      response.writeHead(status).end();
    });
    const url = await listen(hook);
    const { log } = captureLog("silent");
    const { batch } = await startAt(database, `${receiver.url}/ok/told`);
    const due = "UPDATE sluice.replay_notice SET next_at = clock_timestamp() WHERE sent_at IS NULL";
    await database.pool.query(due);
    expect(await sendReplayNotices(database.pool, url, log)).toBe(0);
    const first = told.length;
    expect(first).toBeGreaterThan(0);
    // It waits before it asks again.
    expect(await sendReplayNotices(database.pool, url, log)).toBe(0);
    expect(told).toHaveLength(first);
    status = 204;
    await database.pool.query(due);
    expect(await sendReplayNotices(database.pool, url, log)).toBe(first);
    expect(told.slice(first).map(({ key }) => key)).toEqual(told.slice(0, first).map(({ key }) => key));
    const mine = told.find(({ body }) => (body.batch as { id: string }).id === batch.publicId);
    expect(mine?.body).toEqual({
      id: mine?.key,
      kind: "review_requested",
      at: expect.stringMatching(/Z$/),
      region: "us",
      batch: {
        id: toPublicId("rpl", batch.id),
        name: "after the outage",
        state: expect.any(String),
        requestedBy: "user:ann",
      },
      actor: "user:ann",
      detail: expect.any(String),
    });
    await new Promise((resolve) => hook.close(resolve));
  });
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

describe.each([
  ["three minutes fast", SKEW_MS],
  ["three minutes slow", -SKEW_MS],
])("LEASE-8 a runner whose clock is %s", (name, skewMs) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await makeDatabase();
    await spawnReadyWorker({
      urls: { us: database.connectionString },
      env: { SLUICE_TEST_CLOCK_SKEW_MS: String(skewMs) },
      imports: [PRELOAD],
    });
  });
  afterAll(async () => {
    await endWorkers();
    await database.drop();
  });

  it(
    "takes fresh metrics for fresh, keeps the window and the run time of the database, and counts its attempts",
    async () => {
      const at = name.replaceAll(/[^a-z]+/g, "-");
      const endsBefore = new Date(Date.now() + LIMIT_MS).toISOString();
      const { batch } = await startAt(database, `${receiver.url}/ok/${at}`, {
        ...RUN_PLAN,
        endsBefore,
        stop: { maxRunMs: LIMIT_MS, metricsMaxAgeMs: LIMIT_MS },
      });
      await intoRun(database, batch);
      await untilLong(async () => (await stateOf(database, batch)) === "completed", "the end of the batch");
      expect(await readBatch(database.pool, batch.id)).toMatchObject({ auto_pauses: 0, stop_cause: null });
      expect(receiver.stats(at)).toMatchObject({ requests: RUN_ITEMS, effects: RUN_ITEMS });
      // The window of the stop conditions looks at attempts since the start: all of them lie there.
      expect(
        await countRows(
          database.pool,
          "attempt a JOIN sluice.replay_batch b ON b.id = a.replay_batch_id WHERE b.id = $1 AND a.started_at BETWEEN b.started_at AND b.ended_at",
          [batch.id],
        ),
      ).toBe(RUN_ITEMS);
    },
    TEST_MS,
  );
});
