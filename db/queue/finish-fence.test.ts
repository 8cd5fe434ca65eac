/** Only the holder of the standing lease token records, and only once. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  leaseRows,
  makePlace,
  openTransaction,
  outcomeOf,
  type Place,
  readAttempts,
  readRow,
  request,
  waitUntilBlocked,
} from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { type FinishRow, finish, MAX_FINISH_ROWS } from "./finish.ts";
import { returnExpiredLeases } from "./reconcile.ts";
import { keepStaleResult, type StaleResult } from "./stale-result.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

const FAILED: Partial<FinishRow> = {
  decision: "delayed",
  outcome: "server_error",
  status: 500,
  failure: true,
  delay_ms: 60_000,
};
const DEAD: Partial<FinishRow> = {
  decision: "dead",
  outcome: "rejected",
  reason: "rejected",
  status: 400,
  fingerprint: "fence",
};

async function leasedRow(lease: { untilInMs?: number } = {}): Promise<[string, string]> {
  const [id] = await makeDeliveries(database.pool, place);
  return [String(id), await leaseRows(database.pool, [String(id)], lease)];
}

async function expireLease(id: string): Promise<void> {
  await database.pool.query(
    "UPDATE sluice.delivery SET lease_until = clock_timestamp() - interval '1 ms' WHERE id = $1",
    [id],
  );
}

function staleOf(row: FinishRow): StaleResult {
  const { tenantId, destinationId, serviceClass, lane } = place;
  return { row, tenantId, destinationId, serviceClass, lane, cycle: 1, number: 1, dueMs: Date.now() };
}

describe("LEASE-2 the token fences every outcome (faults 14, 15)", () => {
  it("A stalls, B claims the row again and delivers: A's 500 changes nothing and is kept as a late result", async () => {
    const own = await makePlace(database.pool);
    const [id] = await makeDeliveries(database.pool, own);
    const workerId = randomUUID();
    const a = await claim(database.pool, request([{ ...own, wanted: 1 }], { workerId }));
    await expireLease(String(id));
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 1, dead: 0 });
    // The same worker claims its own lost row: its name is no fence, the token is.
    const b = await claim(database.pool, request([{ ...own, wanted: 1 }], { workerId }));
    expect(b.ids).toEqual([id]);
    const late = outcomeOf(String(id), a.token, { ...FAILED, worker_id: workerId });
    const before = await readRow(database.pool, "delivery", String(id));
    expect(await finish(database.pool, [late])).toEqual(new Map());
    expect(await readRow(database.pool, "delivery", String(id))).toEqual(before);
    expect((await finish(database.pool, [outcomeOf(String(id), b.token)])).size).toBe(1);
    expect(await finish(database.pool, [late])).toEqual(new Map());
    expect(await readRow(database.pool, "delivery_archive", String(id))).toMatchObject({
      state: "delivered",
      attempts: 2,
    });
    expect(await keepStaleResult(database.pool, staleOf(late))).toBe("stale");
    const kinds = (await readAttempts(database.pool, String(id))).map((attempt) => [
      attempt.kind,
      attempt.decision,
    ]);
    expect(kinds.sort()).toEqual([
      ["http", "delivered"],
      ["lease_expired", "delayed"],
      ["stale_result", "ignored"],
    ]);
  });

  it("a late finish that nobody has reclaimed yet is accepted", async () => {
    const [id, token] = await leasedRow({ untilInMs: -5_000 });
    expect((await finish(database.pool, [outcomeOf(id, token)])).size).toBe(1);
    expect(await returnExpiredLeases(database.pool)).toEqual({ returned: 0, dead: 0 });
    expect(await readRow(database.pool, "delivery_archive", id)).toMatchObject({ attempts: 1 });
  });

  it.each([FAILED, DEAD, {}])(
    "a finish after the reconciler took the row back is refused: %o",
    async (decision) => {
      const [id, token] = await leasedRow({ untilInMs: -5_000 });
      await returnExpiredLeases(database.pool);
      const before = await readRow(database.pool, "delivery", id);
      expect((await finish(database.pool, [outcomeOf(id, token, decision)])).size).toBe(0);
      expect(await readRow(database.pool, "delivery", id)).toEqual(before);
      expect(before).toMatchObject({ state: "delayed", lane: "first", attempts: 1 });
      expect(await readRow(database.pool, "dead_letter", id)).toBeUndefined();
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
    },
  );

  it("an unknown token and an unknown id return nothing and write nothing", async () => {
    const [id] = await leasedRow();
    const strangers = [outcomeOf(id, randomUUID()), outcomeOf(randomUUID(), randomUUID(), DEAD)];
    expect((await finish(database.pool, strangers)).size).toBe(0);
    for (const row of strangers) {
      expect(await readAttempts(database.pool, row.id)).toEqual([]);
      expect(await readRow(database.pool, "dead_letter", row.id)).toBeUndefined();
    }
  });
});

describe("a finish whose reply was lost", () => {
  it.each([FAILED, DEAD, {}])(
    "is recorded once, and the repeat is known by its token: %o",
    async (decision) => {
      const [id, token] = await leasedRow();
      const row = outcomeOf(id, token, decision);
      expect((await finish(database.pool, [row])).size).toBe(1);
      expect((await finish(database.pool, [row])).size).toBe(0);
      expect(await keepStaleResult(database.pool, staleOf(row))).toBe("repeat");
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
      expect(await readRow(database.pool, "delivery_all", id)).toMatchObject({ attempts: 1 });
    },
  );

  it("a late result after the reconciler is stale, not a repeat: the lost lease is no result", async () => {
    const [id, token] = await leasedRow({ untilInMs: -5_000 });
    await returnExpiredLeases(database.pool);
    const row = outcomeOf(id, token, { ...FAILED, error_code: "E", error_detail: "late" });
    expect(await keepStaleResult(database.pool, staleOf(row))).toBe("stale");
    expect(await keepStaleResult(database.pool, staleOf(row))).toBe("repeat");
    const stale = (await readAttempts(database.pool, id)).find((attempt) => attempt.kind === "stale_result");
    expect(stale).toMatchObject({
      id: row.attempt_id,
      lease_token: token,
      outcome: "stale_result",
      reason: "server_error",
      decision: "ignored",
      status: 500,
      error_code: "E",
      error_detail: "late",
    });
  });
});

describe("only rows that the statement itself changed are recorded", () => {
  it.each([FAILED, DEAD, {}])(
    "a row that another transaction changes meanwhile is left to the next call: %o",
    async (decision) => {
      const [id, token] = await leasedRow();
      const [free, freeToken] = await leasedRow();
      const other = await openTransaction(database.pool);
      await other.client.query("UPDATE sluice.delivery SET traceparent = repeat('c', 55) WHERE id = $1", [
        id,
      ]);
      const rows = [outcomeOf(id, token, decision), outcomeOf(free, freeToken)];
      const waiting = finish(database.pool, rows);
      await waitUntilBlocked(database.pool, "sluice.finish");
      await other.commit();
      expect([...(await waiting).keys()]).toEqual([free]);
      expect(await readAttempts(database.pool, id)).toEqual([]);
      expect(await readRow(database.pool, "delivery_archive", id)).toBeUndefined();
      expect(await readRow(database.pool, "dead_letter", id)).toBeUndefined();
      expect(await readRow(database.pool, "delivery", id)).toMatchObject({
        state: "leased",
        lease_token: token,
      });
      expect([...(await finish(database.pool, rows)).keys()]).toEqual([id]);
      expect(await readAttempts(database.pool, id)).toHaveLength(1);
    },
  );

  it("a row that the reconciler takes back while finish waits is not recorded", async () => {
    const [id, token] = await leasedRow({ untilInMs: -5_000 });
    const reconciler = await openTransaction(database.pool);
    expect(await returnExpiredLeases(reconciler.client)).toEqual({ returned: 1, dead: 0 });
    const waiting = finish(database.pool, [outcomeOf(id, token)]);
    await waitUntilBlocked(database.pool, "sluice.finish");
    await reconciler.commit();
    expect((await waiting).size).toBe(0);
    expect(await readRow(database.pool, "delivery", id)).toMatchObject({
      state: "delayed",
      attempts: 1,
      lost_leases: 1,
    });
    expect(await readRow(database.pool, "delivery_archive", id)).toBeUndefined();
  });

  it("a finish that waits for one that is rolled back records the row itself", async () => {
    const [id, token] = await leasedRow();
    const first = await openTransaction(database.pool);
    expect((await finish(first.client, [outcomeOf(id, token)])).size).toBe(1);
    const second = finish(database.pool, [outcomeOf(id, token, FAILED)]);
    await waitUntilBlocked(database.pool, "sluice.finish");
    await first.rollback();
    expect((await second).size).toBe(1);
    expect(await readAttempts(database.pool, id)).toMatchObject([{ status: 500 }]);
  });

  it("two finishes of the same rows at once record each row once", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 40 });
    const token = await leaseRows(database.pool, ids);
    const rows = ids.map((id, index) => outcomeOf(id, token, [{}, FAILED, DEAD][index % 3]));
    const [one, two] = await Promise.all([finish(database.pool, rows), finish(database.pool, rows)]);
    expect([...one.keys(), ...two.keys()].sort()).toEqual(ids);
    expect(await countRows(database.pool, "attempt WHERE delivery_id = ANY($1)", [ids])).toBe(40);
  });
});

describe("batches", () => {
  it("records a mixed batch of 250, each row by its own decision, and says which were not ours", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: MAX_FINISH_ROWS });
    const token = await leaseRows(database.pool, ids);
    const decisions: Partial<FinishRow>[] = [{}, FAILED, DEAD, { ...FAILED, lease_token: randomUUID() }];
    const rows = ids.map((id, index) => outcomeOf(id, token, decisions[index % decisions.length]));
    const recorded = await finish(database.pool, rows);
    expect([...recorded.keys()].sort()).toEqual(ids.filter((_, index) => index % 4 !== 3));
    const of = (from: string, rest = "") =>
      countRows(database.pool, `${from} WHERE id = ANY($1) ${rest}`, [ids]);
    expect(await of("delivery_archive", "AND state = 'delivered'")).toBe(63);
    expect(await of("delivery", "AND state = 'delayed' AND lane = 'retry'")).toBe(63);
    expect(await of("dead_letter")).toBe(62);
    expect(await of("delivery", "AND state = 'leased'")).toBe(62);
    expect(await countRows(database.pool, "attempt WHERE delivery_id = ANY($1)", [ids])).toBe(188);
  });

  it("one row that Postgres refuses leaves the whole batch as it was, so that the caller can halve it", async () => {
    const ids = await makeDeliveries(database.pool, { ...place, count: 3 });
    const token = await leaseRows(database.pool, ids);
    const rows = ids.map((id, index) =>
      outcomeOf(id, token, index === 1 ? { ...DEAD, reason: "no such reason" } : {}),
    );
    await expect(finish(database.pool, rows)).rejects.toMatchObject({ code: "23514" });
    expect(await countRows(database.pool, "attempt WHERE delivery_id = ANY($1)", [ids])).toBe(0);
    expect((await finish(database.pool, [rows[0], rows[2]] as FinishRow[])).size).toBe(2);
  });

  it.each([{}, FAILED, DEAD])(
    "a row that stands twice in a batch is recorded once, also when the two disagree: %o",
    async (second) => {
      const [id, token] = await leasedRow();
      expect((await finish(database.pool, [outcomeOf(id, token), outcomeOf(id, token, second)])).size).toBe(
        1,
      );
      const attempts = await readAttempts(database.pool, id);
      expect(attempts).toHaveLength(1);
      const state = (await readRow(database.pool, "delivery_all", id))?.state;
      expect(state).toBe(attempts[0]?.decision);
      expect(await countRows(database.pool, "delivery_all WHERE id = $1", [id])).toBe(1);
    },
  );

  it("refuses more than 500 rows, takes none, and an empty batch is no error", async () => {
    const rows = Array.from({ length: 501 }, () => outcomeOf(randomUUID(), randomUUID()));
    await expect(finish(database.pool, rows)).rejects.toMatchObject({ code: "22023" });
    expect((await finish(database.pool, [])).size).toBe(0);
  });
});
