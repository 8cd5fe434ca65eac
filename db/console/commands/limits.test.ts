/** FAIR-7: limits and weights are rows; what the claim does with a changed one is what counts. On a real server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claim } from "#db/queue/claim.ts";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { makePlace, type Place, request } from "#tests/support/queue-rows/sql.ts";
import { pinAdaptiveLimit } from "./pin-adaptive-limit.ts";
import { readDestinationControl, readTenantControl } from "./read-control.ts";
import { setDestinationLimits } from "./set-destination-limits.ts";
import { setTenantLimits } from "./set-tenant-limits.ts";
import { setWeight } from "./set-weight.ts";
import { unpinAdaptiveLimit } from "./unpin-adaptive-limit.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A place whose rows inherit every limit (10 for the destination, 100 for the tenant). */
async function place(rows: number): Promise<Place> {
  const tenant = await makeTenant(database.pool);
  const destination = await makeDestination(database.pool, tenant);
  await makeDeliveries(database.pool, { tenantId: tenant, destinationId: destination, count: rows });
  return { lane: "first", serviceClass: "routine", tenantId: tenant, destinationId: destination };
}

async function taken(at: Place): Promise<number> {
  return (await claim(database.pool, request([{ ...at, wanted: 100 }]))).ids.length;
}

describe("FAIR-7 limits of a tenant", () => {
  it("count for the next claim, and an empty one inherits the region's", async () => {
    const at = await place(30);
    const id = tenantId(at.tenantId);
    const lower = { tenantId: id, version: 1, reason: REASON, concurrencyLimit: 3 };
    expect(await setTenantLimits(contextOf(database), lower)).toMatchObject({
      version: 2,
      applied: true,
      before: { concurrencyLimit: null },
      after: { concurrencyLimit: 3 },
    });
    expect(await readTenantControl(database.pool, id)).toMatchObject({
      concurrencyLimit: 3,
      concurrencyInForce: 3,
    });
    expect(await taken(at)).toBe(3);
    expect(await taken(at)).toBe(0);
    await setTenantLimits(contextOf(database), { ...lower, version: 2, concurrencyLimit: null });
    expect(await readTenantControl(database.pool, id)).toMatchObject({
      concurrencyLimit: null,
      concurrencyInForce: 100,
    });
    // The destination's own inherited 10 bounds it now.
    expect(await taken(at)).toBe(7);
    expect((await readAudit(database, id)).map(({ action }) => action)).toEqual([
      "tenant.limits",
      "tenant.limits",
    ]);
  });

  it("lowered below what is in flight stop new claims and take nothing back", async () => {
    const at = await place(30);
    expect(await taken(at)).toBe(10);
    const id = tenantId(at.tenantId);
    await setTenantLimits(contextOf(database), {
      tenantId: id,
      version: 1,
      reason: REASON,
      concurrencyLimit: 4,
    });
    expect(await taken(at)).toBe(0);
  });

  it("the weight is a row too", async () => {
    const at = await place(0);
    const id = tenantId(at.tenantId);
    const answer = await setWeight(contextOf(database), {
      tenantId: id,
      version: 1,
      reason: REASON,
      weight: 7,
    });
    expect(answer).toMatchObject({ version: 2, before: { weight: 1 }, after: { weight: 7 } });
    expect(await readTenantControl(database.pool, id)).toMatchObject({ weight: 7 });
    const stale = { tenantId: id, version: 1, reason: REASON, weight: 8 };
    await expect(setWeight(contextOf(database), stale)).rejects.toMatchObject({ code: "version_conflict" });
  });
});

