/** The region's one wake-up job, read from graphile-worker's own view. On a real server with its real schema. */
import { runMigrations } from "graphile-worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  databaseNowMs,
  leaseRows,
  makePlace,
  openTransaction,
  type Place,
} from "#tests/support/queue-rows/sql.ts";
import { DISPATCH_TASK, dispatchKey, restoreWakeJob, writeWakeJob } from "./wake-job.ts";

interface Job {
  task_identifier: string;
  key: string;
  payload: unknown;
  run_ms: number;
  attempts: number;
  locked_by: string | null;
}

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  await runMigrations({ pgPool: database.pool });
  place = await makePlace(database.pool);
});

beforeEach(async () => {
  await database.pool.query("DELETE FROM graphile_worker._private_jobs");
  await database.pool.query("TRUNCATE sluice.delivery");
});

afterAll(() => database.drop());

async function jobs(): Promise<Job[]> {
  const result = await database.pool.query<Job>(
    `SELECT j.task_identifier, j.key, p.payload, (extract(epoch FROM j.run_at) * 1000)::float8 AS run_ms, j.attempts, j.locked_by
       FROM graphile_worker.jobs j JOIN graphile_worker._private_jobs p ON p.id = j.id ORDER BY j.id`,
  );
  return result.rows;
}

describe("the wake-up job", () => {
  it("stands at exactly the moment asked for, and carries the region and nothing else (ID-8)", async () => {
    const runAtMs = Math.floor(await databaseNowMs(database.pool)) + 120_000.123;
    await writeWakeJob(database.pool, "us", runAtMs);
    const [job, ...more] = await jobs();
    expect(more).toEqual([]);
    expect(job).toMatchObject({
      task_identifier: DISPATCH_TASK,
      key: "dispatch:us",
      payload: { region: "us" },
    });
    expect(Math.abs((job?.run_ms ?? 0) - runAtMs)).toBeLessThan(1);
  });

  it("is replaced, earlier and later alike, so that one stands for each region", async () => {
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    for (const inMs of [60_000, 10_000, 3_600_000]) {
      await writeWakeJob(database.pool, "us", nowMs + inMs);
      expect((await jobs()).map(({ run_ms }) => run_ms)).toEqual([nowMs + inMs]);
    }
    await writeWakeJob(database.pool, "eu", nowMs);
    expect((await jobs()).map(({ key }) => key)).toEqual([dispatchKey("us"), dispatchKey("eu")]);
  });

  it("is written anew beside one that runs right now, and its moment counts (fault 52)", async () => {
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await writeWakeJob(database.pool, "us", nowMs);
    await database.pool.query(
      "UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'w', attempts = 1",
    );
    await writeWakeJob(database.pool, "us", nowMs + 5_000);
    const waiting = (await jobs()).filter(({ locked_by }) => locked_by === null);
    expect(waiting).toMatchObject([{ key: "dispatch:us", run_ms: nowMs + 5_000 }]);
  });

  it("two writers at once leave one job", async () => {
    const nowMs = Math.floor(await databaseNowMs(database.pool));
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => writeWakeJob(database.pool, "us", nowMs + n * 1_000)),
    );
    expect(await jobs()).toHaveLength(1);
  });
});

describe("a wake-up that vanished (fault 51)", () => {
  it("is put back at once when something has been due for a while", async () => {
    await makeDeliveries(database.pool, { ...place, lane: "retry", serviceClass: "urgent", dueInMs: -5_000 });
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(true);
    const [job] = await jobs();
    expect(job?.run_ms).toBeLessThanOrEqual(await databaseNowMs(database.pool));
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(false);
    expect(await jobs()).toHaveLength(1);
  });

  it("is not put back when nothing waits, when it became due only now, or when it is leased", async () => {
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(false);
    await makeDeliveries(database.pool, { ...place, dueInMs: 60_000 });
    await makeDeliveries(database.pool, { ...place, dueInMs: -10 });
    await leaseRows(database.pool, await makeDeliveries(database.pool, { ...place, dueInMs: -60_000 }));
    expect(await restoreWakeJob(database.pool, "us", 30_000)).toBe(false);
    expect(await jobs()).toEqual([]);
  });

  it("one that stands is left alone, also when it is for later", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -5_000 });
    const runAtMs = Math.floor(await databaseNowMs(database.pool)) + 60_000;
    await writeWakeJob(database.pool, "us", runAtMs);
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(false);
    expect(await jobs()).toMatchObject([{ run_ms: runAtMs }]);
  });

  it("one that failed for good counts as missing", async () => {
    await makeDeliveries(database.pool, { ...place, dueInMs: -5_000 });
    await writeWakeJob(database.pool, "us", 0);
    await database.pool.query("UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(true);
    expect((await jobs()).filter(({ key }) => key === dispatchKey("us"))).toMatchObject([{ attempts: 0 }]);
  });

  it("OUT-2 neither writing nor restoring touches a delivery row that a business transaction holds", async () => {
    const [id] = await makeDeliveries(database.pool, { ...place, dueInMs: -5_000 });
    const business = await openTransaction(database.pool);
    await business.client.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [id]);
    expect(await restoreWakeJob(database.pool, "us", 1_000)).toBe(true);
    await business.commit();
  });
});
