/** What a finish writes for each decision. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries } from "#tests/support/factories.ts";
import {
  countRows,
  databaseNowMs,
  leaseRows,
  makeBatch,
  makePlace,
  makeReplayRows,
  outcomeOf,
  type Place,
  readAttempts,
  readRow,
  request,
  timeOf,
} from "#tests/support/queue-rows/sql.ts";
import { claim } from "./claim.ts";
import { type FinishRow, finish } from "./finish.ts";

let database: TestDatabase;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  place = await makePlace(database.pool);
});

afterAll(() => database.drop());

/** One leased row of a lane, and its token. */
async function leasedRow(
  options: { lane?: "first" | "retry"; lostLeases?: number } = {},
): Promise<[string, string]> {
  const [id] = await makeDeliveries(database.pool, { ...place, ...options });
  return [String(id), await leaseRows(database.pool, [String(id)])];
}

const DELAYED: Partial<FinishRow> = {
  decision: "delayed",
  outcome: "server_error",
  reason: "server_error",
  status: 503,
  failure: true,
  delay_ms: 60_000,
};
const DEAD: Partial<FinishRow> = {
  decision: "dead",
  outcome: "rejected",
  reason: "rejected",
  status: 400,
  failure: true,
  rejection: true,
  fingerprint: "rejected:400:abc",
};
const ENVELOPE = [
  "id",
  "region",
  "tenant_id",
  "destination_id",
  "payload_id",
  "payload_bytes",
  "event_type",
  "idempotency_key",
  "traceparent",
  "service_class",
  "created_at",
  "first_due_at",
  "due_at",
  "cycle",
  "replay_batch_id",
] as const;

function envelopeOf(row: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(ENVELOPE.map((column) => [column, row?.[column]]));
}

describe("RETRY-2 delivered", () => {
  it("moves the row to the archive with its whole envelope, and stores the attempt", async () => {
    const [id, token] = await leasedRow({ lane: "retry" });
    await database.pool.query(
      "UPDATE sluice.delivery SET traceparent = repeat('a', 55), throttles = 2 WHERE id = $1",
      [id],
    );
    const before = await readRow(database.pool, "delivery", id);
    const startedMs = Math.floor(await databaseNowMs(database.pool));
    const row = outcomeOf(id, token, {
      started_ms: startedMs,
      duration_ms: 42,
      content_type: "text/plain",
      body_bytes: 2,
    });
    expect(await finish(database.pool, [row])).toEqual(new Map([[id, timeOf(before, "due_at")]]));
    expect(await readRow(database.pool, "delivery", id)).toBeUndefined();
    const archived = await readRow(database.pool, "delivery_archive", id);
    expect(envelopeOf(archived)).toEqual(envelopeOf(before));
    expect(archived).toMatchObject({
      state: "delivered",
      reason: null,
      attempts: 2,
      failures: 1,
      throttles: 2,
      last_outcome: "delivered",
      last_status: 204,
      first_attempt_at: new Date(startedMs),
    });
    expect(timeOf(archived, "finished_at")).toBeGreaterThanOrEqual(startedMs);
    const attempts = await readAttempts(database.pool, id);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]).toMatchObject({
      id: row.attempt_id,
      kind: "http",
      number: 2,
      lane: "retry",
      lease_token: token,
      worker_id: row.worker_id,
      outcome: "delivered",
      decision: "delivered",
      status: 204,
      duration_ms: 42,
      started_at: new Date(startedMs),
      due_at: before?.due_at,
      next_due_at: null,
      counted_failure: false,
      response_content_type: "text/plain",
      response_bytes: 2,
    });
  });

  it("ID-13 leaves payload and key where they are", async () => {
    const [id, token] = await leasedRow();
    await finish(database.pool, [outcomeOf(id, token)]);
    expect(await countRows(database.pool, "payload WHERE id = $1 AND body IS NOT NULL", [id])).toBe(1);
    expect(await countRows(database.pool, "delivery_key WHERE delivery_id = $1", [id])).toBe(1);
  });
});

