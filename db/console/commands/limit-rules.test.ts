/** Who may raise limits how far and how fast, from the audit and the roll-up of a real server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  addRollup,
  contextOf,
  destinationId,
  moveAuditBack,
  REASON,
  readAudit,
  tenantId,
} from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { pinAdaptiveLimit } from "./pin-adaptive-limit.ts";
import type { LimitRules } from "./run-command.ts";
import { setDestinationLimits } from "./set-destination-limits.ts";
import { setRegionDefaults } from "./set-region-defaults.ts";
import { setTenantLimits } from "./set-tenant-limits.ts";
import { setWeight } from "./set-weight.ts";
import { unpinAdaptiveLimit } from "./unpin-adaptive-limit.ts";

let database: TestDatabase;
let ids: { tenant: string; destination: string };
let version: number;

const STEPS: LimitRules = { steps: true };

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  const tenant = await makeTenant(database.pool);
  ids = { tenant, destination: await makeDestination(database.pool, tenant) };
  version = 1;
});
afterAll(() => database.drop());

async function set(limits: object, limitRules: LimitRules = STEPS) {
  const command = { destinationId: destinationId(ids.destination), version, reason: REASON, ...limits };
  const answer = await setDestinationLimits(contextOf(database, { limitRules }), command);
  version = answer.version ?? version;
  return answer;
}

const refused = (data: object) => ({ code: "bad_step", data: expect.objectContaining(data) });

describe("ux 2.5 the step rule", () => {
  it("a destination that inherits 10 goes to 20, not to 21, and then waits two minutes", async () => {
    await expect(set({ concurrencyLimit: 21 })).rejects.toMatchObject(refused({ why: "factor", most: 20 }));
    await set({ concurrencyLimit: 20 });
    await expect(set({ concurrencyLimit: 21 })).rejects.toMatchObject(refused({ why: "too_soon" }));
    expect(version).toBe(2);
    await moveAuditBack(database, destinationId(ids.destination), 121);
    expect(await set({ concurrencyLimit: 40 })).toMatchObject({ after: { concurrencyLimit: 40 } });
    const results = (await readAudit(database, destinationId(ids.destination))).map(({ result }) => result);
    expect(results.toSorted()).toEqual(["conflict", "conflict", "done", "done"]);
  });

  it("a lowering never waits, and is undone at once and whole, but no further", async () => {
    await set({ concurrencyLimit: 20 });
    await set({ concurrencyLimit: 2 });
    await expect(set({ concurrencyLimit: 21 })).rejects.toMatchObject(refused({ why: "factor" }));
    expect(await set({ concurrencyLimit: 20 })).toMatchObject({ after: { concurrencyLimit: 20 } });
    await set({ concurrencyLimit: 3 });
    await moveAuditBack(database, destinationId(ids.destination), 601);
    await expect(set({ concurrencyLimit: 20 })).rejects.toMatchObject(refused({ why: "factor", most: 6 }));
  });

  it("a rate is a limit of its own; taking it away is a raise that waits, and is undone like one", async () => {
    await set({ ratePerSecond: 5, rateBurst: 10 });
    await set({ ratePerSecond: null });
    await moveAuditBack(database, destinationId(ids.destination), 601);
    await set({ ratePerSecond: 5 });
    await moveAuditBack(database, destinationId(ids.destination), 601);
    await expect(set({ ratePerSecond: 11 })).rejects.toMatchObject(refused({ why: "factor", most: 10 }));
    await set({ ratePerSecond: 6 });
    await expect(set({ ratePerSecond: null })).rejects.toMatchObject(refused({ why: "too_soon" }));
  });

  it("over more than a tenth of 429 a raise is made knowingly, and that is kept nowhere but in the request", async () => {
    await addRollup(database, ids, { rate_limited: 2, delivered: 8, lease_expired: 90 });
    await expect(set({ concurrencyLimit: 11 })).rejects.toMatchObject(refused({ why: "throttled" }));
    expect(await set({ concurrencyLimit: 11, acknowledge429: true })).toMatchObject({
      after: { concurrencyLimit: 11 },
    });
    expect(await set({ concurrencyLimit: 5 })).toMatchObject({ after: { concurrencyLimit: 5 } });
  });

  it("holds for a tenant and for a pinned limit as well", async () => {
    const context = contextOf(database, { limitRules: STEPS });
    const tenant = { tenantId: tenantId(ids.tenant), reason: REASON };
    await expect(
      setTenantLimits(context, { ...tenant, version: 1, concurrencyLimit: 201 }),
    ).rejects.toMatchObject(refused({ why: "factor", most: 200 }));
    await setTenantLimits(context, { ...tenant, version: 1, concurrencyLimit: 200 });
    await setWeight(context, { ...tenant, version: 2, weight: 50 });
    const destination = { destinationId: destinationId(ids.destination), reason: REASON };
    await pinAdaptiveLimit(context, { ...destination, version: 1, limit: 2 });
    await moveAuditBack(database, destinationId(ids.destination), 601);
    await expect(pinAdaptiveLimit(context, { ...destination, version: 2, limit: 5 })).rejects.toMatchObject(
      refused({ why: "factor", most: 4 }),
    );
  });

  it("out of step on purpose stands in the audit", async () => {
    expect(await set({ concurrencyLimit: 500 }, { steps: false })).toMatchObject({
      after: { concurrencyLimit: 500, outOfStep: true },
    });
  });
});

describe("ux 2.1 how far a role reaches", () => {
  it("support only lowers: everything above is denied and recorded", async () => {
    const only: LimitRules = { only: "lower", steps: true };
    await expect(set({ concurrencyLimit: 11 }, only)).rejects.toMatchObject({ code: "forbidden" });
    await expect(set({ ratePerSecond: 5, rateBurst: 2 }, only)).rejects.toMatchObject({ code: "forbidden" });
    await set({ concurrencyLimit: 9, ratePerSecond: 5 }, only);
    const context = contextOf(database, { limitRules: only });
    const weight = { tenantId: tenantId(ids.tenant), version: 1, reason: REASON, weight: 2 };
    await expect(setWeight(context, weight)).rejects.toMatchObject({ code: "forbidden" });
    const pin = { destinationId: destinationId(ids.destination), reason: REASON };
    await pinAdaptiveLimit(context, { ...pin, version: 2, limit: 3 });
    await expect(unpinAdaptiveLimit(context, { ...pin, version: 3 })).rejects.toMatchObject({
      code: "forbidden",
    });
    const results = (await readAudit(database, destinationId(ids.destination))).map(({ result }) => result);
    expect(results.filter((result) => result === "denied")).toHaveLength(3);
  });

  it("an operator raises up to the policy of the region, an admin beyond it; both go down from above", async () => {
    const within: LimitRules = { only: "within_policy", steps: false };
    await set({ concurrencyLimit: 200 }, within);
    await expect(set({ concurrencyLimit: 201 }, within)).rejects.toMatchObject({ code: "forbidden" });
    await expect(set({ ratePerSecond: 5 }, within)).resolves.toMatchObject({ after: { ratePerSecond: 5 } });
    await expect(set({ ratePerSecond: null }, within)).rejects.toMatchObject({ code: "forbidden" });
    await set({ concurrencyLimit: 400 }, { steps: false });
    await set({ concurrencyLimit: 300 }, within);
  });
});

describe("defaults of a region", () => {
  it("are what rows inherit; they move by the step rule, and the bounds of the policy are data", async () => {
    const context = contextOf(database, { role: "admin", limitRules: STEPS });
    const defaults = (fields: object, seen: number) =>
      setRegionDefaults(context, { version: seen, reason: REASON, acknowledge429: true, ...fields });
    await expect(defaults({ destinationConcurrency: 21 }, 1)).rejects.toMatchObject(
      refused({ why: "factor", most: 20 }),
    );
    const answer = await defaults({ destinationConcurrency: 12, maxDestinationConcurrency: 12 }, 1);
    expect(answer).toMatchObject({
      version: 2,
      before: { destinationConcurrency: 10, maxDestinationConcurrency: 200, tenantConcurrency: 100 },
      after: { destinationConcurrency: 12, maxDestinationConcurrency: 12, tenantConcurrency: 100 },
    });
    const within: LimitRules = { only: "within_policy", steps: true };
    await expect(set({ concurrencyLimit: 13 }, within)).rejects.toMatchObject({ code: "forbidden" });
    await expect(defaults({ tenantConcurrency: 200 }, 1)).rejects.toMatchObject({ code: "version_conflict" });
    await expect(defaults({ tenantConcurrency: 0 }, 2)).rejects.toMatchObject({ code: "bad_limit" });
    await expect(defaults({}, 2)).rejects.toMatchObject({ code: "invalid_body" });
    // A raise would wait two minutes behind the one before; a lowering never does.
    await expect(defaults({ destinationConcurrency: 13 }, 2)).rejects.toMatchObject(
      refused({ why: "too_soon" }),
    );
    await expect(defaults({ tenantConcurrency: 50 }, 2)).resolves.toMatchObject({ version: 3 });
  });
});
