/** Every read of the console under a narrow scope: nothing of another tenant or region is in a row, a count or an age. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { listDeliveries } from "./list-deliveries.ts";
import { listScope } from "./list-scope.ts";
import { readDelivery } from "./read-delivery.ts";
import { readOverview } from "./read-overview.ts";
import { readSeries } from "./read-series.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant } from "./test-rows.ts";

let regions: TestRegions;
let mine: string;
let foreign: string;
let scope: AccessScope;
const ids = { mine: "", foreign: "", eu: "" };

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { us, eu } = regions;
  mine = await addTenant(us.pool, "us", "mine");
  foreign = await addTenant(us.pool, "us", "foreign");
  const inEu = await addTenant(eu.pool, "eu", "mine");
  for (const [name, database, region, tenantId] of [
    ["mine", us, "us", mine],
    ["foreign", us, "us", foreign],
    ["eu", eu, "eu", inEu],
  ] as const) {
    const destinationId = await addDestination(database.pool, region, tenantId);
    // The other one is older, so that a leak shows in ages too.
    const dueInSeconds = name === "mine" ? -10 : -1_000;
    ids[name] = (await addDelivery(database.pool, region, { tenantId, destinationId, dueInSeconds })).id;
  }
  scope = { us: [mine] };
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

it("the overview counts and ages only what is in scope, and names no other region", async () => {
  const answer = await readOverview(scope);
  expect(answer.regions.map(({ region }) => region)).toEqual(["us"]);
  const [us] = answer.regions;
  if (us?.status !== "ok") throw new Error("us did not answer");
  expect(us.data.tenants.map(({ slug }) => slug)).toEqual(["mine"]);
  expect(us.data).toMatchObject({ ready: 1, tenantsLeftOut: 0 });
  expect(us.data.due.count).toBe(1);
  for (const { oldestMs } of us.data.firstAttempt) expect(oldestMs).toBeLessThan(500_000);
  const all = (await readOverview(EVERYWHERE)).regions[0];
  if (all?.status !== "ok") throw new Error("us did not answer");
  expect(all.data).toMatchObject({ ready: 2 });
});

it("two scopes that ask at the same moment do not share an answer", async () => {
  const [narrow, wide] = await Promise.all([readOverview(scope, ["us"]), readOverview({ us: null }, ["us"])]);
  const ready = [narrow, wide].map(({ regions: [one] }) => (one?.status === "ok" ? one.data.ready : null));
  expect(ready).toEqual([1, 2]);
});

it("lists, filters and names hold only what is in scope", async () => {
  const page = await listDeliveries(scope, { region: "us", limit: 10 });
  expect(page).toMatchObject({ data: { rows: [{ id: toPublicId("dlv", ids.mine) }], next: null } });
  const asked = await listDeliveries(scope, { region: "us", tenant: "foreign", limit: 10 });
  expect(asked).toMatchObject({ data: { rows: [] } });
  const byKey = await listDeliveries(scope, { region: "us", q: toPublicId("dlv", ids.foreign), limit: 10 });
  expect(byKey).toMatchObject({ data: { rows: [] } });
  expect(await listScope(scope, "us")).toMatchObject({ data: { tenants: [{ slug: "mine" }] } });
});

it("dead letters and when the last one died are the scope's own", async () => {
  const { pool } = regions.us;
  await pool.query(
    `WITH gone AS (DELETE FROM sluice.delivery WHERE id = $1 RETURNING *)
     INSERT INTO sluice.dead_letter (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key,
       service_class, created_at, first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms,
       lost_leases, cycle, last_failure_at)
     SELECT id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at,
            first_due_at, due_at, 'gone', 'f', 1, 1, 1, 0, 0, 0, 1, clock_timestamp() FROM gone`,
    [ids.foreign],
  );
  expect(await listDeadLetters(scope, { region: "us", limit: 10 })).toMatchObject({
    data: { rows: [], latestDiedAt: null },
  });
  expect(await listDeadLetters({ us: [foreign] }, { region: "us", limit: 10 })).toMatchObject({
    data: { rows: [{ id: toPublicId("dlv", ids.foreign) }] },
  });
  const [us] = (await readOverview(scope)).regions;
  expect(us).toMatchObject({ data: { deadLetters: { count: 0, oldestMs: 0 } } });
});

it("one delivery outside is not found, whether in another tenant or in another region", async () => {
  expect((await readDelivery(scope, toPublicId("dlv", ids.mine))).delivery.tenant.slug).toBe("mine");
  for (const id of [ids.foreign, ids.eu]) {
    await expect(readDelivery(scope, toPublicId("dlv", id))).rejects.toMatchObject({ code: "not_found" });
  }
});

it("a series of some tenants is made of their own samples", async () => {
  const { pool } = regions.us;
  await pool.query(
    `INSERT INTO sluice.sample_run (at, scope, region, ok) SELECT date_trunc('minute', clock_timestamp()), s, 'us', true
       FROM unnest(ARRAY['class', 'tenant']) s`,
  );
  await pool.query(
    `INSERT INTO sluice.queue_sample (at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms,
                                      held_count, held_age_ms, gated_count, ready, delayed, in_flight, dead)
     SELECT date_trunc('minute', clock_timestamp()), v.scope, v.tenant::uuid, 'routine', 'us', v.age, 1, v.age, 0, 0, 0, 0, 0, 0, 0
       FROM (VALUES ('class', NULL, 900000), ('tenant', $1, 10000), ('tenant', $2, 900000)) v (scope, tenant, age)`,
    [mine, foreign],
  );
  const worst = async (access: AccessScope) => {
    const answer = await readSeries(access, "us", "15m");
    if (answer.status !== "ok") throw new Error("us did not answer");
    return Math.max(...answer.data.samples.map(({ oldestMs }) => oldestMs ?? 0));
  };
  expect(await worst(scope)).toBe(10_000);
  expect(await worst({ us: null })).toBe(900_000);
});

it("a region outside the scope is not asked: it does not exist", async () => {
  const outside = expect.objectContaining({ code: "not_found", status: 404 });
  await expect(readOverview(scope, ["us", "eu"])).rejects.toEqual(outside);
  await expect(listDeliveries(scope, { region: "eu", limit: 10 })).rejects.toEqual(outside);
  await expect(listDeadLetters(scope, { region: "eu", limit: 10 })).rejects.toEqual(outside);
  await expect(listScope(scope, "eu")).rejects.toEqual(outside);
  await expect(readSeries(scope, "eu", "15m")).rejects.toEqual(outside);
  await expect(readOverview({}, ["us"])).rejects.toEqual(outside);
  expect((await readOverview({})).regions).toEqual([]);
});
