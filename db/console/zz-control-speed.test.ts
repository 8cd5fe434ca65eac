import { afterAll, beforeAll, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { makeDestination, makeTenant } from "#tests/support/factories.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { readDestinationControlView } from "./read-destination-control.ts";
import { readRegionControlView } from "./read-region-control.ts";
import { readTenantControlView } from "./read-tenant-control.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
let regions: TestRegions;
beforeAll(async () => { regions = await createTestRegions(); await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString }); });
afterAll(async () => { await releaseConsole(); await regions.drop(); });
it("speed", async () => {
  const { pool } = regions.us;
  const tenant = await makeTenant(pool);
  const dest = await makeDestination(pool, tenant, { ratePerSecond: 50 });
  await pool.query(`INSERT INTO sluice.destination (id, region, tenant_id, name, url, secret_current) SELECT gen_random_uuid(), 'us', $1, 'x'||n, 'https://x', 'x' FROM generate_series(1, 300) n`, [tenant]);
  const ins = (t: string, d: string, n: number, due: string) => pool.query(`INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, first_due_at, due_at)
     SELECT gen_random_uuid(), 'us', ${t}, ${d}, gen_random_uuid(), 2, 'a.b', 'k'||g||random(), 'routine', clock_timestamp() ${due}, clock_timestamp() ${due} FROM generate_series(1, ${n}) g`);
  await ins(`'${tenant}'`, `'${dest}'`, 50_000, "- random() * interval '1 hour'");
  await pool.query(`INSERT INTO sluice.tenant (id, region, slug, name) SELECT gen_random_uuid(), 'us', 's'||n, 'n' FROM generate_series(1, 1000) n`);
  await pool.query(`INSERT INTO sluice.destination (id, region, tenant_id, name, url, secret_current) SELECT gen_random_uuid(), 'us', t.id, 'x'||n, 'https://x', 'x' FROM sluice.tenant t, generate_series(1, 10) n`);
  await pool.query(`INSERT INTO sluice.delivery (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, first_due_at, due_at)
     SELECT gen_random_uuid(), 'us', x.tenant_id, x.id, gen_random_uuid(), 2, 'a.b', 'k'||g, 'routine', clock_timestamp() + (random()-0.5) * interval '1 hour', clock_timestamp() + (random()-0.5) * interval '1 hour' FROM sluice.destination x, generate_series(1, 15) g`);
  await pool.query(`INSERT INTO sluice.attempt_rollup (minute, tenant_id, destination_id, service_class, outcome, decision, region, attempts, first_attempts, duration_sum_ms, duration_max_ms, duration_p95_ms)
    SELECT date_trunc('minute', clock_timestamp()) - m * interval '1 minute', x.tenant_id, x.id, 'routine', o, 'delayed', 'us', 1,0,0,0,0 FROM sluice.destination x, generate_series(0, 9) m, (VALUES ('delivered'),('rate_limited')) v(o)`);
  await pool.query(`INSERT INTO sluice.delivery_archive (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, service_class, created_at, first_due_at, due_at, state, attempts, failures, throttles, cycle)
    SELECT (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - g * interval '10 milliseconds') * 1000)::bigint), 12, '0') || '7000' || '8000' || substr(md5(g::text), 1, 12))::uuid, 'us', $1, CASE WHEN g % 3 = 0 THEN $2::uuid ELSE gen_random_uuid() END, gen_random_uuid(), 2, 'a.b', 'k'||g, 'routine', clock_timestamp(), clock_timestamp(), clock_timestamp(), 'delivered', 1,0,0,1 FROM generate_series(1, 300000) g`, [tenant, dest]);
  await pool.query(`INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token, due_at, started_at, duration_ms, outcome, decision)
    SELECT gen_random_uuid(), 'us', r.id, r.tenant_id, r.destination_id, 'routine', 'first', 1, 'http', 1, r.id, clock_timestamp(), clock_timestamp() - random() * interval '50 minutes', 5 + random()*100, 'delivered', 'delivered' FROM sluice.delivery_archive r`);
  await pool.query("ANALYZE");
  const time = async (name: string, work: () => Promise<unknown>) => {
    const all: number[] = [];
    for (let n = 0; n < 15; n++) { const at = performance.now(); await work(); all.push(performance.now() - at); }
    all.sort((a, b) => a - b);
    console.log(name, "median", Math.round(all[7] ?? 0), "max", Math.round(all[14] ?? 0));
  };
  const g = [{ role: "operator", regions: ["us"], tenantIds: null, canReveal: false, actions: null }] as never;
  await time("destination", () => readDestinationControlView(EVERYWHERE, g, { region: "us", id: toPublicId("dst", dest) }));
  await time("tenant", () => readTenantControlView(EVERYWHERE, g, { region: "us", id: toPublicId("ten", tenant) }));
  await time("region", () => readRegionControlView(EVERYWHERE, g, "us"));
  const q = await import("./control-queue.ts");
  const sql = (async (text: string, values: unknown[]) => (await pool.query(text, values)).rows) as never;
  const w = { tenantId: tenant, destinationId: dest };
  await time("waiting dest", () => q.readWaiting(sql, new Date(), w));
  await time("waiting tenant", () => q.readWaiting(sql, new Date(), { tenantId: tenant, destinationId: null }));
  await time("inflight", () => q.readInFlight(sql, w));
  await time("service", () => q.readServiceTime(sql, new Date(), w));
  await time("service tenant", () => q.readServiceTime(sql, new Date(), { tenantId: tenant, destinationId: null }));
  await time("throttle", () => q.readThrottleShare(sql, w));
  await time("select 1", () => pool.query("SELECT 1"));
  const ex = (async (text: string, values: unknown[]) => { const r = await pool.query("EXPLAIN (ANALYZE, BUFFERS) " + text, values); console.log(r.rows.map((x: Record<string, string>) => x["QUERY PLAN"]).join("\n")); return []; }) as never;
  await q.readWaiting(ex, new Date(), w);
  await q.readServiceTime(ex, new Date(), w);
  await q.readInFlight(ex, w).catch(() => 0);
  const view = await readDestinationControlView(EVERYWHERE, g, { region: "us", id: toPublicId("dst", dest) });
  console.log(JSON.stringify(view).slice(0, 1800));
}, 300_000);
