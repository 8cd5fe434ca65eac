/** A region that does not answer is said to be silent, in time, while the other one is read as usual. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createEmptyDatabase, type TestDatabase } from "#tests/support/database.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { readDelivery } from "./read-delivery.ts";
import { readOverview } from "./read-overview.ts";
import { readReadiness } from "./read-readiness.ts";
import { explainOutage, readRegion } from "./read-region.ts";
import { readSeries } from "./read-series.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { newId } from "./test-rows.ts";

/** Nobody listens on the discard port. */
const NOBODY = "postgres://nobody@127.0.0.1:9/sluice_eu";

let regions: TestRegions;
let empty: TestDatabase;

beforeAll(async () => {
  regions = await createTestRegions();
  empty = await createEmptyDatabase();
});

afterAll(async () => {
  await releaseConsole();
  await empty.drop();
  await regions.drop();
});

function point(eu: string): Promise<void> {
  return pointConsoleAt({ us: regions.us.connectionString, eu });
}

describe("REG-3 a region that does not answer", () => {
  test("is named as such in the overview while the other region has numbers", async () => {
    await point(NOBODY);
    const { regions: answers } = await readOverview(EVERYWHERE);
    expect(answers.map(({ region, status }) => [region, status])).toEqual([
      ["us", "ok"],
      ["eu", "unavailable"],
    ]);
    expect(answers[1]).not.toHaveProperty("data");
    expect(await readReadiness()).toMatchObject({ ready: true });
  });

  test("gives neither rows nor a series", async () => {
    await point(NOBODY);
    const list = await listDeliveries(EVERYWHERE, { region: "eu", limit: 10 });
    const series = await readSeries(EVERYWHERE, "eu", "15m");
    expect([list.status, series.status]).toEqual(["unavailable", "unavailable"]);
    expect(JSON.stringify([list, series])).not.toContain("rows");
  });

  test("leaves it open whether an unknown delivery exists; all regions together can deny it", async () => {
    const id = toPublicId("dlv", newId());
    await point(NOBODY);
    await expect(readDelivery(EVERYWHERE, id)).rejects.toMatchObject({
      code: "region_unavailable",
      status: 503,
    });
    await point(regions.eu.connectionString);
    await expect(readDelivery(EVERYWHERE, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(readDelivery(EVERYWHERE, "dlv_nonsense")).rejects.toMatchObject({ code: "bad_id" });
  });
});

describe("REG-2 a database that is not the region's", () => {
  test("is not read, also when it is another region's", async () => {
    await point(regions.us.connectionString);
    expect(await listDeliveries(EVERYWHERE, { region: "eu", limit: 10 })).toMatchObject({
      status: "unavailable",
      detail: "Its database belongs to region us.",
    });
  });

  test("that was never migrated says so", async () => {
    await point(empty.connectionString);
    expect(await listDeliveries(EVERYWHERE, { region: "eu", limit: 10 })).toMatchObject({
      status: "unavailable",
      detail: "Its database has not been migrated.",
    });
  });
});

describe("bounds", () => {
  test("a statement that takes too long ends as no answer, and the connection is not used again", async () => {
    await point(regions.eu.connectionString);
    const answer = await readRegion("us", (sql) => sql("SELECT pg_sleep(30)"));
    expect(answer).toMatchObject({ status: "unavailable", detail: "A read took longer than 3 s." });
    expect(
      await readRegion("us", async (sql) => (await sql<{ n: number }>("SELECT 1 AS n"))[0]?.n),
    ).toMatchObject({
      status: "ok",
      data: 1,
    });
  });

  test("a read cannot write", async () => {
    await point(regions.eu.connectionString);
    await expect(readRegion("us", (sql) => sql("DELETE FROM sluice.tenant"))).rejects.toThrow(/read-only/);
  });

  test("an error of our own statement is thrown, not taken for an outage", async () => {
    await point(regions.eu.connectionString);
    await expect(readRegion("us", (sql) => sql("SELECT no_such_column FROM sluice.tenant"))).rejects.toThrow(
      /no_such_column/,
    );
  });

  test("the words for an outage carry no address and no user of the database", () => {
    const error = Object.assign(new Error("connect ECONNREFUSED 10.1.2.3:5432 as admin"), {
      code: "ECONNREFUSED",
    });
    expect(explainOutage(error)).toBe("Its database cannot be reached (ECONNREFUSED).");
  });
});
