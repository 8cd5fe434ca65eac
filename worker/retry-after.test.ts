/**
 * RETRY-3, RETRY-4, LEASE-7: a receiver that says when to come back is believed, and while we wait nothing is held: no
 * slot, no lease, no socket. The wait stands in rows, and graphile-worker's job alone is enough to end it.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { PROMPT_MS, waitFor } from "#tests/support/wait-for.ts";
import { countLeases, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

/** Jitter on a Retry-After is at most this for a few seconds' wait (policy default: the floor of 1 s). */
const JITTER_MS = 1_000;
const LONG_MS = 150_000;

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let worker: TestWorker;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool);
  worker = await startTestWorker(database, { healthPort: 0 });
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await database.drop();
});

async function enqueue(path: string, policyOverride?: unknown): Promise<string> {
  const destinationId = await makeDestination(database.pool, tenantId, {
    url: `${receiver.url}${path}`,
    policyOverride,
  });
  const [id] = await makeDeliveries(database.pool, { tenantId, destinationId });
  return id as string;
}

async function inFlight(): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${worker.healthPort}/healthz`);
  return ((await answer.json()) as { inFlight: number }).inFlight;
}

describe("429 with Retry-After: 3, twice, then 200", () => {
  it("RETRY-4 LEASE-7 is three requests with one key and one id, none early, and nothing is held in between", async () => {
    receiver.script("patient", ["429:3", "429:3", 200]);
    const id = await enqueue("/ok/patient");
    for (const attempts of [1, 2]) {
      await waitFor(async () => (await readDelivery(database.pool, id)).attempts === attempts, {
        timeoutMs: LONG_MS,
      });
      expect(await readDelivery(database.pool, id)).toMatchObject({
        state: "delayed",
        leased: false,
        throttles: attempts,
        failures: 0,
      });
      expect(await countLeases(database.pool)).toBe(0);
      await waitFor(async () => (await inFlight()) === 0, { what: "the slot to be free" });
    }
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered", {
      timeoutMs: LONG_MS,
    });
    const requests = receiver.requests({ destination: "patient" });
    expect(requests.map(({ status, attempt }) => [status, attempt])).toEqual([
      [429, 1],
      [429, 2],
      [200, 3],
    ]);
    expect(new Set(requests.map(({ key }) => key))).toEqual(new Set([`key-${id}`]));
    expect(new Set(requests.map(({ webhookId }) => webhookId)).size).toBe(1);
    for (const [index, request] of requests.slice(1).entries()) {
      const notBeforeMs = requests[index]?.notBeforeMs ?? Number.POSITIVE_INFINITY;
      expect(request.arrivedAtMs).toBeGreaterThanOrEqual(notBeforeMs);
      expect(request.arrivedAtMs).toBeLessThan(notBeforeMs + JITTER_MS + PROMPT_MS);
    }
    expect(await readDelivery(database.pool, id)).toMatchObject({ attempts: 3, throttles: 2, failures: 0 });
    const attempts = await readAttempts(database.pool, id);
    expect(attempts.map(({ outcome, decision }) => [outcome, decision])).toEqual([
      ["rate_limited", "delayed"],
      ["rate_limited", "delayed"],
      ["delivered", "delivered"],
    ]);
    expect(attempts[0]).toMatchObject({
      retry_after_raw: "3",
      retry_after_read: "seconds",
      retry_after_asked_ms: 3_000,
      fallback: false,
    });
    expect(attempts[0]?.delay_ms).toBe(3_000 + (attempts[0]?.jitter_ms ?? Number.NaN));
  });
});

describe("how a Retry-After is read", () => {
  it("RETRY-4 fault 77: a date in any of the three forms is not passed early", async () => {
    const forms = ["imf", "rfc850", "asctime"];
    const ids = await Promise.all(
      forms.map((form) => enqueue(`/429/date/2/date-${form}?form=${form}&times=1`)),
    );
    for (const [index, form] of forms.entries()) {
      const id = ids[index] ?? "";
      await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered", {
        timeoutMs: LONG_MS,
      });
      const [first, second] = receiver.requests({ destination: `date-${form}` });
      expect(second?.arrivedAtMs).toBeGreaterThanOrEqual(first?.notBeforeMs ?? Number.POSITIVE_INFINITY);
      const [attempt] = await readAttempts(database.pool, id);
      expect(attempt).toMatchObject({ fallback: false, retry_after_raw: first?.retryAfter });
      expect(attempt?.retry_after_read).toMatch(/date/);
    }
  });

  it("RETRY-4 fault 74: 503 with Retry-After waits as asked, and counts a failure", async () => {
    const id = await enqueue("/429/seconds/2/maintenance?status=503&times=1");
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delivered", {
      timeoutMs: LONG_MS,
    });
    const [first, second] = receiver.requests({ destination: "maintenance" });
    expect(second?.arrivedAtMs).toBeGreaterThanOrEqual(first?.notBeforeMs ?? Number.POSITIVE_INFINITY);
    expect(await readDelivery(database.pool, id)).toMatchObject({ attempts: 2, failures: 1, throttles: 0 });
  });

  it.each([
    ["soon", "malformed"],
    ["-5", "negative"],
    ["0", "zero"],
    ["Wed, 21 Oct 2015 07:28:00 GMT", "past"],
  ])(
    "RETRY-5 faults 5, 6, 7: %j is answered with the policy's own backoff, recorded, one request",
    async (value, name) => {
      const id = await enqueue(`/429/malformed/${name}?value=${encodeURIComponent(value)}`);
      await waitFor(async () => (await readDelivery(database.pool, id)).state === "delayed", {
        timeoutMs: LONG_MS,
      });
      const [attempt] = await readAttempts(database.pool, id);
      expect(attempt).toMatchObject({ outcome: "rate_limited", retry_after_raw: value, fallback: true });
      expect(attempt?.delay_ms).toBeGreaterThanOrEqual(4_000);
      expect(attempt?.delay_ms).toBeLessThanOrEqual(6_000);
      expect(receiver.stats(name).requests).toBe(1);
    },
  );

  it("RETRY-6 fault 8: a wait beyond the policy's maximum is cut to it, and the cut and the raw header are kept", async () => {
    const id = await enqueue("/429/seconds/9999999999/far", { retryAfter: { maxMs: 3_600_000 } });
    await waitFor(async () => (await readDelivery(database.pool, id)).state === "delayed", {
      timeoutMs: LONG_MS,
    });
    const [attempt] = await readAttempts(database.pool, id);
    expect(attempt).toMatchObject({
      retry_after_raw: "9999999999",
      retry_after_asked_ms: 9_999_999_999_000,
      retry_after_clamped: "max",
    });
    expect(attempt?.delay_ms).toBe(3_600_000 + (attempt?.jitter_ms ?? Number.NaN));
  });
});

describe("a batch that fails together", () => {
  it("RETRY-12 fault 66: 1,000 equal failures are due again at 500 or more different milliseconds", async () => {
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `${receiver.url}/always/500/together`,
      concurrencyLimit: 100,
    });
    await makeDeliveries(database.pool, { tenantId, destinationId, count: 1_000 });
    const { rows } = await waitFor(
      async () => {
        const result = await database.pool.query<{ attempts: number; distinct_ms: number; least_ms: number }>(
          `SELECT count(*)::integer AS attempts, count(DISTINCT date_trunc('milliseconds', next_due_at))::integer AS distinct_ms,
                  min(delay_ms)::integer AS least_ms FROM sluice.attempt WHERE destination_id = $1 AND number = 1`,
          [destinationId],
        );
        return result.rows[0]?.attempts === 1_000 ? result : null;
      },
      { timeoutMs: LONG_MS, intervalMs: 50 },
    );
    expect(rows[0]?.distinct_ms).toBeGreaterThanOrEqual(500);
    expect(rows[0]?.least_ms).toBeGreaterThanOrEqual(4_000);
  });
});
