/**
 * A large region's answers from the sums that its workers keep: the same numbers as from the rows, of the moment that they
 * name, and never from sums that are too old. On a real server with as many rows as it takes.
 */
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { KEPT_FROM_ROWS, sampleQueueAge } from "#db/queue/sample-queue-age.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listTenants } from "./list-tenants.ts";
import { readOverview } from "./read-overview.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDestination, addTenant } from "./test-rows.ts";

const TENANTS = ["northwind", "fabrikam", "contoso"] as const;

let regions: TestRegions;
const tenantIds: string[] = [];

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  const places: string[] = [];
  for (const slug of TENANTS) {
    const tenantId = await addTenant(pool, "us", slug);
    tenantIds.push(tenantId);
    places.push(await addDestination(pool, "us", tenantId), await addDestination(pool, "us", tenantId));
  }
  await pool.query(
    `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour', pause_reason = 'maintenance',
            paused_by = 'test' WHERE slug = 'contoso'`,
  );
  // One destination of fabrikam is behind a gate, and one in ten rows is due.
  await pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, hold_until, hold_set_at, hold_why, hold_status, probing)
     VALUES ($1, 'us', clock_timestamp() + interval '1 hour', clock_timestamp(), 'rate_limited', 429, false)`,
    [places[3]],
  );
  await pool.query(
    `INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class,
                                  first_due_at, due_at)
     SELECT gen_random_uuid(), 'us', ($2::uuid[])[1 + n % 3], ($3::uuid[])[1 + 2 * (n % 3) + n / 3 % 2], gen_random_uuid(), 2, 'hold.released',
            'k-' || n, (CASE WHEN n % 4 = 0 THEN 'urgent' ELSE 'routine' END)::sluice.service_class, m.due, m.due
       FROM generate_series(1, $1::integer) n
      CROSS JOIN LATERAL (SELECT clock_timestamp() + CASE WHEN n % 10 = 0 THEN -n % 500 - 1 ELSE 36000 END * interval '1 second' AS due) m`,
    [KEPT_FROM_ROWS, tenantIds, places],
  );
});

afterEach(() => regions.us.pool.query("TRUNCATE sluice.queue_now, sluice.sample_run, sluice.queue_sample"));

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function overviewOfUs() {
  // Not the answer that is kept of the question before.
  (globalThis as { sluiceSnapshots?: Map<string, unknown> }).sluiceSnapshots?.clear();
  const [answer] = (await readOverview(EVERYWHERE, ["us"])).regions;
  if (answer?.status !== "ok") throw new Error(answer?.detail ?? "no answer");
  return answer;
}

async function tenantsOfUs() {
  const page = await listTenants(EVERYWHERE, { regions: ["us"], sort: "name", limit: 10 });
  const [answer] = page.regions;
  if (answer?.status !== "ok") throw new Error(answer?.detail ?? "no answer");
  return { asOf: answer.asOf, rows: page.rows };
}

/** The same with every age taken back to the instant that it counts from: two looks are at two moments. */
function instants(value: unknown, asOf: string): unknown {
  if (Array.isArray(value)) return value.map((one) => instants(one, asOf));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      typeof one === "number" && one > 0 && /(oldest|firstAttempt)Ms$/.test(key)
        ? Math.round((Date.parse(asOf) - one) / 100)
        : instants(one, asOf),
    ]),
  );
}

async function keptMoment(): Promise<string | undefined> {
  const { rows } = await regions.us.pool.query<{ at: Date }>("SELECT max(at) AS at FROM sluice.queue_now");
  return rows[0]?.at?.toISOString();
}

test("SIG-1 from the kept sums an overview and a list say the same as from the rows, and their asOf is the moment of the sums", async () => {
  const live = { overview: await overviewOfUs(), tenants: await tenantsOfUs() };
  expect(live.overview.data).toMatchObject({ pausedTenants: 1, due: { count: expect.any(Number) } });
  await sampleQueueAge(regions.us.pool, "class");
  const moment = await keptMoment();
  expect(moment).toBeDefined();
  let overview = await overviewOfUs();
  await vi.waitFor(async () => {
    // A read that keeps the first answer warm may have been under way.
    overview = await overviewOfUs();
    expect(overview.asOf).toBe(moment);
  });
  // What the sampling itself has left behind is new in the second look.
  const plain = ({ lastSampleAt: _sample, trends: _trends, ...rest }: typeof overview.data) => rest;
  expect(instants(plain(overview.data), overview.asOf)).toEqual(
    instants(plain(live.overview.data), live.overview.asOf),
  );
  expect(overview.data.ready).toBe(KEPT_FROM_ROWS);
  expect(overview.data.held).toMatchObject([{ why: "tenant_paused" }]);
  expect(overview.data.gated).toBeGreaterThan(0);
  const tenants = await tenantsOfUs();
  expect(tenants.asOf).toBe(moment);
  expect(instants(tenants.rows, tenants.asOf)).toEqual(instants(live.tenants.rows, live.tenants.asOf));
});

test("sums that are older than the limit are never used: the rows are counted", async () => {
  const { pool } = regions.us;
  await sampleQueueAge(pool, "class");
  await pool.query("UPDATE sluice.queue_now SET at = at - interval '10 seconds', ready = ready + 1000");
  const moment = await keptMoment();
  const overview = await overviewOfUs();
  expect(Date.parse(overview.asOf)).toBeGreaterThan(Date.parse(moment ?? ""));
  expect(overview.data.ready).toBe(KEPT_FROM_ROWS);
});

test("a region with fewer rows keeps no sums, and what was kept before goes with the next sampling", async () => {
  const { pool } = regions.us;
  await sampleQueueAge(pool, "class");
  await pool.query("DELETE FROM sluice.delivery WHERE idempotency_key = 'k-1'");
  await pool.query("UPDATE sluice.queue_now SET at = at - interval '1 minute'");
  await pool.query("TRUNCATE sluice.sample_run, sluice.queue_sample");
  await sampleQueueAge(pool, "class");
  expect(await keptMoment()).toBeUndefined();
  expect((await overviewOfUs()).data.ready).toBe(KEPT_FROM_ROWS - 1);
});
