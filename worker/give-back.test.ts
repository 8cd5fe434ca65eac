/**
 * LEASE-6: what a process has leased and not sent goes back although the database is away for longer than a few tries take:
 * with the next turn, or at the end of a stop. Nothing of it counts as a lost lease.
 */
import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { claim } from "#db/queue/claim.ts";
import { postgresStore } from "#db/queue/store.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { type DatabaseProxy, startProxy } from "#tests/support/worker-proxy.ts";
import { countDeliveries, countLeases } from "#tests/support/worker-rows/sql.ts";
import { type CapturedLog, captureLog } from "#tests/support/worker-run.ts";
import { GiveBack } from "./give-back.ts";
import { systemTimers } from "./timers.ts";

const COUNT = 3;

let database: TestDatabase;
let proxy: DatabaseProxy;
let pool: Pool;
let captured: CapturedLog;
let back: GiveBack;
/** A claim of COUNT rows, as its owner knows it. */
let leased: { ids: readonly string[]; token: string };

beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.connectionString);
  pool = createPool({ connectionString: proxy.connectionString, max: 2, applicationName: "give-back-test" });
  captured = captureLog();
  back = new GiveBack(postgresStore(pool), systemTimers, captured.log);
  leased = await lease();
});
afterEach(async () => {
  await pool.end();
  await proxy.close();
  await database.drop();
});

async function lease(): Promise<{ ids: readonly string[]; token: string }> {
  const tenantId = await makeTenant(database.pool);
  const destinationId = await makeDestination(database.pool, tenantId, { concurrencyLimit: COUNT });
  await makeDeliveries(database.pool, { tenantId, destinationId, count: COUNT });
  const { ids, token } = await claim(database.pool, {
    owner: "sluice",
    workerId: randomUUID(),
    leaseMs: 60_000,
    maxBytes: 1_000_000,
    entries: [{ lane: "first", serviceClass: "routine", tenantId, destinationId, wanted: COUNT }],
    token: randomUUID(),
  });
  expect(ids).toHaveLength(COUNT);
  return { ids, token };
}

const events = () => captured.lines().map(({ event }) => event);

describe("rows that were not sent, while the database is away", () => {
  it("are owed, and go back with the next turn that reaches it", async () => {
    proxy.shut();
    await back.release(leased.ids, leased.token);
    await expect(back.giveBackOwed()).rejects.toThrow();
    expect(await countLeases(database.pool)).toBe(COUNT);
    proxy.open();
    await back.giveBackOwed();
    expect(await countDeliveries(database.pool)).toMatchObject({ ready: COUNT, leased: 0 });
    const { rows } = await database.pool.query("SELECT 1 FROM sluice.delivery WHERE lost_leases > 0");
    expect(rows).toEqual([]);
  });

  it("go back at the end of a stop when they were owed before it", async () => {
    proxy.shut();
    await back.release(leased.ids, leased.token);
    back.stop();
    const ended = back.atLast();
    proxy.open();
    await ended;
    expect(await countLeases(database.pool)).toBe(0);
    expect(events()).not.toContain("release_left");
  });

  it("are left to their leases when it stays away, and that is said, and no other lease is touched", async () => {
    proxy.shut();
    await back.release(leased.ids, leased.token);
    await back.atLast();
    expect(events()).toContain("release_left");
    expect(await countLeases(database.pool)).toBe(COUNT);
    proxy.open();
    // Another token is another lease: what is owed can only ever end its own.
    await back.release(leased.ids, randomUUID());
    expect(await countLeases(database.pool)).toBe(COUNT);
  });
});
