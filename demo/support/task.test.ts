/** OUT-7, OUT-8, fault 117: the desk's tick as graphile-worker runs it in a region. */
import { randomUUID } from "node:crypto";
import { Logger, parseCrontab, quickAddJob, runMigrations, runOnce } from "graphile-worker";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { holdSweepTask } from "#demo/holds/task.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { supportTask } from "./task.ts";

const logger = new Logger(() => () => {});
let database: TestDatabase;
let prisma: PrismaClient;
let ticketId: string;

beforeAll(async () => {
  database = await createTestDatabase({ region: "eu" });
  prisma = createPrisma(database.pool);
  await runMigrations({ pgPool: database.pool, logger });
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});
beforeEach(async () => {
  await database.pool.query("TRUNCATE graphile_worker._private_jobs");
  await prisma.delivery.deleteMany();
  await prisma.demoSupportTicket.deleteMany();
  const tenantId = await makeTenant(database.pool);
  // Nobody listens there: a tick that sent something would have to fail.
  const destinationId = await makeDestination(database.pool, tenantId, { url: "http://127.0.0.1:9/none" });
  ticketId = randomUUID();
  await prisma.demoSupportTicket.create({
    data: {
      id: ticketId,
      region: "eu",
      tenantId,
      destinationId,
      subject: "A ticket",
      enrichedVersion: 1,
      followUpAt: new Date(Date.now() - 1_000),
    },
  });
});

/** Jobs that wait. The one that has just run may stand there, locked, a moment longer than runOnce. */
async function jobs() {
  const { rows } = await database.pool.query<{ task_identifier: string; key: string; tick: number }>(
    `SELECT j.task_identifier, j.key, (p.payload ->> 'tick')::integer AS tick
       FROM graphile_worker.jobs j JOIN graphile_worker._private_jobs p USING (id) WHERE j.locked_at IS NULL`,
  );
  return rows;
}

async function runJob(payload: object, repeatMs?: number) {
  const task = supportTask("eu", prisma, repeatMs === undefined ? {} : { repeatMs });
  const options = { pgPool: database.pool, logger };
  await quickAddJob(options, task.identifier, payload, { jobKey: task.identifier, maxAttempts: 1 });
  await runOnce({ ...options, taskList: { [task.identifier]: task.task } });
}

const CRON = { _cron: { ts: "2026-11-30T12:00:00Z", backfilled: false } };

describe("the desk's task", () => {
  it("OUT-8 fault 117: has an identifier and a crontab line of its own in each region, beside the sweep's", () => {
    const tasks = (["us", "eu"] as const).flatMap((region) => [
      supportTask(region, prisma),
      holdSweepTask(region, prisma),
    ]);
    const items = parseCrontab(tasks.map(({ crontab }) => crontab).join("\n"));
    expect(items.map(({ task }) => task)).toEqual([
      "support-tick-us",
      "hold-sweep-us",
      "support-tick-eu",
      "hold-sweep-eu",
    ]);
    expect(new Set(items.map(({ identifier }) => identifier)).size).toBe(4);
    expect(items[0]?.options).toMatchObject({
      jobKey: "support-tick-us",
      jobKeyMode: "replace",
      maxAttempts: 1,
    });
  });

  it("OUT-8 writes deliveries and sends nothing: the row stands there untried, with no attempt", async () => {
    await runJob(CRON);
    const [delivery] = await prisma.delivery.findMany();
    expect(delivery).toMatchObject({ state: "ready", attempts: 0, region: "eu", serviceClass: "urgent" });
    const { rows } = await database.pool.query("SELECT count(*)::integer AS n FROM sluice.attempt");
    expect(rows).toEqual([{ n: 0 }]);
    expect(await jobs()).toEqual([{ task_identifier: "support-tick-eu", key: "support-tick-eu", tick: 1 }]);
  });

  it("PROOF-1 fault 117: cron fired twice for one window leaves one delivery", async () => {
    await runJob(CRON, 0);
    await runJob(CRON, 0);
    expect(await prisma.delivery.count()).toBe(1);
    expect(await prisma.demoSupportTicket.findUnique({ where: { id: ticketId } })).toMatchObject({
      followUpAt: null,
    });
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
