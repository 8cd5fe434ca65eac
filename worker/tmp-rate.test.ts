import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";
let database: TestDatabase; let receiver: Receiver; let workers: TestWorker[] = [];
beforeAll(async () => { receiver = await createReceiver(); });
beforeEach(async () => { database = await createTestDatabase(); });
afterEach(async () => { await Promise.all(workers.map((w) => w.stop())); workers = []; receiver.reset(); await database.drop(); });
afterAll(() => receiver.close());
function over(t: number[], r: number, b: number) { let w = 0; for (let i = 0; i < t.length; i++) for (let j = i; j < t.length; j++) w = Math.max(w, ((j - i + 1 - b) / r) * 1000 - ((t[j] ?? 0) - (t[i] ?? 0))); return w; }
describe("measure", () => {
  it.each([1, 3])("%d", async (n) => {
    const tenantId = await makeTenant(database.pool);
    const cases = [[5, 1], [20, 1], [50, 1], [100, 1], [10, 10]] as const;
    for (const [r, b] of cases) {
      const destinationId = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/r${r}-${b}`, ratePerSecond: r, rateBurst: b, concurrencyLimit: 50 });
      await makeDeliveries(database.pool, { tenantId, destinationId, count: Math.min(5000, r * 12 + b) });
    }
    for (let k = 0; k < n; k++) workers.push(await startTestWorker(database));
    await new Promise((r) => setTimeout(r, 11000));
    for (const [r, b] of cases) {
      const at = receiver.requests({ destination: `r${r}-${b}`, limit: 5000 }).map((x) => x.arrivedAtMs);
      const t0 = at[0] ?? 0;
      const seen = at.filter((x) => x <= t0 + 10_000);
      const started = (await database.pool.query("SELECT (extract(epoch FROM a.started_at)*1000)::float8 ms FROM sluice.attempt a JOIN sluice.destination x ON x.id = a.destination_id WHERE x.url LIKE '%' || $1 ORDER BY 1", [`/ok/r${r}-${b}`])).rows.map((x) => x.ms);
      const q = await database.pool.query("SELECT (extract(epoch FROM a.started_at)*1000)::float8 ms, a.worker_id w, a.duration_ms d FROM sluice.attempt a JOIN sluice.destination x ON x.id = a.destination_id WHERE x.url LIKE '%' || $1 ORDER BY 1", [`/ok/r${r}-${b}`]);
      if (r === 5) console.log(q.rows.map((x, i) => `${Math.round(x.ms - (q.rows[i - 1]?.ms ?? x.ms))}${String(x.w).slice(-2)}`).join(" "), workers.map((w) => w.captured.lines().filter((l) => l.level !== 30).map((l) => l.event)).flat().join(","));
      console.log(`workers ${n} rate ${r} burst ${b}: ${seen.length} of ${b + r * 10} = ${(100 * seen.length / (b + r * 10)).toFixed(1)} %; worst at receiver ${over(seen, r, b).toFixed(2)} ms, starts ${over(started, r, b).toFixed(3)} ms`);
    }
    expect(1).toBe(1);
  }, 60000);
});
