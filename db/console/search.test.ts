/** The palette's search on a real server: what people have at hand finds the row, and only within their scope. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listPolicies } from "./list-policies.ts";
import { readSchemaVersions } from "./read-schema-versions.ts";
import { MAX_SEARCH_HITS, type SearchHits, search } from "./search.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant } from "./test-rows.ts";

let regions: TestRegions;
let mine: string;
let foreign: string;
let destination: string;
let delivery: { id: string; key: string };

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  mine = await addTenant(pool, "us", "northwind-pay");
  foreign = await addTenant(pool, "us", "northern-bank");
  destination = await addDestination(pool, "us", mine, { url: "https://hooks.wind.example/secret-path/in" });
  await addDestination(pool, "us", foreign);
  delivery = await addDelivery(pool, "us", {
    tenantId: mine,
    destinationId: destination,
    dueInSeconds: -5,
    key: "order-17",
  });
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function hits(text: string, access: AccessScope = EVERYWHERE): Promise<SearchHits> {
  const answer = (await search(access, text, ["us"])).regions[0];
  if (answer?.status !== "ok") throw new Error("us did not answer");
  return answer.data;
}

describe("what finds a row", () => {
  it("a part of a tenant's name or slug, in any case, and its id", async () => {
    expect((await hits("NORTHWIND")).tenants.map(({ slug }) => slug)).toEqual(["northwind-pay"]);
    expect((await hits("north")).tenants).toHaveLength(2);
    expect((await hits(toPublicId("ten", mine))).tenants.map(({ slug }) => slug)).toEqual(["northwind-pay"]);
  });

  it("a destination's host or id, but never the path of its URL", async () => {
    const id = toPublicId("dst", destination);
    expect((await hits("wind.example")).destinations).toMatchObject([{ id, tenantName: "northwind-pay" }]);
    expect((await hits(id)).destinations).toHaveLength(1);
    expect((await hits("secret-path")).destinations).toEqual([]);
    expect(JSON.stringify(await hits("wind"))).not.toContain("secret-path");
  });

  it("a whole idempotency key, and no part of one", async () => {
    expect((await hits("order-17")).deliveries.map(({ id }) => id)).toEqual([toPublicId("dlv", delivery.id)]);
    expect((await hits("order-1")).deliveries).toEqual([]);
  });

  it("signs that mean something to LIKE mean themselves", async () => {
    for (const text of ["%%", "__", "no_th", "\\\\"]) expect((await hits(text)).tenants, text).toEqual([]);
  });
});

describe("the scope", () => {
  it("holds tenants, destinations and deliveries", async () => {
    const narrow: AccessScope = { us: [foreign] };
    expect((await hits("north", narrow)).tenants.map(({ slug }) => slug)).toEqual(["northern-bank"]);
    expect((await hits("wind.example", narrow)).destinations).toEqual([]);
    expect((await hits("order-17", narrow)).deliveries).toEqual([]);
    expect((await hits(toPublicId("dst", destination), narrow)).destinations).toEqual([]);
  });

  it("a region outside of it does not exist, and all of it is asked when none is named", async () => {
    await expect(search({ eu: null }, "north", ["us"])).rejects.toMatchObject({ code: "not_found" });
    expect((await search({ eu: null }, "north")).regions.map(({ region }) => region)).toEqual(["eu"]);
  });
});

it("hits are bounded", async () => {
  for (let n = 0; n < MAX_SEARCH_HITS + 3; n += 1) await addTenant(regions.eu.pool, "eu", `many-${n}`);
  const answer = (await search(EVERYWHERE, "many", ["eu"])).regions[0];
  expect(answer).toMatchObject({ status: "ok", data: { tenants: { length: MAX_SEARCH_HITS } } });
});

it("policies tell their version, and who and why only to those who see the region as a whole", async () => {
  await regions.us.pool.query(
    `INSERT INTO sluice.policy (service_class, version, region, body, created_by, reason)
     VALUES ('urgent', 1, 'us', '{"maxFailures": 3}', 'user:ann', 'first'), ('urgent', 2, 'us', '{"maxFailures": 5}', 'user:bob', 'second')`,
  );
  const [us, eu] = (await listPolicies(EVERYWHERE)).regions;
  expect(us).toMatchObject({
    data: {
      policies: [
        {
          serviceClass: "urgent",
          version: 2,
          changedBy: "user:bob",
          reason: "second",
          retry: { maxFailures: 5 },
        },
        { serviceClass: "routine", version: 0, changedBy: null, retry: { maxFailures: 8 } },
      ],
    },
  });
  expect(eu).toMatchObject({ data: { policies: [{ version: 0 }, { version: 0 }] } });
  const [narrow] = (await listPolicies({ us: [mine] })).regions;
  expect(narrow).toMatchObject({ data: { policies: [{ version: 2, changedBy: null, reason: null }, {}] } });
  await expect(listPolicies({ eu: null }, ["us"])).rejects.toMatchObject({ code: "not_found" });
});

it("the schema of each region is told by its last migration", async () => {
  const [us, eu] = await readSchemaVersions(EVERYWHERE);
  expect(us).toMatchObject({
    status: "ok",
    data: { last: expect.stringMatching(/^\d{14}_/), server: expect.stringMatching(/^\d+/) },
  });
  if (us?.status !== "ok" || eu?.status !== "ok") throw new Error("a region did not answer");
  expect(us.data.count).toBeGreaterThan(9);
  expect(eu.data.last).toBe(us.data.last);
  expect((await readSchemaVersions({ eu: null })).map(({ region }) => region)).toEqual(["eu"]);
});
