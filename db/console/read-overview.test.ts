/** The overview's numbers: the ages that the definitions ask for, the same everywhere, and never a zero for silence. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { rollUpSeries } from "#db/queue/roll-up-series.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { type RegionOverview, readOverview } from "./read-overview.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, addWorker, endDelivery } from "./test-rows.ts";

const HOUR_MS = 3_600_000;
/** Between an insert and the read of its age. */
const SLACK_MS = 20_000;

let regions: TestRegions;
let tenantId: string;
let destinationId: string;
/** Another tenant of the region. */
let other: { tenantId: string; destinationId: string };

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  tenantId = await addTenant(regions.us.pool, "us", "northwind");
  destinationId = await addDestination(regions.us.pool, "us", tenantId);
  const otherId = await addTenant(regions.us.pool, "us", "southwind");
  other = { tenantId: otherId, destinationId: await addDestination(regions.us.pool, "us", otherId) };
});

afterEach(async () => {
  await regions.us.pool.query(
    "TRUNCATE sluice.delivery, sluice.dead_letter, sluice.worker_process, sluice.destination_state, sluice.attempt, sluice.series_minute",
  );
  await regions.us.pool.query("UPDATE sluice.series_run SET rolled_at = 'epoch'");
  await regions.us.pool.query(
    "UPDATE sluice.tenant SET paused_at = NULL, pause_until = NULL, pause_reason = NULL, paused_by = NULL",
  );
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function overview(): Promise<RegionOverview> {
  const [answer] = (await readOverview(EVERYWHERE, ["us"])).regions;
  if (answer?.status !== "ok") throw new Error(answer?.detail ?? "no answer");
  return answer.data;
}

/** The age that the verdict is made of. */
function firstAge(data: RegionOverview): number {
  return data.verdict.firstAttempt.oldestMs;
}

function add(dueInSeconds: number, more: Partial<Parameters<typeof addDelivery>[2]> = {}) {
  return addDelivery(regions.us.pool, "us", { tenantId, destinationId, dueInSeconds, ...more });
}

describe("ages", () => {
  test("SIG-1 a row that is due in ten hours has no age and no lag, whenever it was created", async () => {
    await add(10 * 3_600);
    const data = await overview();
    expect(data.firstAttempt.map((row) => row.oldestMs)).toEqual([0, 0]);
    expect(data.due).toEqual({ count: 0, oldestMs: 0 });
    expect(data.ready).toBe(1);
  });

  test("SIG-1 ten rows that have been due for an hour show an hour, in the region and in the tenant's line", async () => {
    for (let index = 0; index < 10; index += 1) await add(-3_600);
    const data = await overview();
    for (const age of [firstAge(data), data.due.oldestMs, data.tenants[0]?.firstAttemptMs]) {
      expect(age).toBeGreaterThanOrEqual(HOUR_MS);
      expect(age).toBeLessThan(HOUR_MS + SLACK_MS);
    }
    expect(data.due.count).toBe(10);
    expect(data.verdict).toMatchObject({ level: "stopped", tenantsAffected: 1 });
  });

  test("a drained queue shows 0", async () => {
    const { id } = await add(-60, { state: "leased" });
    await endDelivery(regions.us.pool, id, "delivered");
    const data = await overview();
    expect(data.firstAttempt.map((row) => row.oldestMs)).toEqual([0, 0]);
    expect([data.due.oldestMs, data.ready, data.delayed, data.inFlight]).toEqual([0, 0, 0, 0]);
    expect(data.tenants).toEqual([]);
  });

  test("a leased first attempt still counts in the first-attempt age, and no longer in the due lag", async () => {
    await add(-30, { state: "leased" });
    const data = await overview();
    expect(firstAge(data)).toBeGreaterThanOrEqual(30_000);
    expect(data.due.count).toBe(0);
    expect(data.inFlight).toBe(1);
  });

  test("work that a pause holds stands apart with its own age and is in neither lag", async () => {
    await add(-120);
    await regions.us.pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour',
              pause_reason = 'maintenance', paused_by = 'test' WHERE id = $1`,
      [tenantId],
    );
    const data = await overview();
    expect(data.held).toMatchObject([{ why: "tenant_paused", count: 1 }]);
    expect(data.held[0]?.oldestMs).toBeGreaterThanOrEqual(120_000);
    expect(data.due.oldestMs).toBe(0);
    expect(firstAge(data)).toBe(0);
    expect(data.tenants[0]).toMatchObject({
      state: "paused",
      stateReason: "maintenance",
      held: { count: 1 },
    });
  });
});

test("open tabs that ask together share one scan of the live table, and the next question is a new one", async () => {
  const [first, second] = await Promise.all([
    readOverview(EVERYWHERE, ["us"]),
    readOverview(EVERYWHERE, ["us"]),
  ]);
  expect(first.regions[0]).toBe(second.regions[0]);
  expect((await readOverview(EVERYWHERE, ["us"])).regions[0]).not.toBe(first.regions[0]);
});

describe("verdict", () => {
  test("green needs a worker that reports: without one the region is stopped, whatever its ages", async () => {
    expect((await overview()).verdict.level).toBe("stopped");
    await addWorker(regions.us.pool, "us", { silentSeconds: 60 });
    expect((await overview()).verdict).toMatchObject({ level: "stopped", because: "no_worker" });
    await addWorker(regions.us.pool, "us");
    expect((await overview()).verdict.level).toBe("on_time");
  });

  test("SIG-5 a million planned rows would raise nothing, one overdue urgent row does", async () => {
    await addWorker(regions.us.pool, "us");
    for (let index = 0; index < 20; index += 1) await add(3_600 + index);
    expect((await overview()).verdict.level).toBe("on_time");
    await add(-16, { serviceClass: "urgent" });
    const { verdict } = await overview();
    expect(verdict).toMatchObject({ level: "late", because: "first_attempt", tenantsAffected: 1 });
    expect(verdict.firstAttempt).toMatchObject({ serviceClass: "urgent", targetMs: 15_000 });
  });
});

describe("dead letters", () => {
  test("count and oldest are those that wait for a person", async () => {
    const first = await add(-1, { state: "leased" });
    const second = await add(-1, { state: "leased" });
    for (const { id } of [first, second]) await endDelivery(regions.us.pool, id, "dead");
    await regions.us.pool.query(
      "UPDATE sluice.dead_letter SET will_not_replay_at = clock_timestamp(), will_not_replay_reason = 'known' WHERE id = $1",
      [second.id],
    );
    const data = await overview();
    expect(data.deadLetters).toMatchObject({ count: 1, added: 1 });
    expect(data.deadLetters.oldestMs).toBeLessThan(SLACK_MS);
    expect(data.tenants[0]?.deadLetters.count).toBe(1);
  });
});

describe("the last minutes", () => {
  /** Attempts of now, counted. */
  async function tried(
    count: number,
    lateMs: number,
    outcome = "delivered",
    kind = "http",
    whose = { tenantId, destinationId },
  ): Promise<void> {
    await regions.us.pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                   due_at, started_at, duration_ms, outcome, decision)
       SELECT gen_random_uuid(), 'us', gen_random_uuid(), $1, $2, 'routine', 'first', 1, $6, 1, gen_random_uuid(),
              m.at - $3::integer * interval '1 millisecond', m.at, 40, $4, CASE WHEN $4 = 'delivered' THEN 'delivered' ELSE 'delayed' END
         FROM (SELECT clock_timestamp() AS at) m, generate_series(1, $5)`,
      [whose.tenantId, whose.destinationId, lateMs, outcome, count, kind],
    );
    await rollUpSeries(regions.us.pool, 0);
  }

  test("SIG-1 SIG-2 p95, 429 share, delivered, expired leases, of the region and of the tenant's line", async () => {
    await add(3_600);
    await tried(90, 40);
    await tried(10, 100_000, "rate_limited");
    await tried(2, 0, "lease_expired", "lease_expired");
    const data = await overview();
    expect(data.recent).toMatchObject({
      rateLimitedShare: 0.1,
      requests: 100,
      expiredLeases: 2,
      deliveredLastHour: 90,
      firstAttemptP95: { serviceClass: "routine", targetMs: 120_000 },
    });
    for (const ms of [data.recent.firstAttemptP95?.ms, data.tenants[0]?.firstAttemptP95Ms]) {
      expect(ms).toBeGreaterThan(90_000);
      expect(ms).toBeLessThanOrEqual(100_000);
    }
    expect(data.tenants[0]).toMatchObject({ rateLimitedShare: 0.1, limit: 100 });
    expect(data.tenants[0]?.lastDeliveredAt).not.toBeNull();
    expect(data.trends.expiredLeases.reduce<number>((sum, value) => sum + (value ?? 0), 0)).toBe(2);
    expect(data.trends.oldestMs).toHaveLength(60);
  });

  test("who is noisy is told by requests, 429 answers and slots beside the fair share, of the tenants in scope alone", async () => {
    await add(3_600);
    await tried(90, 40);
    await tried(30, 40, "rate_limited");
    const alone = await overview();
    expect(alone.noise).toEqual({ verdict: "nobody", minutes: 5, tenants: [] });
    await tried(30, 40, "delivered", "http", other);
    await addWorker(regions.us.pool, "us");
    for (let index = 0; index < 4; index += 1) await add(-1, { state: "leased" });
    const { noise, tenants, slots } = await overview();
    expect(noise).toMatchObject({
      verdict: "noisy",
      tenants: [
        {
          slug: "northwind",
          requests: 120,
          rateLimitedShare: 0.25,
          inFlight: 4,
          shares: { ofRequests: 0.8, ofSlots: 4 / slots, ofRateLimited: 1, fair: 0.5 },
        },
      ],
    });
    expect(noise.tenants[0]?.because).toEqual(expect.arrayContaining(["requests", "rate_limited"]));
    expect(tenants.map(({ requestShare }) => requestShare)).toEqual([0.8]);
    const [mine] = (await readOverview({ us: [other.tenantId] }, ["us"])).regions;
    expect(mine?.status === "ok" && mine.data.noise).toEqual({
      verdict: "too_little",
      minutes: 5,
      tenants: [],
    });
  });

  test("nothing tried is no data, not zero", async () => {
    const { recent, triedShares, amplification } = await overview();
    expect(recent).toMatchObject({ firstAttemptP95: null, rateLimitedShare: null });
    expect(triedShares.map(({ share }) => share)).toEqual([null, null]);
    expect(amplification).toBeNull();
  });

  test("SIG-4 the share tried in time is exact, counts what still waits as missed, and holds nobody's pause against it", async () => {
    await tried(7, 120_000);
    await tried(1, 120_001);
    await add(-121);
    // In time for as long as this test may take.
    await add(-60);
    const routine = async () => (await overview()).triedShares.find((row) => row.serviceClass === "routine");
    expect(await routine()).toMatchObject({ tried: 8, within: 7, waitingLate: 1, share: 7 / 9 });
    await regions.us.pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour', pause_reason = 'x' WHERE id = $1`,
      [tenantId],
    );
    expect(await routine()).toMatchObject({ waitingLate: 0, share: 7 / 8 });
  });

  test("SIG-4 the lag of delayed attempts is told apart from the lag of all due work", async () => {
    await add(-500);
    await add(-30, { state: "delayed" });
    const data = await overview();
    expect(data.due.count).toBe(2);
    expect(data.delayedLag.count).toBe(1);
    expect(data.delayedLag.oldestMs).toBeGreaterThanOrEqual(30_000);
    expect(data.delayedLag.oldestMs).toBeLessThan(30_000 + SLACK_MS);
    expect(data.due.oldestMs).toBeGreaterThanOrEqual(500_000);
  });
});

describe("a tenant's state", () => {
  test.each([
    ["hold_until = clock_timestamp() + interval '1 hour', hold_why = 'rate_limited'", "rate_limited", true],
    ["breaker = 'open', breaker_until = clock_timestamp() + interval '1 minute'", "circuit_open", true],
    ["adaptive_limit = 2", "limited", false],
    ["adaptive_limit = 2, adaptive_pinned = true", "active", false],
  ])("%s is %s", async (columns, state, ends) => {
    await add(-60);
    await regions.us.pool.query(
      "INSERT INTO sluice.destination_state (destination_id, region) VALUES ($1, 'us')",
      [destinationId],
    );
    await regions.us.pool.query(`UPDATE sluice.destination_state SET ${columns}`);
    const [line] = (await overview()).tenants;
    expect(line?.state).toBe(state);
    expect(line?.stateUntil !== null).toBe(ends);
  });
});
