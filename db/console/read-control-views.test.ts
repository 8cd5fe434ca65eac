/** What dialogs are told before a change: present values, work told apart, what was measured, what the caller may do. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE, type Grant, type Role, scopeOf } from "#domain/permissions.ts";
import {
  addAnswered,
  addRollup,
  contextOf,
  destinationId,
  REASON,
  tenantId,
} from "#tests/support/command-rows/sql.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { leaseRows } from "#tests/support/queue-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { disableDestination } from "./commands/disable-destination.ts";
import { pauseTenant } from "./commands/pause-tenant.ts";
import { restrictPayload } from "./commands/restrict-payload.ts";
import { setDestinationLimits } from "./commands/set-destination-limits.ts";
import { stopClaims } from "./commands/stop-claims.ts";
import { readDeliveryControlView } from "./read-delivery-control.ts";
import { readDestinationControlView } from "./read-destination-control.ts";
import type { RegionAnswer } from "./read-region.ts";
import { readRegionControlView } from "./read-region-control.ts";
import { readTenantControlView } from "./read-tenant-control.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";

let regions: TestRegions;
let tenant: string;
let destination: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
});
beforeEach(async () => {
  tenant = await makeTenant(regions.us.pool);
  destination = await makeDestination(regions.us.pool, tenant, { ratePerSecond: 50, rateBurst: 5 });
});
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

function grants(role: Role, part: Partial<Grant> = {}): Grant[] {
  return [{ role, regions: ["us"], tenantIds: null, canReveal: false, actions: null, ...part }];
}

async function data<T>(answer: Promise<RegionAnswer<T>>): Promise<T> {
  const found = await answer;
  if (found.status !== "ok") throw new Error(found.detail);
  return found.data;
}

const ofTenant = (mine = grants("operator")) =>
  data(readTenantControlView(EVERYWHERE, mine, { region: "us", id: tenantId(tenant) }));
const ofDestination = (mine = grants("operator")) =>
  data(readDestinationControlView(EVERYWHERE, mine, { region: "us", id: destinationId(destination) }));
const ofDelivery = (id: string, mine = grants("operator")) =>
  data(readDeliveryControlView(EVERYWHERE, mine, { region: "us", id: toPublicId("dlv", id) }));

describe("of a destination", () => {
  it("tells due, gated, held and in flight apart, each with its age", async () => {
    const { pool } = regions.us;
    const place = { tenantId: tenant, destinationId: destination };
    const ids = await makeDeliveries(pool, { ...place, count: 5, dueInMs: -60_000 });
    await makeDeliveries(pool, { ...place, lane: "retry", count: 2, dueInMs: -10_000 });
    await makeDeliveries(pool, { ...place, count: 3, dueInMs: 3_600_000 });
    await leaseRows(pool, ids.slice(0, 1));
    const due = await ofDestination();
    expect(due).toMatchObject({
      inFlight: 1,
      due: { count: 6, more: false },
      held: { count: 0, oldestMs: 0, why: null },
      gated: { count: 0 },
      drain: { waiting: 6, waitingMore: false, concurrency: 10, ratePerSecond: 50 },
      gate: null,
    });
    expect(due.due.oldestMs).toBeGreaterThanOrEqual(60_000);

    await pool.query(
      "SELECT sluice.shut_gate($1, NULL, 3600000, clock_timestamp(), 'rate_limited', 429::smallint, '3600')",
      [destination],
    );
    expect(await ofDestination()).toMatchObject({
      due: { count: 0 },
      gated: { count: 6 },
      gate: { why: "rate_limited", status: 429, retryAfter: "3600", waiting: { count: 6 } },
      drain: { waiting: 6 },
    });
    await disableDestination(contextOf(regions.us), {
      destinationId: destinationId(destination),
      version: 1,
      reason: REASON,
    });
    expect(await ofDestination()).toMatchObject({
      version: 2,
      held: { count: 6, why: "destination_disabled" },
      gated: { count: 0 },
      disabled: { reason: REASON, by: "user:ann" },
    });
    expect(JSON.stringify(await ofDestination())).not.toMatch(/secret_|whsec_|\/none/);
  });

  it("FAIR-9 shows R x L x s from the declared rate and the measured median, with its inputs", async () => {
    expect((await ofDestination()).suggestion).toMatchObject({ limit: null, missing: "service_time" });
    const durations = [...Array.from({ length: 18 }, () => 125), 5_000, 6_000];
    await addAnswered(regions.us, { tenant, destination }, durations);
    const view = await ofDestination();
    expect(view.serviceTime).toMatchObject({ p50Ms: 125, p95Ms: 5_000, samples: 20 });
    expect(view.suggestion).toEqual({
      limit: 5,
      ratePerSecond: 50,
      serviceTimeMs: 125,
      margin: 0.8,
      missing: null,
    });
    expect((await ofTenant()).serviceTime).toMatchObject({ p50Ms: 125, samples: 20 });
  });

  it("shows the 429 share of the last minutes and what the step rule will say", async () => {
    expect(await ofDestination()).toMatchObject({
      throttle: { share: null, requests: 0 },
      step: { nextRaiseAt: null, maxFactor: 2, needsAcknowledge429: false },
    });
    await addRollup(
      regions.us,
      { tenant, destination },
      { rate_limited: 1, delivered: 3, payload_erased: 50 },
    );
    await setDestinationLimits(contextOf(regions.us), {
      destinationId: destinationId(destination),
      version: 1,
      reason: REASON,
      concurrencyLimit: 12,
    });
    const view = await ofDestination();
    expect(view.throttle).toMatchObject({ share: 0.25, throttled: 1, requests: 4, windowMs: 300_000 });
    expect(view.step).toMatchObject({ needsAcknowledge429: true, nextRaiseAt: expect.stringMatching(/Z$/) });
  });
});

describe("of a tenant", () => {
  it("sums its destinations, and a pause holds all of them", async () => {
    const other = await makeDestination(regions.us.pool, tenant);
    for (const destinationUuid of [destination, other]) {
      await makeDeliveries(regions.us.pool, {
        tenantId: tenant,
        destinationId: destinationUuid,
        count: 4,
        dueInMs: -5_000,
      });
    }
    expect(await ofTenant()).toMatchObject({
      due: { count: 8 },
      held: { count: 0 },
      destinations: 2,
      concurrency: { limit: null, inForce: 100, inherited: 100 },
      pause: { until: null },
    });
    await pauseTenant(contextOf(regions.us), {
      tenantId: tenantId(tenant),
      version: 1,
      reason: REASON,
      end: { forMs: 3_600_000 },
    });
    expect(await ofTenant()).toMatchObject({
      version: 2,
      due: { count: 0 },
      held: { count: 8, why: "tenant_paused" },
      pause: { reason: REASON, by: "user:ann", until: expect.stringMatching(/Z$/) },
    });
  });
});

describe("of a delivery", () => {
  it("says in words why a command would be refused, and what stands in the way", async () => {
    const { pool } = regions.us;
    const place = { tenantId: tenant, destinationId: destination };
    const [ready = ""] = await makeDeliveries(pool, place);
    const [delayed = ""] = await makeDeliveries(pool, { ...place, lane: "retry", dueInMs: 3_600_000 });
    const [leased = ""] = await makeDeliveries(pool, place);
    await leaseRows(pool, [leased]);
    expect(await ofDelivery(ready)).toMatchObject({
      state: "ready",
      version: null,
      refused: {
        retryNow: expect.stringContaining("not been tried"),
        cancel: null,
        willNotReplay: expect.any(String),
      },
    });
    expect(await ofDelivery(delayed)).toMatchObject({
      refused: { retryNow: null, cancel: null, erase: null },
      blockers: expect.arrayContaining(["not_due"]),
    });
    expect(await ofDelivery(leased)).toMatchObject({
      inFlight: true,
      refused: { retryNow: "The delivery is in flight.", cancel: "The delivery is in flight." },
    });
    const { payload } = await ofDelivery(ready);
    await restrictPayload(contextOf(regions.us), { payloadId: payload.id, reason: REASON });
    expect((await ofDelivery(ready)).payload).toMatchObject({ erased: false, restricted: true });
  });
});

describe("what the caller may do", () => {
  it("names the roles that may where a role may not, and the conditions where it may", async () => {
    expect((await ofDestination(grants("viewer"))).permit.pause).toEqual({
      allowed: false,
      reason: expect.stringContaining("support or operator or admin"),
    });
    expect((await ofDestination(grants("support"))).permit).toMatchObject({
      pause: { allowed: true, maxPauseMs: 4 * 3_600_000 },
      limits: { allowed: true, only: "lower" },
      rotate_secret: { allowed: false },
    });
    expect((await ofDestination(grants("operator", { tenantIds: [] }))).permit.pause?.allowed).toBe(false);
    const region = await data(readRegionControlView(EVERYWHERE, grants("operator"), "us"));
    expect(region.permit).toMatchObject({
      region_claims: { allowed: true, typed: true },
      policies: { allowed: false },
    });
  });

  it("outside of the scope is not found, whether or not there is such a row", async () => {
    const mine = grants("operator", { tenantIds: [await makeTenant(regions.us.pool)] });
    const scope = scopeOf(mine, "read");
    const [id = ""] = await makeDeliveries(regions.us.pool, { tenantId: tenant, destinationId: destination });
    const missing = { code: "not_found" };
    const at = { region: "us" } as const;
    await expect(readTenantControlView(scope, mine, { ...at, id: tenantId(tenant) })).rejects.toMatchObject(
      missing,
    );
    await expect(
      readDestinationControlView(scope, mine, { ...at, id: destinationId(destination) }),
    ).rejects.toMatchObject(missing);
    await expect(
      readDeliveryControlView(scope, mine, { ...at, id: toPublicId("dlv", id) }),
    ).rejects.toMatchObject(missing);
    await expect(readRegionControlView(scope, mine, "eu")).rejects.toMatchObject(missing);
  });
});

describe("of a region", () => {
  it("counts leases, due and held work, and only a scope's own tenants for a narrow grant", async () => {
    const ids = await makeDeliveries(regions.us.pool, {
      tenantId: tenant,
      destinationId: destination,
      count: 3,
      dueInMs: -1_000,
    });
    await leaseRows(regions.us.pool, ids.slice(0, 1));
    const mine = grants("operator", { tenantIds: [tenant] });
    const read = () => data(readRegionControlView(scopeOf(mine, "read"), mine, "us"));
    expect(await read()).toMatchObject({
      claims: "on",
      inFlight: 1,
      due: { count: 2 },
      tenants: [{ id: tenantId(tenant), inFlight: 1 }],
      tenantCount: 1,
      defaults: { tenantConcurrency: 100, destinationConcurrency: 10 },
      permit: { region_claims: { allowed: false } },
    });
    await stopClaims(contextOf(regions.us), { version: 1, reason: REASON });
    expect(await read()).toMatchObject({
      version: 2,
      claims: "stopped",
      stopped: { reason: REASON, by: "user:ann" },
      held: { count: 2, why: "region_draining" },
      drained: false,
    });
  });
});
