/**
 * Receivers that answer too much, too slowly, not at all or with bytes that are no text: bounded, recorded, and without
 * a second request while the first one is open.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RAW_BODY } from "#demo/receiver/perform.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { countDeliveries, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker } from "#tests/support/worker-run.ts";
import { MAX_STORED_RESPONSE_BYTES } from "./exchange.ts";

const LONG_MS = 150_000;
const QUICK = { backoff: { baseMs: 20, factor: 1, capMs: 20, jitter: 0 }, retryAfter: { minMs: 5 } };

let database: TestDatabase;
let receiver: Receiver;
let workers: TestWorker[];
let tenantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await createReceiver();
  tenantId = await makeTenant(database.pool);
  workers = [await startTestWorker(database), await startTestWorker(database)];
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await receiver.close();
  await database.drop();
});

async function send(
  path: string,
  options: { count?: number; policy?: Record<string, unknown>; cap?: number } = {},
) {
  const url = path.startsWith("/") ? `${receiver.url}${path}` : path;
  const destinationId = await makeDestination(database.pool, tenantId, {
    url,
    concurrencyLimit: options.cap ?? 10,
    policyOverride: { ...QUICK, ...options.policy },
  });
  const ids = await makeDeliveries(database.pool, { tenantId, destinationId, count: options.count ?? 1 });
  return { destinationId, ids, id: ids[0] as string };
}

const ended = (id: string) =>
  waitFor(
    async () => {
      const row = await readDelivery(database.pool, id);
      return ["delivered", "dead"].includes(row.state) ? row : null;
    },
    { timeoutMs: LONG_MS },
  );

describe("too much", () => {
  it("RETRY-13 fault 26: 500 MB are delivered by their status: 16 KiB kept, marked as cut, one request, nothing left open", async () => {
    const { id } = await send("/huge/flood");
    expect(await ended(id)).toMatchObject({ state: "delivered", attempts: 1 });
    const [attempt] = await readAttempts(database.pool, id);
    expect(attempt).toMatchObject({ outcome: "delivered", status: 200, response_truncated: true });
    expect(attempt?.response_body).toHaveLength(MAX_STORED_RESPONSE_BYTES);
    expect(attempt?.response_bytes).toBeLessThan(1_000_000);
    await receiver.waitFor("flood", (stats) => stats.requests === 1 && stats.aborted === 1);
    await Promise.all(Array.from({ length: 10 }, async () => ended((await send("/ok/after-flood")).id)));
  });
});

describe("too slowly", () => {
  it("RETRY-13 fault 27: headers at once and then a byte now and then is a timeout at the deadline, with the same key next time", async () => {
    const { id } = await send("/drip/dripping?times=1", { policy: { requestDeadlineMs: 600 } });
    expect(await ended(id)).toMatchObject({ state: "delivered", attempts: 2, failures: 1 });
    const [first] = await readAttempts(database.pool, id);
    expect(first).toMatchObject({
      outcome: "timeout",
      decision: "delayed",
      error_detail: "while: body",
      counted_failure: true,
    });
    expect(first?.duration_ms).toBeGreaterThanOrEqual(595);
    // Far from the ten seconds that are the deadline elsewhere.
    expect(first?.duration_ms).toBeLessThan(8_000);
    const requests = receiver.requests({ destination: "dripping" });
    expect(requests.map(({ key }) => key)).toEqual([`key-${id}`, `key-${id}`]);
    // The receiver had applied it all the same: that is why the key must be the same.
    expect(receiver.stats("dripping").effects).toBe(1);
  });

  it("RETRY-10 fault 28: no answer at all is a timeout each time, and never two requests at once from two workers", async () => {
    const { id } = await send("/never/silent", { policy: { requestDeadlineMs: 300, maxFailures: 4 } });
    expect(await ended(id)).toMatchObject({ state: "dead", reason: "attempts_exhausted", attempts: 4 });
    expect(receiver.stats("silent")).toMatchObject({
      requests: 4,
      peakConcurrency: 1,
      distinctKeys: 1,
      aborted: 4,
    });
    for (const attempt of await readAttempts(database.pool, id)) {
      expect(attempt).toMatchObject({ outcome: "timeout", error_detail: "while: headers" });
    }
  });
});

describe("bytes that are no text", () => {
  it("NUL, invalid UTF-8 and half surrogates are kept as bytes, and the good ones beside them are recorded too", async () => {
    const raw = await send("/raw/bytes", { count: 15 });
    const good = await send("/ok/beside-bytes", { count: 15 });
    const rejected = await send("/raw/bytes-rejected?status=422", { count: 5 });
    for (const { destinationId } of [raw, good]) {
      await waitFor(async () => (await countDeliveries(database.pool, destinationId)).delivered === 15, {
        timeoutMs: LONG_MS,
      });
    }
    await waitFor(async () => (await countDeliveries(database.pool, rejected.destinationId)).dead === 5, {
      timeoutMs: LONG_MS,
    });
    for (const id of [...raw.ids, ...rejected.ids]) {
      const [attempt, ...others] = await readAttempts(database.pool, id);
      expect(others).toEqual([]);
      expect(attempt?.response_body?.equals(RAW_BODY)).toBe(true);
    }
    expect(workers.map(({ captured }) => captured.text()).join("")).not.toContain("evidence_refused");
  });

  it("headers with such bytes do not stop the record either", async () => {
    const server = createServer((request, response) => {
      response.writeHead(503, { "content-type": "text/\xff\xfe", "retry-after": "\xa0soon\xff" });
      request.resume().on("end", () => response.end("no"));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { id } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      policy: { maxFailures: 2 },
    });
    expect(await ended(id)).toMatchObject({ state: "dead", reason: "attempts_exhausted", attempts: 2 });
    server.close();
    server.closeAllConnections();
    const attempts = await readAttempts(database.pool, id);
    expect(attempts.map(({ status, fallback }) => [status, fallback])).toEqual([
      [503, true],
      [503, true],
    ]);
  });
});

describe("connections", () => {
  it("RETRY-13 are used again: far fewer than requests", async () => {
    const before = receiver.totals().connections;
    const { destinationId } = await send("/ok/kept", { count: 300, cap: 5 });
    await waitFor(async () => (await countDeliveries(database.pool, destinationId)).delivered === 300, {
      timeoutMs: LONG_MS,
    });
    expect(receiver.stats("kept")).toMatchObject({ requests: 300, finished: 300 });
    // Two processes; each keeps about one for each request that it has in flight at once.
    expect(receiver.totals().connections - before).toBeLessThanOrEqual(30);
  });
});
