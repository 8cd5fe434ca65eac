/**
 * Outcomes in batches on a real database: nothing is acknowledged before its commit, a lost answer leads to no second
 * record, one bad row does not take its neighbours along, and a database that is away is waited for.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { claim } from "#db/queue/claim.ts";
import type { FinishRow } from "#db/queue/finish.ts";
import { type ClaimedDelivery, readClaimed } from "#db/queue/read-claimed.ts";
import { returnExpiredLeases } from "#db/queue/reconcile.ts";
import { postgresStore } from "#db/queue/store.ts";
import { uuidV7 } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { type DatabaseProxy, startProxy } from "#tests/support/worker-proxy.ts";
import { countDeliveries, expireLeases, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { type CapturedLog, captureLog } from "#tests/support/worker-run.ts";
import { FinishBatcher, type FinishResult } from "./finish-batcher.ts";

const WORKER_ID = randomUUID();

let database: TestDatabase;
let proxy: DatabaseProxy;
let pool: Pool;
let captured: CapturedLog;
let batcher: FinishBatcher;

beforeEach(async () => {
  database = await createTestDatabase();
  proxy = await startProxy(database.connectionString);
  pool = createPool({ connectionString: proxy.connectionString, max: 4, applicationName: "batcher-test" });
  captured = captureLog();
  batcher = new FinishBatcher(postgresStore(pool), captured.log);
});
afterEach(async () => {
  batcher.giveUp();
  await pool.end();
  await proxy.close();
  await database.drop();
});

async function claimed(count: number): Promise<ClaimedDelivery[]> {
  const tenantId = await makeTenant(database.pool, { concurrencyLimit: 1_000 });
  const destinationId = await makeDestination(database.pool, tenantId, { concurrencyLimit: 1_000 });
  await makeDeliveries(database.pool, { tenantId, destinationId, count });
  return claimAgain(tenantId, destinationId, count);
}

async function claimAgain(
  tenantId: string,
  destinationId: string,
  wanted: number,
): Promise<ClaimedDelivery[]> {
  const result = await claim(database.pool, {
    owner: "sluice",
    workerId: WORKER_ID,
    leaseMs: 30_000,
    maxBytes: 1_000_000,
    entries: [{ lane: "first", serviceClass: "routine", tenantId, destinationId, wanted }],
  });
  return readClaimed(database.pool, result.ids, result.token);
}

function row(delivery: ClaimedDelivery, more: Partial<FinishRow> = {}): FinishRow {
  return {
    id: delivery.id,
    lease_token: delivery.token,
    attempt_id: uuidV7(Date.now(), randomBytes),
    worker_id: WORKER_ID,
    started_ms: Date.now(),
    duration_ms: 5,
    outcome: "delivered",
    decision: "delivered",
    status: 200,
    sent: true,
    failure: false,
    opens_gate: true,
    content_type: "text/plain",
    body: Buffer.from("thanks").toString("base64"),
    body_bytes: 6,
    truncated: false,
    ...more,
  };
}

function record(delivery: ClaimedDelivery, more: Partial<FinishRow> = {}): Promise<FinishResult> {
  const { tenantId, destinationId, serviceClass, lane, cycle, dueMs } = delivery;
  return batcher.record(row(delivery, more), {
    tenantId,
    destinationId,
    serviceClass,
    lane,
    cycle,
    dueMs,
    number: delivery.attempts + 1,
  });
}

const events = () => captured.lines().map(({ event }) => event);

describe("a batch", () => {
  it("records many outcomes in few statements, each with its due time", async () => {
    const deliveries = await claimed(400);
    const results = await Promise.all(
      deliveries.map((delivery, n) =>
        n % 2 === 0
          ? record(delivery)
          : record(delivery, {
              decision: "delayed",
              reason: "server_error",
              outcome: "server_error",
              status: 500,
              failure: true,
              delay_ms: 60_000,
            }),
      ),
    );
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["recorded"]));
    expect(await countDeliveries(database.pool)).toMatchObject({ delivered: 200, delayed: 200, leased: 0 });
    const delayed = deliveries[1] as ClaimedDelivery;
    const { due_ms: dueMs } = await readDelivery(database.pool, delayed.id);
    expect(results[1]).toMatchObject({ kind: "recorded" });
    expect(Math.abs((results[1]?.kind === "recorded" ? results[1].dueMs : 0) - dueMs)).toBeLessThan(1);
  });

  it("LEASE-6 acknowledges nothing before its commit", async () => {
    const [delivery] = (await claimed(1)) as [ClaimedDelivery];
    const blocker = await database.pool.connect();
    await blocker.query("BEGIN");
    await blocker.query("SELECT 1 FROM sluice.delivery WHERE id = $1 FOR UPDATE", [delivery.id]);
    let settled = false;
    const result = record(delivery).finally(() => {
      settled = true;
    });
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rows.length === 1;
    });
    expect(settled).toBe(false);
    await blocker.query("COMMIT");
    blocker.release();
    expect(await result).toMatchObject({ kind: "recorded" });
    expect(await readDelivery(database.pool, delivery.id)).toMatchObject({ state: "delivered" });
  });

  it("a row that another transaction touched while the statement waited is recorded all the same", async () => {
    const deliveries = await claimed(3);
    const blocker = await database.pool.connect();
    await blocker.query("BEGIN");
    // A new row version: the statement that waits for it cannot see it any more.
    await blocker.query("UPDATE sluice.delivery SET last_outcome = 'touched' WHERE id = $1", [
      deliveries[0]?.id,
    ]);
    const results = Promise.all(deliveries.map((delivery) => record(delivery)));
    await waitFor(async () => {
      const { rows } = await database.pool.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return rows.length === 1;
    });
    await blocker.query("COMMIT");
    blocker.release();
    expect((await results).map(({ kind }) => kind)).toEqual(["recorded", "recorded", "recorded"]);
    expect((await countDeliveries(database.pool)).delivered).toBe(3);
  });
});

describe("an answer that is lost after the commit", () => {
  it("leads to a repeat: one attempt, one end", async () => {
    const deliveries = await claimed(5);
    const lost = proxy.loseAnswerTo("sluice-finish");
    const results = await Promise.all(deliveries.map((delivery) => record(delivery)));
    await lost;
    expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["repeat"]));
    for (const { id } of deliveries) {
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
      expect(await readDelivery(database.pool, id)).toMatchObject({ state: "delivered", attempts: 1 });
    }
    expect(events()).toContain("finish_retry");
    expect(events()).not.toContain("stale_result");
  });

  it("leads to a repeat for a delayed row too: its due time does not move twice", async () => {
    const [delivery] = (await claimed(1)) as [ClaimedDelivery];
    const lost = proxy.loseAnswerTo("sluice-finish");
    const result = await record(delivery, {
      decision: "delayed",
      reason: "network",
      outcome: "network",
      status: undefined,
      failure: true,
      delay_ms: 9_000,
    });
    await lost;
    expect(result.kind).toBe("repeat");
    expect(await readDelivery(database.pool, delivery.id)).toMatchObject({
      state: "delayed",
      attempts: 1,
      failures: 1,
    });
    const attempts = await readAttempts(database.pool, delivery.id);
    expect(attempts).toHaveLength(1);
    expect((await readDelivery(database.pool, delivery.id)).due_ms).toBe(attempts[0]?.next_due_ms);
  });
});

describe("a result that comes too late", () => {
  it("LEASE-2 fault 14: after the lease went to another claim it changes nothing and is kept once", async () => {
    const [delivery] = (await claimed(1)) as [ClaimedDelivery];
    await expireLeases(database.pool, [delivery.id]);
    await returnExpiredLeases(database.pool);
    const [again] = (await claimAgain(delivery.tenantId, delivery.destinationId, 1)) as [ClaimedDelivery];
    expect(
      await record(delivery, { outcome: "server_error", decision: "delayed", status: 500, delay_ms: 1 }),
    ).toEqual({ kind: "stale" });
    expect(await readDelivery(database.pool, delivery.id)).toMatchObject({
      state: "leased",
      attempts: 1,
      failures: 0,
    });
    expect(await record(again)).toMatchObject({ kind: "recorded" });
    expect(
      await record(delivery, { outcome: "server_error", decision: "delayed", status: 500, delay_ms: 1 }),
    ).toEqual({ kind: "repeat" });
    expect(await readDelivery(database.pool, delivery.id)).toMatchObject({ state: "delivered", attempts: 2 });
    const attempts = await readAttempts(database.pool, delivery.id);
    expect(attempts.map(({ kind, decision }) => `${kind} ${decision}`).sort()).toEqual([
      "http delivered",
      "lease_expired delayed",
      "stale_result ignored",
    ]);
  });

  it("holds up no fresh one: both are stored beside each other", async () => {
    const [late, fresh] = (await claimed(2)) as [ClaimedDelivery, ClaimedDelivery];
    await expireLeases(database.pool, [late.id]);
    await returnExpiredLeases(database.pool);
    const swallowed = proxy.swallowFrom("sluice-keep-stale");
    const kept = record(late);
    await swallowed;
    // Nobody answers for the late one yet.
    expect(await record(fresh)).toMatchObject({ kind: "recorded" });
    proxy.shut();
    proxy.open();
    expect(await kept).toEqual({ kind: "stale" });
  });

  it("with data that Postgres refuses is kept without it", async () => {
    const [late] = (await claimed(1)) as [ClaimedDelivery];
    await expireLeases(database.pool, [late.id]);
    await returnExpiredLeases(database.pool);
    expect(await record(late, { error_detail: "a\u0000b" })).toEqual({ kind: "stale" });
    expect((await readAttempts(database.pool, late.id)).map(({ kind }) => kind).sort()).toEqual([
      "lease_expired",
      "stale_result",
    ]);
  });

  it("LEASE-2 a lease that is over but was taken by nobody still takes its result", async () => {
    const [delivery] = (await claimed(1)) as [ClaimedDelivery];
    await expireLeases(database.pool, [delivery.id]);
    expect(await record(delivery)).toMatchObject({ kind: "recorded" });
    expect(await readDelivery(database.pool, delivery.id)).toMatchObject({ state: "delivered", attempts: 1 });
  });
});

describe("data that Postgres refuses", () => {
  it.each<[string, Partial<FinishRow>]>([
    ["a NUL in a text", { error_detail: "a\u0000b" }],
    ["half of a surrogate pair in a text", { content_type: "a\ud800b" }],
    ["more bytes than the column allows", { body: Buffer.alloc(20_000).toString("base64") }],
    ["a body that is no base64", { body: "%%%" }],
  ])(
    "%s stands alone: its neighbours are recorded, and it is too, without its evidence",
    async (_name, bad) => {
      const deliveries = await claimed(9);
      const results = await Promise.all(
        deliveries.map((delivery, n) => record(delivery, n === 4 ? bad : {})),
      );
      expect(new Set(results.map(({ kind }) => kind))).toEqual(new Set(["recorded"]));
      expect((await countDeliveries(database.pool)).delivered).toBe(9);
      const [attempt] = await readAttempts(database.pool, (deliveries[4] as ClaimedDelivery).id);
      expect(attempt).toMatchObject({ outcome: "delivered", status: 200, response_body: null });
      expect(attempt?.error_detail).toMatch(/could not be stored/);
      const [neighbour] = await readAttempts(database.pool, (deliveries[3] as ClaimedDelivery).id);
      expect(neighbour?.response_body?.toString()).toBe("thanks");
      expect(events().filter((event) => event === "evidence_refused")).toHaveLength(1);
    },
  );

  it("a row that cannot be stored at all is given up and keeps its lease; its neighbours are recorded", async () => {
    const deliveries = await claimed(4);
    const results = await Promise.all(
      deliveries.map((delivery, n) => record(delivery, n === 1 ? { status: 70_000 } : {})),
    );
    expect(results.map(({ kind }) => kind)).toEqual(["recorded", "lost", "recorded", "recorded"]);
    expect(await countDeliveries(database.pool)).toMatchObject({ delivered: 3, leased: 1 });
  });
});

describe("a database that is away", () => {
  it("is asked again until it answers", async () => {
    const deliveries = await claimed(3);
    proxy.shut();
    const results = Promise.all(deliveries.map((delivery) => record(delivery)));
    await waitFor(() => events().filter((event) => event === "finish_retry").length >= 3);
    proxy.open();
    expect((await results).map(({ kind }) => kind)).toEqual(["recorded", "recorded", "recorded"]);
    expect((await countDeliveries(database.pool)).delivered).toBe(3);
  });

  it("is given up when the process ends: the outcomes are lost, the leases stay for the reconciler", async () => {
    const deliveries = await claimed(3);
    proxy.shut();
    const results = Promise.all(deliveries.map((delivery) => record(delivery)));
    await waitFor(() => events().includes("finish_retry"));
    batcher.giveUp();
    expect((await results).map(({ kind }) => kind)).toEqual(["lost", "lost", "lost"]);
    expect(await countDeliveries(database.pool)).toMatchObject({ leased: 3 });
  });
});
