import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { newSecretKeys, parseSecretKeys } from "#db/secrets-config.ts";
import { sweep } from "#demo/holds/sweep.ts";
import { seedRegion } from "#prisma/seed.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { destinationIdOf, tenantIdOf } from "./merchants.ts";
import { RegionTraffic, type RegionTrafficSettings, type TrafficCounts } from "./region-traffic.ts";
import { DELETE_OLD_HOLDS } from "./sql.ts";

let database: TestDatabase;
let prisma: PrismaClient;
let stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  prisma = createPrisma(database.pool);
  const keyring = parseSecretKeys(newSecretKeys());
  await seedRegion({ prisma, region: "us", keyring, receiverUrl: "http://127.0.0.1:1" });
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});
beforeEach(async () => {
  await prisma.demoLedgerEntry.deleteMany();
  await prisma.demoCardHold.deleteMany();
  await prisma.delivery.deleteMany();
});
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

/** Starts traffic that the test's end stops; `total` sums what it has made. */
function start(settings: Partial<RegionTrafficSettings> = {}) {
  const controller = new AbortController();
  const hinter = { hint: () => {} };
  const base = { region: "us" as const, prisma, hinter, deliveriesPerSecond: 200, maxWaiting: 10_000 };
  const traffic = new RegionTraffic({ ...base, ...settings });
  const running = traffic.run(controller.signal);
  const stop = async () => {
    controller.abort();
    await running;
  };
  stops.push(stop);
  const total: TrafficCounts = { holds: 0, captures: 0, invoices: 0, heldBack: 0, failure: null };
  const look = () => {
    const counts = traffic.takeCounts();
    total.holds += counts.holds;
    total.captures += counts.captures;
    total.invoices += counts.invoices;
    total.heldBack += counts.heldBack;
    total.failure = counts.failure;
    return counts;
  };
  return { look, stop, total };
}

describe("the traffic of a region", () => {
  it("OUT-1 makes holds, captures and invoices for many merchants, each with its delivery", async () => {
    let hints = 0;
    const hinter = {
      hint: () => {
        hints += 1;
      },
    };
    const { look, stop, total } = start({ hinter });
    await waitFor(() => look() && total.captures >= 5 && total.holds >= 40, {
      what: "captures",
    });
    await stop();
    look();
    const deliveries = await prisma.delivery.findMany();
    const captured = deliveries.filter(({ eventType }) => eventType === "payment.captured");
    const invoices = deliveries.filter(({ eventType }) => eventType === "invoice.updated");
    expect(captured).toHaveLength(total.captures);
    expect(invoices).toHaveLength(total.invoices);
    expect(captured.every(({ serviceClass }) => serviceClass === "urgent")).toBe(true);
    expect(invoices.every(({ serviceClass }) => serviceClass === "routine")).toBe(true);
    expect(await prisma.demoCardHold.count()).toBe(total.holds);
    expect(await prisma.demoCardHold.count({ where: { state: "captured" } })).toBe(total.captures);
    expect(new Set(deliveries.map(({ tenantId }) => tenantId)).size).toBeGreaterThan(5);
    expect(hints).toBeGreaterThan(0);
    expect(total.failure).toBeNull();
  });

  it("the sweep releases what was not captured, and nothing twice", async () => {
    const { look, stop, total } = start();
    await waitFor(() => look() && total.captures >= 3, { what: "captures" });
    await stop();
    look();
    await database.pool.query("UPDATE sluice.demo_card_hold SET expires_at = clock_timestamp()");
    const { released } = await sweep(prisma, { region: "us" });
    expect(released).toBe(total.holds - total.captures);
    expect(await prisma.delivery.count({ where: { eventType: "hold.released" } })).toBe(released);
  });

  it("leaves a destination alone that has enough waiting, and goes on when it has room again", async () => {
    const { look, total } = start({ maxWaiting: 1, deliveriesPerSecond: 500 });
    let heldBack = 0;
    const quiet = () => {
      const seen = look();
      heldBack = seen.invoices + seen.holds > 0 ? 0 : heldBack + seen.heldBack;
      return heldBack > 200;
    };
    await waitFor(quiet, { what: "a while without business" });
    const perDestination = await prisma.delivery.groupBy({ by: ["destinationId"], _count: true });
    expect(perDestination.length).toBeGreaterThan(3);
    const before = total.invoices;
    await prisma.delivery.deleteMany();
    await waitFor(() => look() && total.invoices > before, { what: "business again" });
  });

  it("makes nothing for destinations that are not there", async () => {
    const empty = await createTestDatabase({ region: "eu" });
    const client = createPrisma(empty.pool);
    const { look, stop, total } = start({ region: "eu", prisma: client });
    await waitFor(() => look() && total.heldBack > 20, { what: "business held back" });
    await stop();
    expect(total).toMatchObject({ holds: 0, invoices: 0, failure: null });
    await client.$disconnect();
    await empty.drop();
  });
});

