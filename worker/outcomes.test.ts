/**
 * What becomes of a delivery, end to end: every kind of answer ends where the policy says, after as many requests as it
 * says, under one key. All policies here have a backoff of milliseconds; how long waits are is retry-after.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { type DeliveryRow, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;
const QUICK = {
  backoff: { baseMs: 5, factor: 1, capMs: 50, jitter: 0 },
  gate: { baseMs: 5, factor: 1, capMs: 50, jitter: 0 },
  retryAfter: { minMs: 5, jitterFloorMs: 0 },
};

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
let worker: TestWorker;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool);
  worker = await startTestWorker(database);
});
afterAll(async () => {
  await worker.stop();
  await receiver.close();
  await database.drop();
});

async function enqueue(url: string, policy: Record<string, unknown> = {}): Promise<string> {
  const destinationId = await makeDestination(database.pool, tenantId, {
    url: url.startsWith("/") ? `${receiver.url}${url}` : url,
    policyOverride: { ...QUICK, ...policy },
  });
  const [id] = await makeDeliveries(database.pool, { tenantId, destinationId });
  return id as string;
}

function end(id: string): Promise<DeliveryRow> {
  return waitFor(
    async () => {
      const row = await readDelivery(database.pool, id);
      return ["delivered", "dead"].includes(row.state) ? row : null;
    },
    { timeoutMs: LONG_MS, what: "the delivery to end" },
  );
}

function oneIdentity(destination: string, id: string): void {
  const requests = receiver.requests({ destination });
  expect(new Set(requests.map(({ key }) => key))).toEqual(new Set([`key-${id}`]));
  expect(new Set(requests.map(({ webhookId }) => webhookId)).size).toBe(1);
  expect(requests.map(({ attempt }) => attempt)).toEqual(requests.map((_, index) => index + 1));
}

describe("success", () => {
  it.each([200, 201, 202, 204, 299])("RETRY-2 %d is delivered at the first attempt", async (status) => {
    const id = await enqueue(`/status/${status}/good-${status}`);
    expect(await end(id)).toMatchObject({ state: "delivered", attempts: 1, failures: 0 });
    expect(receiver.stats(`good-${status}`)).toMatchObject({ requests: 1, effects: 1 });
  });
});

describe("ends at once", () => {
  it.each([301, 302, 303, 304, 307, 308])(
    "RETRY-8 faults 29, 30: %d is dead as redirect, and nothing follows it",
    async (status) => {
      const id = await enqueue(`/redirect/${status}/moved-${status}`);
      expect(await end(id)).toMatchObject({ state: "dead", reason: "redirect", attempts: 1 });
      expect(receiver.stats(`moved-${status}`).requests).toBe(1);
      expect(receiver.stats(`redirected/moved-${status}`).requests).toBe(0);
    },
  );

  it.each([400, 401, 403, 404, 405, 413, 415, 422])(
    "RETRY-8 faults 45, 67: %d is dead after one attempt",
    async (status) => {
      const id = await enqueue(`/always/${status}/no-${status}`);
      expect(await end(id)).toMatchObject({ state: "dead", reason: "rejected", attempts: 1 });
      expect(receiver.stats(`no-${status}`).requests).toBe(1);
    },
  );

  it("RETRY-8 410 is dead as gone", async () => {
    expect(await end(await enqueue("/always/410/gone"))).toMatchObject({
      state: "dead",
      reason: "gone",
      attempts: 1,
    });
  });

  it.each(["ftp://127.0.0.1/x", "http://user:pw@127.0.0.1:9/x", "http://127.0.0.1:0/x", "not a url"])(
    "RETRY-9 fault 68: %j is dead as bad_destination without a request",
    async (url) => {
      const id = await enqueue(url);
      expect(await end(id)).toMatchObject({ state: "dead", reason: "bad_destination", attempts: 0 });
      const [attempt, ...others] = await readAttempts(database.pool, id);
      expect(attempt).toMatchObject({ kind: "not_sent", outcome: "bad_destination", number: 0 });
      expect(others).toEqual([]);
    },
  );

  it("ID-9 an erased payload is dead as payload_erased without a request, also between two attempts", async () => {
    receiver.script("erased", [500, 200]);
    const before = receiver.totals().requests;
    const id = await enqueue("/ok/erased", { backoff: { baseMs: 700, factor: 1, capMs: 700, jitter: 0 } });
    await waitFor(async () => (await readDelivery(database.pool, id)).attempts === 1);
    await database.pool.query(
      `UPDATE sluice.payload SET body = NULL, erased_at = clock_timestamp()
        WHERE id = (SELECT payload_id FROM sluice.delivery WHERE id = $1)`,
      [id],
    );
    expect(await end(id)).toMatchObject({ state: "dead", reason: "payload_erased", attempts: 1 });
    expect(receiver.totals().requests - before).toBe(1);
    expect((await readAttempts(database.pool, id)).map(({ kind }) => kind)).toEqual(["http", "not_sent"]);
  });

  it("a policy that cannot be used is dead as config_error, with a detail and without a request", async () => {
    const id = await enqueue("/ok/misconfigured", { maxFailures: -1 });
    expect(await end(id)).toMatchObject({ state: "dead", reason: "config_error", attempts: 0 });
    expect((await readAttempts(database.pool, id))[0]?.error_detail).toMatch(/maxFailures/);
    expect(receiver.stats("misconfigured").requests).toBe(0);
  });
});

describe("tries again", () => {
  it.each([408, 409, 425, 500, 501, 502, 503, 504, 505, 599])(
    "RETRY-8 fault 67: after %d, under the same key",
    async (status) => {
      receiver.script(`again-${status}`, [status, 200]);
      const id = await enqueue(`/ok/again-${status}`);
      expect(await end(id)).toMatchObject({ state: "delivered", attempts: 2, failures: 1 });
      oneIdentity(`again-${status}`, id);
    },
  );

  it("RETRY-11 fault 45: always 500 ends after 8 attempts, each counted from the row and not from a first snapshot", async () => {
    const id = await enqueue("/always/500/broken");
    expect(await end(id)).toMatchObject({
      state: "dead",
      reason: "attempts_exhausted",
      attempts: 8,
      failures: 8,
    });
    expect(receiver.stats("broken").requests).toBe(8);
    oneIdentity("broken", id);
    const attempts = await readAttempts(database.pool, id);
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(attempts.map(({ decision }) => decision)).toEqual([...Array<string>(7).fill("delayed"), "dead"]);
  });

  it("RETRY-3 fault 11: 20 times 429 and then 200 is delivered: 21 attempts, 20 throttles, no failure", async () => {
    receiver.script("throttler", [...Array<number>(20).fill(429), 200]);
    const id = await enqueue("/ok/throttler");
    expect(await end(id)).toMatchObject({ state: "delivered", attempts: 21, throttles: 20, failures: 0 });
    oneIdentity("throttler", id);
  });

  it("RETRY-3 fault 11: 429 for ever ends as expired once the delays that it imposed pass the policy's bound", async () => {
    const id = await enqueue("/429/none/for-ever", { maxThrottleMs: 40 });
    expect(await end(id)).toMatchObject({ state: "dead", reason: "expired", failures: 0 });
  });

  it("fault 79: an empty schedule means one attempt, and [0, 60] two more, the first of them after the minimum", async () => {
    const none = await enqueue("/always/500/schedule-none", { scheduleMs: [] });
    expect(await end(none)).toMatchObject({ state: "dead", reason: "attempts_exhausted", attempts: 1 });
    const two = await enqueue("/always/500/schedule-two", { scheduleMs: [0, 60] });
    expect(await end(two)).toMatchObject({ state: "dead", reason: "attempts_exhausted", attempts: 3 });
    const delays = (await readAttempts(database.pool, two)).map(({ delay_ms }) => delay_ms);
    expect(delays).toEqual([5, 60, null]);
  });

  it("fault 67: 501 is a rejection where the policy says so", async () => {
    const id = await enqueue("/always/501/chosen", { permanentStatuses: [501] });
    expect(await end(id)).toMatchObject({ state: "dead", reason: "rejected", attempts: 1 });
  });
});

describe("what nobody can know", () => {
  it("RETRY-10 ID-4 a receiver that records the key and hangs up: the next attempt has the same key, the effect is there once", async () => {
    const id = await enqueue("/hangup/accepted");
    expect(await end(id)).toMatchObject({ state: "delivered", attempts: 2, failures: 1 });
    expect(receiver.stats("accepted")).toMatchObject({
      requests: 2,
      distinctKeys: 1,
      effects: 1,
      repeated: 1,
      cut: 1,
    });
    oneIdentity("accepted", id);
    const [first, second] = await readAttempts(database.pool, id);
    expect(first).toMatchObject({
      kind: "http",
      outcome: "network",
      decision: "delayed",
      status: null,
      counted_failure: true,
    });
    expect(first?.error_code).toMatch(/^(UND_ERR_SOCKET|ECONNRESET)$/);
    expect(second).toMatchObject({ outcome: "delivered", status: 200 });
  });

  it.each([
    ["/reset/unlucky?times=1", "unlucky"],
    ["/truncate/cut-short?times=1", "cut-short"],
  ])("RETRY-10 %s is ambiguous: stored as network, never as success, tried again", async (url, name) => {
    const id = await enqueue(url);
    expect(await end(id)).toMatchObject({ state: "delivered", attempts: 2 });
    expect((await readAttempts(database.pool, id)).map(({ outcome }) => outcome)).toEqual([
      "network",
      "delivered",
    ]);
    expect(receiver.stats(name).effects).toBe(1);
  });

  it("fault 68: a name that does not resolve is tried again like any network error, and then ends", async () => {
    const id = await enqueue("http://no-such-host.invalid/x", { maxFailures: 3 });
    expect(await end(id)).toMatchObject({ state: "dead", reason: "attempts_exhausted", attempts: 3 });
    const attempts = await readAttempts(database.pool, id);
    for (const attempt of attempts) {
      expect(attempt).toMatchObject({ outcome: "network", error_detail: "while: dns" });
      expect(attempt.error_code).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
    }
  });
});

describe("the log", () => {
  it("SIG-7 has one line for each attempt, and no warning for what receivers do", () => {
    const lines = worker.captured.lines().filter(({ event }) => event === "attempt");
    expect(lines.length).toBeGreaterThanOrEqual(receiver.totals().requests);
    expect(lines.every(({ recorded }) => recorded === "recorded")).toBe(true);
    expect(worker.captured.lines().filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });
});