describe("RETRY-3..6 delayed", () => {
  it("is due at the database's now plus the delay, in the retry lane, with counters and no lease", async () => {
    const [id, token] = await leasedRow({ lostLeases: 2 });
    const before = await databaseNowMs(database.pool);
    const recorded = await finish(database.pool, [outcomeOf(id, token, DELAYED)]);
    const after = await databaseNowMs(database.pool);
    const dueMs = recorded.get(id) ?? 0;
    expect(dueMs).toBeGreaterThanOrEqual(Math.floor(before) + 60_000);
    expect(dueMs).toBeLessThanOrEqual(after + 60_000);
    const row = await readRow(database.pool, "delivery", id);
    expect(row).toMatchObject({
      state: "delayed",
      lane: "retry",
      due_at: new Date(dueMs),
      attempts: 2,
      failures: 1,
      rejections: 0,
      throttles: 0,
      throttled_ms: 0,
      lost_leases: 0,
      last_outcome: "server_error",
      last_status: 503,
      lease_token: null,
      lease_until: null,
      leased_at: null,
      leased_by: null,
    });
    expect(row?.first_attempt_at).not.toBeNull();
    expect(row?.first_failure_at).not.toBeNull();
    const [attempt] = await readAttempts(database.pool, id);
    expect(attempt).toMatchObject({
      lane: "first",
      number: 2,
      delay_ms: 60_000,
      next_due_at: new Date(dueMs),
      counted_failure: true,
    });
  });

  it("a throttle adds its delay and spends no failure; the first attempt's and failure's times stay (fault 11)", async () => {
    const [id, token] = await leasedRow();
    const throttle = {
      ...DELAYED,
      outcome: "rate_limited",
      reason: "rate_limited",
      status: 429,
      failure: false,
      throttle: true,
    };
    await finish(database.pool, [outcomeOf(id, token, { ...throttle, delay_ms: 3_000, opens_gate: false })]);
    const first = await readRow(database.pool, "delivery", id);
    const again = await leaseRows(database.pool, [id]);
    await finish(database.pool, [outcomeOf(id, again, { ...throttle, delay_ms: 5_000, opens_gate: false })]);
    expect(await readRow(database.pool, "delivery", id)).toMatchObject({
      attempts: 2,
      failures: 0,
      throttles: 2,
      throttled_ms: 8_000,
      lane: "retry",
      first_attempt_at: first?.first_attempt_at,
      first_failure_at: first?.first_failure_at,
      first_due_at: first?.first_due_at,
    });
  });

  it("RETRY-7 stores how the delay came about", async () => {
    const [id, token] = await leasedRow();
    const evidence = {
      retry_after_raw: "999999",
      retry_after_read: "seconds",
      retry_after_asked_ms: 999_999_000,
      retry_after_clamped: "max",
      fallback: false,
      jitter_ms: 77,
      delay_ms: 86_400_077,
      error_code: "E",
      error_detail: "detail",
    } as const;
    await finish(database.pool, [outcomeOf(id, token, { ...DELAYED, ...evidence })]);
    expect((await readAttempts(database.pool, id))[0]).toMatchObject(evidence);
  });

  it("DLQ-6 a replay stays in the replay lane, and its attempt carries the batch", async () => {
    const batchId = await makeBatch(database.pool, "running");
    const [id] = await makeReplayRows(database.pool, place, batchId);
    const claimed = await claim(database.pool, request([{ ...place, lane: "replay", wanted: 1 }]));
    expect(claimed.ids).toEqual([id]);
    await finish(database.pool, [outcomeOf(String(id), claimed.token, DELAYED)]);
    expect(await readRow(database.pool, "delivery", String(id))).toMatchObject({
      lane: "replay",
      replay_batch_id: batchId,
      cycle: 2,
    });
    expect((await readAttempts(database.pool, String(id)))[0]).toMatchObject({
      replay_batch_id: batchId,
      lane: "replay",
      cycle: 2,
    });
  });
});

