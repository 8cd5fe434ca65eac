/** The seeded desks and the business that is made for them, in both regions. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { openSecret } from "#db/secrets.ts";
import { newSecretKeys, parseSecretKeys } from "#db/secrets-config.ts";
import { merchantsOf } from "#demo/traffic/merchants.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { prepareSecret } from "#domain/signature.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { deskOf, endpointPath, STANDING_TICKETS, standingTicketId } from "./desk.ts";
import { runTick } from "./passes.ts";
import { seedSupport } from "./seed.ts";
import { SupportTraffic } from "./traffic.ts";

const CONSOLE = "http://127.0.0.1:3000";
const keyring = parseSecretKeys(newSecretKeys());
let databases: TestRegions;
let clients: Record<Region, PrismaClient>;

beforeAll(async () => {
  databases = await createTestRegions();
  clients = { us: createPrisma(databases.us.pool), eu: createPrisma(databases.eu.pool) };
});
afterAll(async () => {
  await Promise.all(REGIONS.map((region) => clients[region].$disconnect()));
  await databases.drop();
});

const seed = (region: Region, supportUrl = CONSOLE) =>
  seedSupport({ prisma: clients[region], region, keyring, supportUrl });

/** Runs the traffic until the condition holds. */
async function runTraffic(region: Region, until: (traffic: SupportTraffic) => boolean | Promise<boolean>) {
  const controller = new AbortController();
  const traffic = new SupportTraffic({
    region,
    prisma: clients[region],
    maxWaiting: 10_000,
    turnMs: 5,
    firstBatchMs: 0,
    random: () => 0.25,
  });
  const running = traffic.run(controller.signal);
  try {
    await waitFor(() => until(traffic), { what: "the desk's business" });
  } finally {
    controller.abort();
    await running;
  }
}

describe("the seed of a desk", () => {
  it("REG-1 writes a tenant of its own into each region, whose endpoints are the console's", async () => {
    for (const region of REGIONS) {
      expect(await seed(region)).toEqual({
        tenants: 1,
        destinations: 2,
        tickets: STANDING_TICKETS,
        moved: 0,
      });
      const desk = deskOf(region);
      const destinations = await clients[region].destination.findMany({ where: { tenantId: desk.tenantId } });
      for (const { id, url, secretCurrent } of destinations) {
        expect(url).toBe(CONSOLE + endpointPath(region, id));
        expect(prepareSecret(openSecret(keyring, secretCurrent)).symmetricKeySize).toBe(32);
      }
      expect(merchantsOf(region).map(({ slug }) => slug)).not.toContain(desk.slug);
    }
    expect(deskOf("us").tenantId).not.toBe(deskOf("eu").tenantId);
    expect(standingTicketId("us", 0)).not.toBe(standingTicketId("eu", 0));
  });

  it("changes nothing the second time, follows the console to another port, and leaves a person's URL", async () => {
    const { tenantId, destinationIds } = deskOf("eu");
    const everything = () =>
      Promise.all([
        clients.eu.tenant.findMany(),
        clients.eu.destination.findMany({ where: { tenantId }, orderBy: { id: "asc" } }),
        clients.eu.demoSupportTicket.findMany({ orderBy: { id: "asc" }, take: 50 }),
      ]);
    const before = await everything();
    expect(await seed("eu")).toEqual({ tenants: 0, destinations: 0, tickets: 0, moved: 0 });
    expect(await everything()).toEqual(before);
    await clients.eu.destination.update({
      where: { id: destinationIds.search },
      data: { url: "http://127.0.0.1:9/mine" },
    });
    expect((await seed("eu", "http://127.0.0.1:3999")).moved).toBe(1);
    const urls = await clients.eu.destination.findMany({ where: { tenantId }, select: { url: true } });
    expect(urls.map(({ url }) => url).sort()).toEqual([
      `http://127.0.0.1:3999${endpointPath("eu", destinationIds.tickets)}`,
      "http://127.0.0.1:9/mine",
    ]);
  });
});

describe("the desk's business", () => {
  it("makes promises, changes and one batch at a time, which ticks turn into deliveries of all three kinds", async () => {
    const prisma = clients.us;
    let promises = 0;
    let changes = 0;
    let batches = 0;
    await runTraffic("us", (traffic) => {
      const counts = traffic.takeCounts();
      promises += counts.promises;
      changes += counts.changes;
      batches += counts.batches;
      return promises >= 1 && changes >= 3 && batches >= 1;
    });
    expect(batches).toBe(1);
    await prisma.demoSupportTicket.updateMany({
      where: { followUpAt: { not: null } },
      data: { followUpAt: new Date(Date.now() - 1_000) },
    });
    const result = await runTick(prisma, { region: "us" });
    expect(result.indexed).toBe(STANDING_TICKETS);
    expect(result.followUps).toBeGreaterThanOrEqual(1);
    expect(result.enrichments).toBeGreaterThanOrEqual(1);
    const foreign = await clients.eu.delivery.count();
    expect(foreign).toBe(0);
  });

  it("orders no further batch while rows of the last one wait", async () => {
    const ordered: number[] = [];
    await runTraffic("us", (traffic) => ordered.push(traffic.takeCounts().batches) > 20);
    expect(ordered.every((batches) => batches === 0)).toBe(true);
    expect(await clients.us.demoSupportIndexBatch.count()).toBe(1);
  });

  it("does nothing where no desk was seeded", async () => {
    await clients.eu.destination.deleteMany();
    await clients.eu.demoSupportTicket.deleteMany();
    const seen: object[] = [];
    await runTraffic("eu", (traffic) => seen.push(traffic.takeCounts()) > 20);
    expect(new Set(seen.map((counts) => JSON.stringify(counts)))).toEqual(
      new Set([JSON.stringify({ promises: 0, changes: 0, batches: 0 })]),
    );
    expect(await clients.eu.demoSupportIndexBatch.count()).toBe(0);
  });
});
