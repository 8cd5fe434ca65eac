/**
 * What the receiving side counts after 1,000 ticks beside a real worker: one effect for each hold, also where the
 * receiver hangs up after it has accepted. (What the database counts is in sweep.test.ts.)
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";
import { sweep } from "./sweep.ts";

const TICKS = 1_000;
const TICKERS = 4;
const HOLDS = 200;
/** Requests that the receiver accepts and then hangs up on. */
const HANG_UPS = 20;
const LONG_MS = 90_000;

let database: TestDatabase;
let prisma: PrismaClient;
let receiver: Receiver;
let worker: TestWorker;

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  prisma = createPrisma(database.pool);
  receiver = await createReceiver();
  worker = await startTestWorker(database);
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await prisma.$disconnect();
  await database.drop();
});

/** Ticks until all are spent: every other one comes twice at once, some take few holds at a time. */
async function tickUntilSpent(ticks: { left: number }, limit: number): Promise<void> {
  while (ticks.left > 0) {
    ticks.left -= 1;
    const twice = ticks.left % 2 === 0;
    await Promise.all(
      Array.from({ length: twice ? 2 : 1 }, () => sweep(prisma, { region: "us", limit, stepMs: 0 })),
    );
  }
}

describe("1,000 ticks beside a worker that sends", () => {
  it("OUT-5 OUT-9 leave exactly one effect per hold at the receiver", { timeout: 2 * LONG_MS }, async () => {
    const tenantId = await makeTenant(database.pool);
    const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/holds` });
    receiver.script("holds", [...Array.from({ length: HANG_UPS }, () => "hangup" as const), "200"]);
    const now = Date.now();
    const ids = Array.from({ length: HOLDS }, () => randomUUID());
    await prisma.demoCardHold.createMany({
      // Half have expired before the first tick, half expire while the ticks run.
      data: ids.map((id, n) => ({
        id,
        region: "us",
        tenantId,
        destinationId,
        amountMinor: 1_000n,
        currency: "USD",
        cardLast4: "4242",
        expiresAt: new Date(now - 1_000 + n * 10),
      })),
    });
    const ticks = { left: TICKS };
    await Promise.all(
      Array.from({ length: TICKERS }, (_, n) => tickUntilSpent(ticks, n % 2 === 0 ? 500 : 7)),
    );
    await waitFor(() => Date.now() > now + HOLDS * 10, { what: "the last expiry" });
    await sweep(prisma, { region: "us" });

    await waitFor(async () => (await prisma.delivery.count()) === 0, {
      timeoutMs: LONG_MS,
      what: "all deliveries to be sent",
    });
    const stats = receiver.stats("holds");
    expect(stats).toMatchObject({ distinctKeys: HOLDS, effects: HOLDS, withoutKey: 0 });
    // Each hang-up came after the effect: its delivery is sent again under the same key, and changes nothing.
    expect(stats.cut).toBe(HANG_UPS);
    expect(stats.repeated).toBe(HANG_UPS);
    expect(stats.requests).toBe(HOLDS + HANG_UPS);
    expect(await prisma.demoLedgerEntry.count()).toBe(HOLDS);
    expect(await prisma.demoCardHold.count({ where: { state: "released" } })).toBe(HOLDS);
  });
});
