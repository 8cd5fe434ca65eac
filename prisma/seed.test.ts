import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { openSecret } from "#db/secrets.ts";
import { newSecretKeys, parseSecretKeys } from "#db/secrets-config.ts";
import { parsePath } from "#demo/receiver/answers.ts";
import { destinationIdOf, merchantsOf, tenantIdOf } from "#demo/traffic/merchants.ts";
import { STRICT_RULES } from "#domain/destination-url.ts";
import { isUuid } from "#domain/ids.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { prepareSecret } from "#domain/signature.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { seedRegion } from "./seed.ts";

const RECEIVER = "http://127.0.0.1:4400";
const keyring = parseSecretKeys(newSecretKeys());
let databases: TestRegions;
let clients: Record<Region, PrismaClient>;

beforeAll(async () => {
  databases = await createTestRegions();
  clients = { us: createPrisma(databases.us.pool), eu: createPrisma(databases.eu.pool) };
});
afterAll(async () => {
  await Promise.all([clients.us.$disconnect(), clients.eu.$disconnect()]);
  await databases.drop();
});

function seed(region: Region, receiverUrl = RECEIVER) {
  return seedRegion({ prisma: clients[region], region, keyring, receiverUrl });
}

function everything(region: Region) {
  const prisma = clients[region];
  return Promise.all([
    prisma.tenant.findMany({ orderBy: { id: "asc" } }),
    prisma.destination.findMany({ orderBy: { id: "asc" } }),
  ]);
}

describe("the seed", () => {
  it("REG-1 writes a dozen tenants of its own into each region", async () => {
    const results = await Promise.all(REGIONS.map((region) => seed(region)));
    expect(results.map(({ tenants }) => tenants)).toEqual([12, 12]);
    const [us, eu] = await Promise.all(REGIONS.map((region) => everything(region)));
    expect(us?.[0].every(({ region }) => region === "us")).toBe(true);
    const usIds = new Set(us?.flat().map(({ id }) => id));
    expect(eu?.flat().some(({ id }) => usIds.has(id))).toBe(false);
  });

  it("changes nothing the second time, not even a secret, nor what a person has changed", async () => {
    await seed("us");
    const id = destinationIdOf("us", "brightcart", "payments");
    await clients.us.destination.update({
      where: { id },
      data: { url: "http://127.0.0.1:9/mine", ratePerSecond: 3, name: "Renamed" },
    });
    await clients.us.tenant.update({ where: { id: tenantIdOf("us", "fleetwell") }, data: { weight: 7 } });
    const before = await everything("us");
    expect(await seed("us")).toEqual({ tenants: 0, destinations: 0, moved: 0 });
    expect(await everything("us")).toEqual(before);
  });

  it("two at once both succeed and leave one set of rows", async () => {
    await clients.eu.destination.deleteMany();
    await clients.eu.tenant.deleteMany();
    const results = await Promise.all([seed("eu"), seed("eu"), seed("eu")]);
    expect(results.reduce((sum, { tenants }) => sum + tenants, 0)).toBe(12);
    expect(await clients.eu.tenant.count()).toBe(12);
  });

  it("follows the receiver to another port", async () => {
    await seed("eu");
    const { moved } = await seed("eu", "http://127.0.0.1:4999");
    const [, destinations] = await everything("eu");
    expect(moved).toBe(destinations.length);
    expect(destinations.every(({ url }) => url.startsWith("http://127.0.0.1:4999/"))).toBe(true);
    expect((await seed("eu")).moved).toBe(moved);
  });

  it("fault 68: writes nothing that a worker under the same rules would refuse", async () => {
    const before = await everything("us");
    const strict = { prisma: clients.us, region: "us", keyring, rules: STRICT_RULES } as const;
    await expect(seedRegion({ ...strict, receiverUrl: "http://127.0.0.1:4999" })).rejects.toMatchObject({
      code: "bad_destination_url",
    });
    expect(await everything("us")).toEqual(before);
  });

  it("seals every secret so that the keyring opens one fit to sign with, two in a rotation", async () => {
    await seed("eu");
    const [, destinations] = await everything("eu");
    const opened = destinations.map(({ secretCurrent }) => openSecret(keyring, secretCurrent));
    expect(new Set(opened).size).toBe(destinations.length);
    for (const secret of opened) expect(prepareSecret(secret).symmetricKeySize).toBe(32);
    const rotating = destinations.filter(({ secretPrevious }) => secretPrevious !== null);
    expect(rotating).toHaveLength(1);
    const previous = rotating[0]?.secretPrevious;
    if (!previous) throw new Error("no previous secret");
    expect(opened).not.toContain(openSecret(keyring, previous));
    expect(rotating[0]?.secretPreviousUntil?.getTime()).toBeGreaterThan(Date.now());
  });
});

describe("the merchants", () => {
  it.each(REGIONS)(
    "of %s are a dozen with a path that the receiver knows, each under a name of its own",
    async (region) => {
      await seed(region);
      const rows = await clients[region].destination.findMany({ where: { url: { startsWith: RECEIVER } } });
      const plans = rows.map(({ url }) => parsePath(url.slice(RECEIVER.length)));
      expect(new Set(plans.map(({ destination }) => destination)).size).toBe(rows.length);
      for (const plan of plans) expect(plan.destination).toMatch(new RegExp(`^${region}/[a-z-]+/[a-z]+$`));
      const faults = plans.map(({ fault }) => fault);
      expect(faults.some((fault) => fault?.retryAfter?.as === "seconds")).toBe(true);
      expect(faults.some((fault) => fault?.retryAfter?.as === "date")).toBe(true);
      expect(faults.some((fault) => fault?.retryAfter?.as === "text")).toBe(true);
      expect(
        plans.some(({ fault, times }) => fault?.status === 500 && times === Number.POSITIVE_INFINITY),
      ).toBe(true);
      expect(faults.some((fault) => fault?.status === 422)).toBe(true);
      expect(faults.some((fault) => fault?.kind === "hangup")).toBe(true);
      expect(faults.some((fault) => (fault?.delayMs ?? 0) >= 1_000)).toBe(true);
      expect(plans.filter(({ limit }) => limit?.kind === "rate" && limit.perSecond === 5)).toHaveLength(2);
      expect(rows.filter(({ ratePerSecond }) => Number(ratePerSecond) === 5)).toHaveLength(1);
      expect(rows.some(({ concurrencyLimit }) => concurrencyLimit !== null)).toBe(true);
    },
  );

  it("have the same ids in every clone", () => {
    expect(tenantIdOf("us", "brightcart")).toBe("bcce2708-84e3-89b0-980f-53e9218e0d12");
    for (const region of REGIONS) {
      for (const { slug, endpoints } of merchantsOf(region)) {
        expect(isUuid(tenantIdOf(region, slug))).toBe(true);
        expect(slug).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
        for (const { key } of endpoints) expect(isUuid(destinationIdOf(region, slug, key))).toBe(true);
      }
    }
  });
});
