import { execSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { fillRows, HOUR_MS, leaseRows, makePlace, type Place } from "#tests/support/queue-rows/sql.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import { withQueueSession } from "./session.ts";
let database: TestDatabase;
beforeAll(async () => { database = await createTestDatabase(); });
afterAll(() => database.drop());
it("speed", async () => {
  const sql = execSync("git show HEAD:prisma/migrations/20261130000500_queue/migration.sql", { cwd: "/work/main" }).toString();
  const a = sql.indexOf("CREATE FUNCTION sluice.claim("); const b = sql.indexOf("$$;", a) + 3;
  await database.pool.query(sql.slice(a, b).replace("sluice.claim(", "sluice.claim_old("));
  const places: Place[] = [];
  for (let n = 0; n < 256; n++) places.push(await makePlace(database.pool, n % 8 === 0 ? { ratePerSecond: 10000, rateBurst: 1000 } : {}));
  for (const p of places) await fillRows(database.pool, p, 200, -HOUR_MS);
  await leaseRows(database.pool, await makeDeliveries(database.pool, { ...(places[0] as Place), count: 500 }));
  await database.pool.query("ANALYZE");
  const pool = createPool({ connectionString: withQueueSession(database.connectionString), max: 1, applicationName: "x" });
  const client = await pool.connect();
  for (const [entries, wanted] of [[256, 1], [64, 4], [8, 16]] as const) {
    const times: Record<string, number[]> = { claim: [], claim_old: [] };
    for (let k = 0; k < 120; k++) for (const f of ["claim", "claim_old"]) {
      const ps = places.slice(0, entries);
      const v = ["sluice", randomUUID(), 30000, 2 ** 25, ps.map(() => "first"), ps.map(() => "routine"), ps.map((p) => p.tenantId), ps.map((p) => p.destinationId), ps.map(() => wanted)];
      await client.query("BEGIN");
      const t = performance.now();
      await client.query({ name: `${f}`, text: `SELECT * FROM sluice.${f}($1,$2,$3,$4,$5::sluice.lane[],$6::sluice.service_class[],$7::uuid[],$8::uuid[],$9::integer[])`, values: v });
      times[f]?.push(performance.now() - t);
      await client.query("ROLLBACK");
    }
    for (const f of ["claim", "claim_old"]) { const s = (times[f] ?? []).slice(10).sort((x, y) => x - y); console.log(f, entries, wanted, "median", s[Math.floor(s.length / 2)]?.toFixed(2), "p20", s[Math.floor(s.length / 5)]?.toFixed(2)); }
  }
  client.release(); await pool.end();
}, 120000);
