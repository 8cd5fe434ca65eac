import { randomUUID } from "node:crypto";
import { Logger, parseCrontab, quickAddJob, runMigrations, runOnce } from "graphile-worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { holdSweepTask } from "./task.ts";

const logger = new Logger(() => () => {});
let database: TestDatabase;
let prisma: PrismaClient;

beforeAll(async () => {
  database = await createTestDatabase({ region: "eu" });
  prisma = createPrisma(database.pool);
  await runMigrations({ pgPool: database.pool, logger });
  const tenantId = randomUUID();
  const destinationId = randomUUID();
  await prisma.tenant.create({ data: { id: tenantId, region: "eu", slug: "acme", name: "Acme" } });
  const url = "http://127.0.0.1/ok/a";
  await prisma.destination.create({
    data: { id: destinationId, region: "eu", tenantId, name: "Orders", url, secretCurrent: Buffer.from("s") },
  });
  await prisma.demoCardHold.create({
    data: {
      id: randomUUID(),
      region: "eu",
      tenantId,
      destinationId,
      amountMinor: 100n,
      currency: "EUR",
      cardLast4: "4242",
      expiresAt: new Date(Date.now() - 1_000),
    },
  });
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});
beforeEach(() => database.pool.query("TRUNCATE graphile_worker._private_jobs"));

/** Jobs that wait. The one that has just run may stand there, locked, a moment longer than runOnce. */
async function jobs() {
  const { rows } = await database.pool.query<{
    task_identifier: string;
    key: string;
    tick: number;
    in_ms: number;
  }>(
    `SELECT j.task_identifier, j.key, (p.payload ->> 'tick')::integer AS tick,
            (extract(epoch FROM j.run_at - now()) * 1000)::integer AS in_ms
       FROM graphile_worker.jobs j JOIN graphile_worker._private_jobs p USING (id)
      WHERE j.locked_at IS NULL`,
  );
  return rows;
}

async function runJob(payload: object, repeatMs?: number) {
  const task = holdSweepTask("eu", prisma, repeatMs === undefined ? {} : { repeatMs });
  const options = { pgPool: database.pool, logger };
  await quickAddJob(options, task.identifier, payload, { jobKey: task.identifier, maxAttempts: 1 });
  await runOnce({ ...options, taskList: { [task.identifier]: task.task } });
}

describe("the sweep's task", () => {
  it("OUT-8 has an identifier and a crontab line of its own in each region", () => {
    const tasks = (["us", "eu"] as const).map((region) => holdSweepTask(region, prisma));
    expect(tasks.map(({ identifier }) => identifier)).toEqual(["hold-sweep-us", "hold-sweep-eu"]);
    const items = parseCrontab(tasks.map(({ crontab }) => crontab).join("\n"));
    expect(items.map(({ task, identifier }) => [task, identifier])).toEqual([
      ["hold-sweep-us", "hold-sweep-us"],
      ["hold-sweep-eu", "hold-sweep-eu"],
    ]);
    expect(items[0]?.options).toMatchObject({
      jobKey: "hold-sweep-us",
      jobKeyMode: "replace",
      maxAttempts: 1,
    });
  });

  it("OUT-7 sweeps when graphile-worker runs it, and plans the next tick of its minute", async () => {
    await runJob({ _cron: { ts: "2026-11-30T12:00:00Z", backfilled: false } });
    expect(await prisma.demoCardHold.count({ where: { state: "released" } })).toBe(1);
    expect(await prisma.delivery.count()).toBe(1);
    const planned = await jobs();
    expect(planned).toEqual([
      expect.objectContaining({ task_identifier: "hold-sweep-eu", key: "hold-sweep-eu", tick: 1 }),
    ]);
    expect(planned[0]?.in_ms).toBeGreaterThan(0);
    expect(planned[0]?.in_ms).toBeLessThanOrEqual(5_000);
  });

  it("OUT-7 leaves no further tick after the last of the minute, or when only cron is wanted", async () => {
    await runJob({ tick: 10 });
    expect(await jobs()).toEqual([expect.objectContaining({ tick: 11 })]);
    await runJob({ tick: 11 });
    expect(await jobs()).toEqual([]);
    await runJob({}, 0);
    expect(await jobs()).toEqual([]);
  });
});
