/** How a region runs: claims, workers, leases and lanes as they stand in the rows; under scopes, and when it does not answer. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERYWHERE } from "#domain/permissions.ts";
import { FIRST_AGE_BOUNDS_MS } from "#domain/series.ts";
import { contextOf, REASON } from "#tests/support/command-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { startClaims } from "./commands/start-claims.ts";
import { stopClaims } from "./commands/stop-claims.ts";
import { type RegionHealth, readRegions } from "./read-regions.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, addWorker } from "./test-rows.ts";

let regions: TestRegions;
let bank: string;
let shop: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  bank = await addTenant(pool, "us", "bank");
  shop = await addTenant(pool, "us", "shop");
  for (const [tenantId, count] of [
    [bank, 3],
    [shop, 1],
  ] as const) {
    const destinationId = await addDestination(pool, "us", tenantId);
    for (let index = 0; index < count; index += 1) {
      await addDelivery(pool, "us", { tenantId, destinationId, dueInSeconds: -1, state: "leased" });
    }
    await addDelivery(pool, "us", { tenantId, destinationId, dueInSeconds: -1 });
  }
});
beforeEach(() => regions.us.pool.query("TRUNCATE sluice.worker_process, sluice.series_minute"));
afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function us(access = EVERYWHERE): Promise<RegionHealth> {
  const answer = (await readRegions(access, ["us"])).regions[0];
  if (answer?.status !== "ok") throw new Error("us did not answer");
  return answer.data;
}

async function version(): Promise<number> {
  return (await us()).claims.version;
}

describe("CTL-1 claims and drain", () => {
  it("on, then stopped with who and why and the leases that are left, then on again", async () => {
    expect((await us()).claims).toMatchObject({ state: "on", owner: "sluice", handedOver: 0 });
    expect((await us()).leases).toMatchObject({ held: 4, expired: 0, drained: null });
    await stopClaims(contextOf(regions.us), { version: await version(), reason: REASON });
    const stopped = await us();
    expect(stopped.claims).toMatchObject({ state: "stopped", by: "user:ann", reason: REASON });
    expect(stopped.leases).toMatchObject({ held: 4, drained: false });
    expect(Date.parse(stopped.leases.lastUntil ?? "")).toBeGreaterThan(Date.now());
    await startClaims(contextOf(regions.us), { version: await version(), reason: REASON });
    expect((await us()).claims.state).toBe("on");
  });

  it("partial while another owner has some tenants", async () => {
    const { pool } = regions.us;
    await pool.query("UPDATE sluice.tenant SET claim_owner = 'legacy' WHERE id = $1", [shop]);
    expect((await us()).claims).toMatchObject({ state: "partial", handedOver: 1 });
    expect((await us({ us: [bank] })).claims).toMatchObject({ state: "on", handedOver: 0 });
    await pool.query("UPDATE sluice.tenant SET claim_owner = 'sluice' WHERE id = $1", [shop]);
  });
});

describe("workers and lanes", () => {
  it("those that report, those that drain and those that are not heard of; slots of the first only", async () => {
    const { pool } = regions.us;
    await addWorker(pool, "us");
    await addWorker(pool, "us", { silentSeconds: 60 });
    await addWorker(pool, "us");
    await pool.query(
      "UPDATE sluice.worker_process SET state = 'stopping' WHERE id = (SELECT max(id::text)::uuid FROM sluice.worker_process WHERE heartbeat_at > now() - interval '30 seconds')",
    );
    const health = await us();
    expect(health.workers.map(({ state }) => state).sort()).toEqual(["running", "silent", "stopping"]);
    expect({ slots: health.slots, workerCount: health.workerCount }).toEqual({ slots: 16, workerCount: 3 });
    expect(health.lanes).toEqual([
      { lane: "first", inFlight: 4, slots: 16 },
      { lane: "retry", inFlight: 0, slots: 6 },
      { lane: "replay", inFlight: 0, slots: 1 },
    ]);
  });

  it("REG-3 work is that of the scope's tenants; leases that a drain waits for are everybody's", async () => {
    const narrow = await us({ us: [shop] });
    expect(narrow.lanes[0]).toMatchObject({ inFlight: 1 });
    expect(narrow.leases.held).toBe(4);
    expect((await readRegions({ us: [shop] })).regions.map(({ region }) => region)).toEqual(["us"]);
    await expect(readRegions({ us: null }, ["eu"])).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("SIG-2 lateness, rate and lost leases", () => {
  it("are of the minutes that were counted, and no data is not a zero", async () => {
    const empty = await us();
    expect(empty.requestsPerSecond).toBeNull();
    expect(empty.lag.counts.reduce((sum, n) => sum + n, 0)).toBe(0);
    await regions.us.pool.query(
      `INSERT INTO sluice.series_minute
         (minute, tenant_id, destination_id, service_class, region, requests, delivered, rate_limited, permanent, server_error, network, blocked,
          leases_expired, died, first_ages, first_age_max_ms, services, service_max_ms, ends, end_attempts, gaps)
       SELECT date_trunc('minute', clock_timestamp()) - interval '2 minutes', t, NULL, 'routine', 'us', 600, 600, 0, 0, 0, 0, 0, n, 0,
              array_fill(n, ARRAY[$1::integer]), 9000, '{}', 0, '{}', 0, '{}'
         FROM (VALUES (NULL::uuid, 2), ($2::uuid, 1)) v (t, n)`,
      [FIRST_AGE_BOUNDS_MS.length + 1, shop],
    );
    const all = await us();
    expect(all.requestsPerSecond).toBe(2);
    expect(all.expiredLeases.count).toBe(2);
    expect(all.lag).toMatchObject({ maxMs: 9_000, counts: FIRST_AGE_BOUNDS_MS.map(() => 2).concat(2) });
    const narrow = await us({ us: [shop] });
    expect(narrow.expiredLeases.count).toBe(1);
    expect(narrow.lag.counts[0]).toBe(1);
  });
});

describe("the database", () => {
  it("says its connections, and that the daily partitions are there", async () => {
    const { database, partitions } = await us();
    expect(database.pool.max).toBeGreaterThan(0);
    expect(database.connections).toBeGreaterThan(0);
    expect(database.connectionsMax).toBeGreaterThan(database.connections);
    expect(partitions.map(({ parent, hasDefault, missing }) => [parent, hasDefault, missing])).toEqual([
      ["payload", true, []],
      ["attempt", true, []],
      ["delivery_archive", true, []],
    ]);
  });

  it("a region that does not answer is unavailable, never idle", async () => {
    await pointConsoleAt({ us: regions.us.connectionString, eu: "postgres://127.0.0.1:9/none" });
    const [first, second] = (await readRegions(EVERYWHERE)).regions;
    expect([first?.status, second?.status]).toEqual(["ok", "unavailable"]);
    await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  });
});