describe("RETRY-11 dead", () => {
  it("DLQ-1 moves the row to the dead letters with its whole envelope, its counters, reason and group", async () => {
    const [id, token] = await leasedRow({ lane: "retry" });
    await database.pool.query(
      "UPDATE sluice.delivery SET traceparent = repeat('b', 55), throttles = 4, throttled_ms = 9000, first_attempt_at = now() - interval '1 hour' WHERE id = $1",
      [id],
    );
    const before = await readRow(database.pool, "delivery", id);
    await finish(database.pool, [outcomeOf(id, token, { ...DEAD, error_detail: "bad json" })]);
    expect(await readRow(database.pool, "delivery", id)).toBeUndefined();
    const dead = await readRow(database.pool, "dead_letter", id);
    expect(envelopeOf(dead)).toEqual(envelopeOf(before));
    expect(dead).toMatchObject({
      reason: "rejected",
      reason_class: "receiver",
      fingerprint: "rejected:400:abc",
      attempts: 2,
      failures: 2,
      rejections: 1,
      throttles: 4,
      throttled_ms: 9_000,
      first_attempt_at: before?.first_attempt_at,
      last_outcome: "rejected",
      last_status: 400,
      last_detail: "bad json",
    });
    expect(
      await countRows(database.pool, "dead_letter_group WHERE fingerprint = $1 AND state = 'new'", [
        DEAD.fingerprint,
      ]),
    ).toBe(1);
    expect((await readAttempts(database.pool, id))[0]).toMatchObject({
      decision: "dead",
      reason: "rejected",
      number: 2,
    });
  });

  it("DLQ-2 two deaths of one cause share a group, whose state a person's work keeps", async () => {
    const fingerprint = `shared:${randomUUID()}`;
    const [one, oneToken] = await leasedRow();
    const [two, twoToken] = await leasedRow();
    await finish(database.pool, [outcomeOf(one, oneToken, { ...DEAD, fingerprint })]);
    await database.pool.query(
      "UPDATE sluice.dead_letter_group SET state = 'acknowledged' WHERE fingerprint = $1",
      [fingerprint],
    );
    await finish(database.pool, [outcomeOf(two, twoToken, { ...DEAD, fingerprint })]);
    expect(await countRows(database.pool, "dead_letter WHERE fingerprint = $1", [fingerprint])).toBe(2);
    expect(
      await countRows(database.pool, "dead_letter_group WHERE fingerprint = $1 AND state = 'acknowledged'", [
        fingerprint,
      ]),
    ).toBe(1);
  });

  it.each(["payload_erased", "bad_destination", "blocked_address", "config_error"])(
    "ID-9 an end without a request (%s) keeps the number of attempts and writes not_sent",
    async (reason) => {
      const [id, token] = await leasedRow();
      const unsent = {
        ...DEAD,
        outcome: reason,
        reason,
        status: undefined,
        sent: false,
        failure: false,
        rejection: false,
      };
      await finish(database.pool, [
        outcomeOf(id, token, { ...unsent, opens_gate: false, fingerprint: reason }),
      ]);
      expect(await readRow(database.pool, "dead_letter", id)).toMatchObject({
        attempts: 0,
        failures: 0,
        reason,
        first_attempt_at: null,
      });
      expect(await readAttempts(database.pool, id)).toMatchObject([
        { kind: "not_sent", number: 0, outcome: reason, status: null },
      ]);
    },
  );
});

describe("what comes from outside", () => {
  it("RETRY-13 response bytes stay bytes: NUL and 0xff are stored as they came", async () => {
    const [id, token] = await leasedRow();
    const bytes = Buffer.from([0x00, 0xff, 0xfe, 0x00, 0x41]);
    await finish(database.pool, [
      outcomeOf(id, token, { body: bytes.toString("base64"), body_bytes: 5, truncated: true }),
    ]);
    const [attempt] = await readAttempts(database.pool, id);
    expect(attempt?.response_body).toEqual(bytes);
    expect(attempt).toMatchObject({ response_bytes: 5, response_truncated: true });
  });

  it("a cleaned text with NUL and a lone surrogate is stored; a raw one is refused and nothing is recorded", async () => {
    const [id, token] = await leasedRow();
    const raw = "a\u0000b\ud800c";
    const refused = finish(database.pool, [outcomeOf(id, token, { ...DELAYED, error_detail: raw })]);
    await expect(refused).rejects.toMatchObject({ code: expect.stringMatching(/^22/) });
    expect(await readRow(database.pool, "delivery", id)).toMatchObject({
      state: "leased",
      lease_token: token,
    });
    // What the worker's cleanText makes of it.
    const cleaned = "a\ufffdb\ufffdc";
    await finish(database.pool, [outcomeOf(id, token, { ...DELAYED, error_detail: cleaned })]);
    expect((await readAttempts(database.pool, id))[0]?.error_detail).toBe(cleaned);
  });

  it("a response body over 16 KiB is refused as a whole", async () => {
    const [id, token] = await leasedRow();
    const fits = Buffer.alloc(16_384).toString("base64");
    const refused = finish(database.pool, [
      outcomeOf(id, token, { body: Buffer.alloc(16_385).toString("base64") }),
    ]);
    await expect(refused).rejects.toMatchObject({ code: "23514" });
    expect(await countRows(database.pool, "attempt WHERE delivery_id = $1", [id])).toBe(0);
    expect((await finish(database.pool, [outcomeOf(id, token, { body: fits })])).size).toBe(1);
  });
});