describe("a database that fails", () => {
  it("REG-3 is reported, does not end the loop, and stops no other region's traffic", async () => {
    const own = await createTestDatabase({ region: "us" });
    const keyring = parseSecretKeys(newSecretKeys());
    const pool = createPool({
      connectionString: own.connectionString,
      max: 2,
      applicationName: "sluice-test-lost",
    });
    const client = createPrisma(pool);
    await seedRegion({ prisma: client, region: "us", keyring, receiverUrl: "http://127.0.0.1:1" });
    const lost = start({ prisma: client });
    const other = start();
    await waitFor(() => lost.look() && lost.total.invoices > 0, { what: "traffic before the failure" });
    await own.pool.query("ALTER TABLE sluice.delivery RENAME TO delivery_away");
    await waitFor(() => lost.look().failure !== null, { what: "the failure" });
    expect(lost.total.failure).toMatch(/delivery/);
    other.look();
    const before = other.total.invoices;
    await waitFor(() => other.look() && other.total.invoices > before, {
      what: "the other region's traffic",
    });
    await own.pool.query("ALTER TABLE sluice.delivery_away RENAME TO delivery");
    const made = lost.total.invoices;
    await waitFor(() => lost.look() && lost.total.invoices > made && lost.total.failure === null, {
      what: "traffic after the failure",
    });
    await lost.stop();
    await client.$disconnect();
    await pool.end();
    await own.drop();
  });
});

describe("old holds", () => {
  it("are forgotten with their ledger entries, at most so many; active and young ones stay", async () => {
    const base = {
      region: "us",
      tenantId: tenantIdOf("us", "brightcart"),
      destinationId: destinationIdOf("us", "brightcart", "payments"),
      amountMinor: 100n,
      currency: "USD",
      cardLast4: "4242",
      expiresAt: new Date("2026-01-01T00:00:00Z"),
    };
    const old = new Date("2026-01-01T00:00:00Z");
    const hold = (createdAt: Date) => ({ ...base, id: randomUUID(), createdAt });
    const ancient = Array.from({ length: 5 }, () => hold(old));
    const [active, young] = [hold(old), hold(new Date())];
    await prisma.demoCardHold.createMany({ data: [...ancient, young] });
    await sweep(prisma, { region: "us" });
    await prisma.demoCardHold.create({ data: active });
    expect(await prisma.$executeRawUnsafe(DELETE_OLD_HOLDS, 60_000, 3)).toBe(3);
    expect(await prisma.$executeRawUnsafe(DELETE_OLD_HOLDS, 60_000, 3)).toBe(2);
    expect(await prisma.$executeRawUnsafe(DELETE_OLD_HOLDS, 60_000, 3)).toBe(0);
    const left = await prisma.demoCardHold.findMany({ include: { entries: true } });
    expect(new Map(left.map(({ id, entries }) => [id, entries.length]))).toEqual(
      new Map([
        [active.id, 0],
        [young.id, 1],
      ]),
    );
    expect(await prisma.demoLedgerEntry.count()).toBe(1);
  });
});
