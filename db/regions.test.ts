/** Promises about which database belongs to which region, on real databases. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "#tests/support/database.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { readConsolePoolMax, readRegionUrls } from "./config.ts";
import { createPrisma } from "./prisma.ts";
import { assertRegion, readDatabaseRegion } from "./regions.ts";

let regions: TestRegions;
let empty: TestDatabase;

beforeAll(async () => {
  regions = await createTestRegions();
  empty = await createEmptyDatabase();
});

afterAll(async () => {
  await regions.drop();
  await empty.drop();
});

describe("assertRegion", () => {
  it("REG-2 accepts the region's own database and refuses the other's", async () => {
    await assertRegion(regions.us.pool, "us");
    await assertRegion(regions.eu.pool, "eu");
    await expect(assertRegion(regions.eu.pool, "us")).rejects.toMatchObject({
      code: "region_mismatch",
      data: { expected: "us", actual: "eu" },
    });
  });

  it("REG-2 refuses a database that was never migrated", async () => {
    expect(await readDatabaseRegion(empty.pool)).toBeNull();
    await expect(assertRegion(empty.pool, "us")).rejects.toMatchObject({
      code: "region_mismatch",
      data: { expected: "us", actual: null },
    });
  });

  it("does not take a server that is down for an unmigrated database", async () => {
    const gone = await createEmptyDatabase();
    const pool = gone.pool;
    await gone.drop();
    await expect(readDatabaseRegion(pool)).rejects.toThrow();
  });
});

describe("createPrisma", () => {
  it("reads the tables of schema sluice through our pool and leaves the pool open", async () => {
    const prisma = createPrisma(regions.eu.pool);
    const [row] = await prisma.regionControl.findMany();
    expect(row?.region).toBe("eu");
    await prisma.$disconnect();
    await assertRegion(regions.eu.pool, "eu");
  });
});

describe("configuration", () => {
  const url = "postgres://u:hunter2@127.0.0.1:1/d";

  it("names the missing or wrong setting and never shows its value", () => {
    expect(() => readRegionUrls({ DATABASE_URL_US: url })).toThrow(/DATABASE_URL_EU is not set/);
    const wrong = () => readRegionUrls({ DATABASE_URL_US: url, DATABASE_URL_EU: "mysql://u:hunter2@h/d" });
    expect(wrong).toThrow(/DATABASE_URL_EU is not a Postgres URL/);
    expect(wrong).not.toThrow(/hunter2/);
  });

  it.each(["0", "x", "1.5", "201"])("refuses CONSOLE_POOL_MAX=%s", (value) => {
    expect(() => readConsolePoolMax({ CONSOLE_POOL_MAX: value })).toThrow(/CONSOLE_POOL_MAX/);
  });
});