describe("FAIR-7 limits of a destination", () => {
  it("change one by one; what is left out stays, null inherits or means no rate", async () => {
    const at = await place(40);
    const id = destinationId(at.destinationId);
    const set = (version: number, limits: object) =>
      setDestinationLimits(contextOf(database), { destinationId: id, version, reason: REASON, ...limits });
    expect(await set(1, { ratePerSecond: 0.001, rateBurst: 4 })).toMatchObject({
      before: { concurrencyLimit: null, ratePerSecond: null, rateBurst: 1 },
      after: { concurrencyLimit: null, ratePerSecond: 0.001, rateBurst: 4 },
    });
    expect(await taken(at)).toBe(4);
    expect(await taken(at)).toBe(0);
    expect(await set(2, { concurrencyLimit: 6 })).toMatchObject({
      after: { concurrencyLimit: 6, ratePerSecond: 0.001, rateBurst: 4 },
    });
    expect(await taken(at)).toBe(0);
    expect(await set(3, { ratePerSecond: null })).toMatchObject({
      after: { ratePerSecond: null, rateBurst: 4 },
    });
    expect(await taken(at)).toBe(2);
    await set(4, { concurrencyLimit: null });
    expect(await readDestinationControl(database.pool, id)).toMatchObject({
      concurrencyLimit: null,
      concurrencyInForce: 10,
    });
    expect(await taken(at)).toBe(4);
  });

  it("a rate without a whole second in it is stored as it was asked for", async () => {
    const id = destinationId((await place(0)).destinationId);
    const answer = await setDestinationLimits(contextOf(database), {
      destinationId: id,
      version: 1,
      reason: REASON,
      ratePerSecond: 12.345,
    });
    expect(answer.after.ratePerSecond).toBe(12.345);
  });
});

describe("a limit that would send nothing", () => {
  const NONSENSE = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1e9, "5", true, {}, []];

  it.each(NONSENSE)("is refused with the way out: %j", async (value) => {
    const at = await place(0);
    const tenant = { tenantId: tenantId(at.tenantId), version: 1, reason: REASON, concurrencyLimit: value };
    const destination = { destinationId: destinationId(at.destinationId), version: 1, reason: REASON };
    const refused = { code: "bad_limit", detail: expect.stringContaining("use pause") };
    const context = contextOf(database);
    await expect(setTenantLimits(context, tenant as never)).rejects.toMatchObject(refused);
    for (const field of ["concurrencyLimit", "ratePerSecond", "rateBurst"]) {
      // A rate may have a fraction.
      if (field === "ratePerSecond" && value === 1.5) continue;
      const command = { ...destination, [field]: value };
      await expect(setDestinationLimits(context, command as never), field).rejects.toMatchObject(refused);
    }
    expect(await readTenantControl(database.pool, tenant.tenantId)).toMatchObject({
      version: 1,
      concurrencyLimit: null,
    });
    expect(await readDestinationControl(database.pool, destination.destinationId)).toMatchObject({
      version: 1,
    });
  });

  it("a change of nothing is refused as well", async () => {
    const id = destinationId((await place(0)).destinationId);
    const empty = { destinationId: id, version: 1, reason: REASON };
    await expect(setDestinationLimits(contextOf(database), empty)).rejects.toMatchObject({
      code: "invalid_body",
    });
  });
});

describe("FAIR-8 the adaptive limit", () => {
  it("is pinned at a number and let go of again; both are changes of the destination", async () => {
    const at = await makePlace(database.pool);
    await makeDeliveries(database.pool, { ...at, count: 20 });
    const id = destinationId(at.destinationId);
    const command = { destinationId: id, version: 1, reason: REASON };
    await expect(unpinAdaptiveLimit(contextOf(database), command)).rejects.toMatchObject({
      code: "state_conflict",
    });
    expect(await pinAdaptiveLimit(contextOf(database), { ...command, limit: 3 })).toMatchObject({
      version: 2,
      before: { adaptiveLimit: null, pinned: false },
      after: { adaptiveLimit: 3, pinned: true },
    });
    expect(await taken(at)).toBe(3);
    await expect(pinAdaptiveLimit(contextOf(database), { ...command, limit: 5 })).rejects.toMatchObject({
      code: "version_conflict",
    });
    expect(await readDestinationControl(database.pool, id)).toMatchObject({
      adaptiveLimit: 3,
      adaptivePinned: true,
    });
    expect(await unpinAdaptiveLimit(contextOf(database), { ...command, version: 2 })).toMatchObject({
      after: { adaptiveLimit: 3, pinned: false },
    });
  });
});
