/** One delivery: why it waits, what comes next, and what was done around it. */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { resolvePolicy } from "#domain/policy.ts";
import { previewNextAttempts } from "#domain/retry-policy.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { readDelivery } from "./read-delivery.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, addWorker, type DeliveryFields } from "./test-rows.ts";

let regions: TestRegions;
let tenantId: string;
let destinationId: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  // Ahead, so that it is alive however long the tests take.
  await addWorker(regions.us.pool, "us", { silentSeconds: -3_600 });
  tenantId = await addTenant(regions.us.pool, "us", "northwind");
  destinationId = await addDestination(regions.us.pool, "us", tenantId);
});

afterEach(async () => {
  const { pool } = regions.us;
  await pool.query(
    `UPDATE sluice.tenant SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, claim_owner = 'sluice', concurrency_limit = NULL;
     UPDATE sluice.destination SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, disabled_at = NULL, disabled_reason = NULL,
            rate_per_second = NULL, concurrency_limit = NULL, policy_override = NULL, resumed_at = NULL, resume_share = NULL;
     UPDATE sluice.region_control SET draining = false, drain_reason = NULL;
     DELETE FROM sluice.destination_state; DELETE FROM sluice.destination_rate; DELETE FROM sluice.delivery;
     UPDATE sluice.worker_process SET heartbeat_at = clock_timestamp()`,
  );
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function waiting(fields: Partial<DeliveryFields> = {}): Promise<string> {
  const { id } = await addDelivery(regions.us.pool, "us", {
    tenantId,
    destinationId,
    dueInSeconds: -5,
    ...fields,
  });
  return toPublicId("dlv", id);
}

async function blockersOf(id: string) {
  return (await readDelivery(EVERYWHERE, id)).delivery.blockers;
}

const sql = (text: string, values: unknown[] = []) => regions.us.pool.query(text, values);

describe("SIG-9 why it has not been sent", () => {
  test("every blocker at once, in the order from people over the receiver to what takes time", async () => {
    const other = await addDestination(regions.us.pool, "us", tenantId);
    await waiting({ state: "leased" });
    await waiting({ state: "leased", destinationId: other });
    const id = await waiting({ dueInSeconds: 90, state: "delayed" });
    await sql(
      `UPDATE sluice.region_control SET draining = true, drain_reason = 'switch', drained_by = 'user:ann', drained_at = clock_timestamp();
       UPDATE sluice.worker_process SET heartbeat_at = clock_timestamp() - interval '1 hour'`,
    );
    await sql(
      `UPDATE sluice.tenant SET claim_owner = 'legacy', paused_at = clock_timestamp(), paused_by = 'user:bob', concurrency_limit = 2,
              pause_until = clock_timestamp() + interval '10 minutes', pause_reason = 'customer asked' WHERE id = $1`,
      [tenantId],
    );
    await sql(
      `UPDATE sluice.destination SET disabled_at = clock_timestamp(), disabled_reason = 'gone', disabled_by = 'worker',
              paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '5 minutes', pause_reason = 'deploy',
              concurrency_limit = 1, rate_per_second = 0.1, rate_burst = 1 WHERE id = $1`,
      [destinationId],
    );
    await sql(
      "SELECT sluice.shut_gate($1, NULL, 60000, clock_timestamp(), 'retry_after', 429::smallint, '60')",
      [destinationId],
    );
    await sql(
      `UPDATE sluice.destination_state SET breaker = 'open', breaker_until = clock_timestamp() + interval '30 seconds',
              breaker_opened_at = clock_timestamp(), breaker_opens = 1, down_in_row = 20, breaker_why = 'timeout' WHERE destination_id = $1`,
      [destinationId],
    );
    await sql(
      `INSERT INTO sluice.destination_rate (destination_id, region, rate_tat) VALUES ($1, 'us', clock_timestamp() + interval '8 seconds')`,
      [destinationId],
    );
    const { delivery } = await readDelivery(EVERYWHERE, id);
    expect(delivery.blockers.map(({ code }) => code)).toEqual([
      "region_draining",
      "other_owner",
      "tenant_paused",
      "destination_disabled",
      "destination_paused",
      "no_worker",
      "gate",
      "breaker",
      "tenant_cap",
      "destination_cap",
      "rate",
      "not_due",
    ]);
    const byCode = new Map(delivery.blockers.map((blocker) => [blocker.code, blocker]));
    expect(byCode.get("region_draining")).toMatchObject({ reason: "switch", by: "user:ann", until: null });
    expect(byCode.get("other_owner")?.reason).toBe("the claims of its tenant belong to legacy");
    expect(byCode.get("tenant_paused")).toMatchObject({ reason: "customer asked", by: "user:bob" });
    expect(byCode.get("gate")?.reason).toBe('429 with Retry-After "60"');
    // What people have decided has no known end, so neither has the whole.
    expect(delivery.earliestAt).toBeNull();
  });

  test("the earliest time is that of the blocker that ends last", async () => {
    const id = await waiting();
    await sql(
      "SELECT sluice.shut_gate($1, NULL, 120000, clock_timestamp(), 'rate_limited', 429::smallint, NULL)",
      [destinationId],
    );
    await sql(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_reason = 'short one here',
              pause_until = clock_timestamp() + interval '10 seconds' WHERE id = $1`,
      [tenantId],
    );
    const { delivery, asOf } = await readDelivery(EVERYWHERE, id);
    expect(delivery.blockers.map(({ code }) => code)).toEqual(["tenant_paused", "gate"]);
    expect(delivery.earliestAt).toBe(delivery.blockers[1]?.until);
    expect(Date.parse(delivery.earliestAt ?? "") - Date.parse(asOf)).toBeGreaterThan(60_000);
  });

  test.each([
    [{ dueInSeconds: 60 }, ["not_due"]],
    [{ dueInSeconds: -1 }, []],
  ])("with nothing in the way but its time: %j", async (fields, codes) => {
    expect((await blockersOf(await waiting(fields))).map(({ code }) => code)).toEqual(codes);
  });

  test("the adaptive limit and the ramp behind a resume are named with their numbers", async () => {
    await waiting({ state: "leased" });
    const id = await waiting({ dueInSeconds: -100 });
    await sql(
      `INSERT INTO sluice.destination_state (destination_id, region, adaptive_limit, adaptive_why) VALUES ($1, 'us', 1, 'rate_limited')`,
      [destinationId],
    );
    await sql(
      "UPDATE sluice.destination SET resumed_at = clock_timestamp(), resume_share = 0.2 WHERE id = $1",
      [destinationId],
    );
    const blockers = await blockersOf(id);
    expect(blockers.map(({ code }) => code)).toEqual(["adaptive_limit", "resume_ramp"]);
    expect(blockers.map(({ reason }) => reason)).toEqual([
      "1 of 1 in flight, lowered by a gate",
      "resumed: 20 % of cap and rate for what was due before",
    ]);
  });

  test("LEASE-3 a leased one is in flight until its lease ends, and then waits to be taken back", async () => {
    const id = await waiting({ state: "leased" });
    expect(await blockersOf(id)).toMatchObject([{ code: "in_flight" }]);
    await sql("UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 second'");
    const { delivery } = await readDelivery(EVERYWHERE, id);
    expect(delivery.blockers).toMatchObject([{ code: "lease_expired" }]);
    expect(delivery.earliestAt).toBeNull();
  });
});

describe("what comes next", () => {
  test("is what the worker's own function gives, under the policy in force", async () => {
    const override = { maxFailures: 4, backoff: { baseMs: 1_000 } };
    await sql("UPDATE sluice.destination SET policy_override = $2 WHERE id = $1", [destinationId, override]);
    const id = await waiting({ state: "delayed" });
    const { next } = (await readDelivery(EVERYWHERE, id)).delivery;
    const state = {
      attempts: 1,
      failures: 0,
      rejections: 0,
      throttles: 1,
      throttledMs: 0,
      cycle: 1,
      consecutiveGates: 0,
    };
    const policy = resolvePolicy("routine", override);
    expect(next?.failed).toEqual(previewNextAttempts(state, policy, 10));
    expect(next?.throttled).toEqual(previewNextAttempts(state, policy, 10, "throttled"));
    expect(next?.failed.at(-1)).toMatchObject({ to: "dead", reason: "attempts_exhausted", attempt: 5 });
    expect(next?.policy).toMatchObject({ maxFailures: 4 });
  });

  test("a policy that cannot be used is said, not guessed", async () => {
    await sql("UPDATE sluice.destination SET policy_override = $2 WHERE id = $1", [
      destinationId,
      { maxFailures: "many" },
    ]);
    const id = await waiting();
    expect((await readDelivery(EVERYWHERE, id)).delivery.next).toEqual({
      policy: null,
      failed: [],
      throttled: [],
    });
  });
});

describe("annotations", () => {
  test("actions on it come always, those on its tenant, destination and region within its life, others never", async () => {
    const id = await waiting();
    const act = (kind: string, target: string, action: string, at: string) =>
      sql(
        `INSERT INTO sluice.operator_action (id, region, at, actor, actor_role, action, target_kind, target_id, reason, result, correlation_id)
         VALUES (gen_random_uuid(), 'us', clock_timestamp() + $4::interval, 'user:ann', 'operator', $3, $1, $2, 'a reason', 'done', $5)`,
        [kind, target, action, at, randomUUID()],
      );
    await act("tenant", toPublicId("ten", tenantId), "tenant.pause", "-1 hour");
    await act("delivery", id, "delivery.early", "-1 hour");
    await act("tenant", toPublicId("ten", tenantId), "tenant.resume", "1 second");
    await act("destination", toPublicId("dst", destinationId), "destination.limits", "2 seconds");
    await act("region", "us", "region.stop_claims", "3 seconds");
    await act("destination", toPublicId("dst", tenantId), "destination.other", "4 seconds");
    const { annotations } = await readDelivery(EVERYWHERE, id);
    expect(annotations.map(({ action }) => action)).toEqual([
      "delivery.early",
      "tenant.resume",
      "destination.limits",
      "region.stop_claims",
    ]);
  });
});
