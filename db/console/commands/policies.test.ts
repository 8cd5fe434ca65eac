/** SIG-4, RETRY-1: policies are rows. Who may write their next version, and that every judgement goes by the newest one. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { DEFAULT_OBJECTIVES } from "#domain/objectives.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { contextOf, destinationId, REASON, readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listPolicies } from "../list-policies.ts";
import { listTenants } from "../list-tenants.ts";
import { readDestination } from "../read-destination.ts";
import { readOverview } from "../read-overview.ts";
import { readSeries } from "../read-series.ts";
import { readTenant } from "../read-tenant.ts";
import { pointConsoleAt, releaseConsole } from "../test-console.ts";
import { addDelivery, addDestination, addTenant, addWorker } from "../test-rows.ts";
import { setObjectives } from "./set-objectives.ts";
import { setRetryPolicy } from "./set-retry-policy.ts";

let regions: TestRegions;
let tenant: string;
let destination: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  tenant = await addTenant(regions.us.pool, "us", "northwind");
  destination = await addDestination(regions.us.pool, "us", tenant);
  await addWorker(regions.us.pool, "us");
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

const admin = (part: object = {}) => contextOf(regions.us, { role: "admin", ...part });

async function policies() {
  const [us, eu] = (await listPolicies(EVERYWHERE, ["us", "eu"])).regions;
  if (us?.status !== "ok" || eu?.status !== "ok") throw new Error("no answer");
  return { us: us.data, eu: eu.data };
}

const objectives = (version: number, part: object, context = admin()) =>
  setObjectives(context, { version, reason: REASON, objectives: part });
const retry = (version: number, part: object, context = admin()) =>
  setRetryPolicy(context, { version, reason: REASON, serviceClass: "urgent", retry: part });

describe("what counts as late", () => {
  it("is the built-in policy until an administrator writes the first version, with its reason", async () => {
    expect((await policies()).us.objectives).toMatchObject({
      version: 0,
      changedBy: null,
      numbers: DEFAULT_OBJECTIVES,
      history: [],
    });
    for (const role of ["operator", "support", "viewer"] as const) {
      await expect(objectives(0, { duePageMs: 90_000 }, admin({ role }))).rejects.toMatchObject({
        code: "forbidden",
      });
    }
    const done = await objectives(0, { duePageMs: 90_000, triedTargetShare: 0.99 });
    expect(done).toMatchObject({
      version: 1,
      before: { policyVersion: 0, duePageMs: 60_000, triedTargetShare: 0.95 },
      after: { policyVersion: 1, duePageMs: 90_000, triedTargetShare: 0.99, loosened: "duePageMs" },
    });
    const audit = await readAudit(regions.us, "us");
    expect(audit.map(({ action, result, reason }) => [action, result, reason])).toEqual([
      ...Array.from({ length: 3 }, () => ["policy.objectives", "denied", REASON]),
      ["policy.objectives", "done", REASON],
    ]);
  });

  it("of two who saw the same version one writes, and nothing of a refused one stays", async () => {
    const both = await Promise.allSettled([
      objectives(1, { dueWarnMs: 20_000 }),
      objectives(1, { dueWarnMs: 30_000 }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(both.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "version_conflict" },
    });
    await expect(objectives(1, { dueWarnMs: 1_000 })).rejects.toMatchObject({ code: "version_conflict" });
    await expect(objectives(2, { dueWarnMs: 91_000 })).rejects.toMatchObject({ code: "bad_policy" });
    await expect(objectives(2, { urgentTargetMs: 16_000 })).rejects.toMatchObject({ code: "bad_policy" });
    await expect(objectives(2, {})).rejects.toMatchObject({ code: "bad_policy" });
    const { us, eu } = await policies();
    // What the second version did not name stays as the first one left it.
    expect(us.objectives).toMatchObject({
      version: 2,
      numbers: { duePageMs: 90_000, triedTargetShare: 0.99 },
    });
    expect(us.objectives.history.map(({ version }) => version)).toEqual([2, 1]);
    expect(eu.objectives).toMatchObject({ version: 0, numbers: DEFAULT_OBJECTIVES });
  });

  it("a version that stands cannot be changed", async () => {
    await expect(regions.us.pool.query("UPDATE sluice.objective_policy SET body = '{}'")).rejects.toThrow(
      /write the next version/,
    );
  });

  it("decides verdict, late tenants, shares and every page's thresholds from the next read on", async () => {
    await addDelivery(regions.us.pool, "us", {
      tenantId: tenant,
      destinationId: destination,
      dueInSeconds: -90,
    });
    const read = async () => {
      const [answer] = (await readOverview(EVERYWHERE, ["us"])).regions;
      if (answer?.status !== "ok") throw new Error("no answer");
      return answer.data;
    };
    // Due for 90 s: past the warning of 60 s, inside of the target of 120 s. Due work pages at 90 s only.
    await objectives(2, { duePageMs: 3_600_000 });
    expect((await read()).verdict).toMatchObject({
      level: "slow",
      because: "first_attempt",
      tenantsAffected: 0,
    });
    await objectives(3, { routineWarnMs: 10_000, routineTargetMs: 15_000 });
    const late = await read();
    expect(late.verdict).toMatchObject({
      level: "late",
      because: "first_attempt",
      firstAttempt: { serviceClass: "routine", targetMs: 15_000 },
      tenantsAffected: 1,
    });
    expect(late.thresholds).toMatchObject({
      objectives: { routine: { firstAttemptTargetMs: 15_000, firstAttemptWarnMs: 10_000 } },
      dueLag: { pageMs: 3_600_000 },
      triedShareTarget: 0.99,
    });
    expect(late.triedShares.find(({ serviceClass }) => serviceClass === "routine")).toMatchObject({
      targetMs: 15_000,
      waitingLate: 1,
    });

    const expected = { objectives: late.thresholds.objectives, dueLag: late.thresholds.dueLag };
    const list = await listTenants(EVERYWHERE, { regions: ["us", "eu"], sort: "name", limit: 10 });
    const [us, eu] = list.regions;
    expect(us).toMatchObject({ status: "ok", data: expected });
    expect(eu).toMatchObject({ data: { objectives: { routine: { firstAttemptTargetMs: 120_000 } } } });
    const others = [
      await readTenant(EVERYWHERE, "us", "northwind"),
      await readDestination(EVERYWHERE, "us", destinationId(destination)),
      await readSeries(EVERYWHERE, "us", "15m"),
    ];
    for (const answer of others) expect(answer).toMatchObject({ status: "ok", data: expected });
  });

  it("who sees only some tenants sees the numbers, not who wrote them and why", async () => {
    const [answer] = (await listPolicies({ us: [tenant] })).regions;
    if (answer?.status !== "ok") throw new Error("no answer");
    const { objectives: seen } = answer.data;
    expect(seen).toMatchObject({ version: 4, changedBy: null, reason: null, history: [] });
    expect(seen.numbers.routineTargetMs).toBe(15_000);
  });
});

describe("a retry policy", () => {
  it("has a version for each class; what is left out stays, also inside of a part", async () => {
    await expect(retry(0, { maxFailures: 4 }, admin({ role: "operator" }))).rejects.toMatchObject({
      code: "forbidden",
    });
    await retry(0, { maxFailures: 4, backoff: { baseMs: 7_000, factor: 3 } });
    const done = await retry(1, { backoff: { factor: 2 }, permanentStatuses: [501, 505] });
    expect(done).toMatchObject({
      version: 2,
      before: { serviceClass: "urgent", policyVersion: 1, "backoff.factor": 3, permanentStatuses: "none" },
      after: { policyVersion: 2, "backoff.factor": 2, permanentStatuses: "501, 505" },
    });
    const [urgent, routine] = (await policies()).us.policies;
    expect(urgent).toMatchObject({
      version: 2,
      retry: { maxFailures: 4, backoff: { baseMs: 7_000, factor: 2 }, permanentStatuses: [501, 505] },
      builtIn: { maxFailures: 8 },
    });
    expect(urgent?.history.map(({ version, reason }) => [version, reason])).toEqual([
      [2, REASON],
      [1, REASON],
    ]);
    expect(routine).toMatchObject({ version: 0, retry: { maxFailures: 8 }, history: [] });
    await expect(retry(1, { maxFailures: 5 })).rejects.toMatchObject({ code: "version_conflict" });
  });

  it("that nobody could send by is refused: alone, and under a destination's own override", async () => {
    await expect(retry(2, { leaseMs: 1_000 })).rejects.toMatchObject({ code: "bad_policy" });
    await expect(retry(2, { backoff: { baseMs: 1, capMs: 0 } })).rejects.toMatchObject({
      code: "bad_policy",
    });
    await expect(retry(2, {})).rejects.toMatchObject({ code: "bad_policy" });
    await regions.us.pool.query("UPDATE sluice.destination SET policy_override = $2 WHERE id = $1", [
      destination,
      JSON.stringify({ requestDeadlineMs: 25_000 }),
    ]);
    const refused = retry(2, { leaseMs: 20_000 });
    await expect(refused).rejects.toMatchObject({ code: "bad_policy" });
    await expect(refused).rejects.toThrow(toPublicId("dst", destination));
    expect((await policies()).us.policies[0]).toMatchObject({ version: 2, retry: { leaseMs: 30_000 } });
    // A longer lease fits both.
    await expect(retry(2, { leaseMs: 40_000 })).resolves.toMatchObject({ version: 3 });
  });
});
