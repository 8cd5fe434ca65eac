/**
 * Security of sending, end to end: what must not be reached ends at once and gets no request, stored texts never make
 * a header of their own, TLS is checked, and what a receiver compressed is kept within bounds.
 */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSendingRules, STRICT_RULES } from "#domain/destination-url.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnReadyWorker } from "#tests/support/worker-process.ts";
import { type DeliveryRow, readAttempts, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker, type TestWorker, type TestWorkerOptions } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;
const TLS = new URL("../tests/support/tls/", import.meta.url);

let database: TestDatabase;
let tenantId: string;
let server: Server;
let port: number;
/** Requests that reached this machine, by path. */
const requests: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  tenantId = await makeTenant(database.pool);
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const packed = { "content-type": "application/json", "content-encoding": "gzip" };
    request.resume().on("end", () => {
      if (request.url === "/gzip") response.writeHead(200, packed).end(gzipSync('{"ok":true}'));
      else if (request.url === "/liar") response.writeHead(200, packed).end("not packed at all");
      else response.end("ok");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  await endWorkers();
  server.close();
  server.closeAllConnections();
  await database.drop();
});

async function enqueue(url: string): Promise<string> {
  const destinationId = await makeDestination(database.pool, tenantId, { url });
  const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId });
  return id;
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

async function withWorker(options: TestWorkerOptions, work: (worker: TestWorker) => Promise<void>) {
  const worker = await startTestWorker(database, options);
  try {
    await work(worker);
  } finally {
    await worker.stop();
  }
}

/** Dead without a request, with this reason and detail, after one look. */
async function diedUnsent(id: string, reason: string, detail: RegExp): Promise<void> {
  expect(await end(id)).toMatchObject({ state: "dead", reason, attempts: 0, failures: 0 });
  const [attempt, ...others] = await readAttempts(database.pool, id);
  expect(others).toEqual([]);
  expect(attempt).toMatchObject({ kind: "not_sent", number: 0, decision: "dead", outcome: reason });
  expect(attempt?.error_detail).toMatch(detail);
}

describe("addresses", () => {
  it("RETRY-9 fault 32: a worker that nobody opened sends nothing to this machine or its network", async () => {
    const before = requests.length;
    await withWorker({ sendingRules: STRICT_RULES }, async () => {
      await diedUnsent(
        await enqueue(`http://127.0.0.1:${port}/x`),
        "bad_destination",
        /http: is not allowed/,
      );
      for (const [host, detail] of [
        ["127.1", /^127\.0\.0\.1 \(loopback\)$/],
        ["[::ffff:169.254.169.254]", /\(link_local\)$/],
        ["10.1.2.3", /^10\.1\.2\.3 \(private\)$/],
        ["localhost.", /^localhost\. \(loopback\)$/],
      ] as const) {
        await diedUnsent(await enqueue(`https://${host}:${port}/x`), "blocked_address", detail);
      }
    });
    expect(requests).toHaveLength(before);
  });

  it("RETRY-9 fault 31: an address that is only found out when the connection is made ends at once too", async () => {
    const before = requests.length;
    // The system turns 0.0.0.0, allowed here, into 127.0.0.1, which is not.
    const sendingRules = parseSendingRules({ allow: "0.0.0.0/8", plainHttp: "true" });
    await withWorker({ sendingRules }, async ({ captured }) => {
      const id = await enqueue(`http://0.0.0.0:${port}/x`);
      await diedUnsent(id, "blocked_address", /^127\.0\.0\.1 \(loopback\)$/);
      expect(captured.lines().filter(({ event }) => event === "attempt")).toMatchObject([
        { outcome: "blocked_address", decision: "dead", code: "blocked_address" },
      ]);
    });
    expect(requests).toHaveLength(before);
  });

  it("fault 68: a name that does not resolve is tried again after the backoff", async () => {
    await withWorker({}, async () => {
      const id = await enqueue("http://no-such-host.invalid/x");
      await waitFor(async () => (await readDelivery(database.pool, id)).attempts === 1, {
        timeoutMs: LONG_MS,
      });
      const [attempt] = await readAttempts(database.pool, id);
      expect(attempt).toMatchObject({ outcome: "network", decision: "delayed", error_detail: "while: dns" });
      expect(attempt?.delay_ms).toBeGreaterThanOrEqual(4_000);
      expect(attempt?.delay_ms).toBeLessThanOrEqual(6_000);
    });
  });
});

describe("headers", () => {
  /** Rows as no outbox would write them. */
  const SMUGGLED: [string, string, string, RegExp][] = [
    ["an event type", "event_type", "a\r\nx-smuggled: 1", /sluice-event-type/],
    ["an event type that latin1 would turn into a line end", "event_type", "a\u010ax", /sluice-event-type/],
    ["a traceparent", "traceparent", `00-${"a".repeat(32)}-${"b".repeat(16)}-0\n`, /traceparent/],
  ];

  it.each(SMUGGLED)(
    "%s with a line end is dead as config_error and reaches nobody",
    async (_name, column, text, detail) => {
      const before = requests.length;
      const destinationId = await makeDestination(database.pool, tenantId, {
        url: `http://127.0.0.1:${port}/x`,
      });
      const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId, dueInMs: 3_600_000 });
      await database.pool.query(
        `UPDATE sluice.delivery SET ${column} = $2, due_at = clock_timestamp() WHERE id = $1`,
        [id, text],
      );
      await withWorker({}, () => diedUnsent(id, "config_error", detail));
      expect(requests).toHaveLength(before);
    },
  );

  it("a content type with a line end is dead as config_error and reaches nobody", async () => {
    const before = requests.length;
    const destinationId = await makeDestination(database.pool, tenantId, {
      url: `http://127.0.0.1:${port}/x`,
    });
    const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId, dueInMs: 3_600_000 });
    await database.pool.query("UPDATE sluice.payload SET content_type = $2 WHERE id = $1", [
      id,
      "a/b\r\nx: y",
    ]);
    await database.pool.query("UPDATE sluice.delivery SET due_at = clock_timestamp() WHERE id = $1", [id]);
    await withWorker({}, () => diedUnsent(id, "config_error", /content-type/));
    expect(requests).toHaveLength(before);
  });
});

describe("answers", () => {
  it("RETRY-13 that came compressed are stored decoded, or as they came with a word about it", async () => {
    await withWorker({}, async () => {
      const gzip = await enqueue(`http://127.0.0.1:${port}/gzip`);
      const liar = await enqueue(`http://127.0.0.1:${port}/liar`);
      for (const id of [gzip, liar]) expect((await end(id)).state).toBe("delivered");
      const [[packed], [lied]] = [
        await readAttempts(database.pool, gzip),
        await readAttempts(database.pool, liar),
      ];
      expect(packed?.response_body?.toString()).toBe('{"ok":true}');
      expect(packed).toMatchObject({ response_content_type: "application/json", response_bytes: 11 });
      expect(lied?.response_body?.toString()).toBe("not packed at all");
      expect(lied?.response_content_type).toBe("application/json (gzip, not decoded)");
    });
  });
});

describe("names", () => {
  it("have threads enough in a worker process that two dead name servers do not hold up all others", async () => {
    const worker = await spawnReadyWorker({ urls: { us: database.connectionString } });
    const id = await enqueue("http://no-such-host.invalid/x");
    await waitFor(async () => (await readDelivery(database.pool, id)).attempts === 1, { timeoutMs: LONG_MS });
    // Threads are made at the first use, all of them: the pool is as wide as it was asked to be.
    expect(readdirSync(`/proc/${worker.pid}/task`).length).toBeGreaterThan(64);
    worker.kill("SIGTERM");
    await worker.exited;
  });
});

describe("TLS", () => {
  it("is spoken to a receiver whose certificate is trusted, with its name, and not to another", async () => {
    const names: unknown[] = [];
    const key = readFileSync(new URL("localhost-key.pem", TLS));
    const cert = readFileSync(new URL("localhost-cert.pem", TLS));
    const secure = createTlsServer({ key, cert }, (request, response) => {
      names.push((request.socket as { servername?: unknown }).servername);
      request.resume().on("end", () => response.end("ok"));
    });
    secure.listen(0, "127.0.0.1");
    await once(secure, "listening");
    const url = `https://localhost:${(secure.address() as AddressInfo).port}/x`;
    const untrusting = await enqueue(url);
    await withWorker({}, async () => {
      await waitFor(async () => (await readDelivery(database.pool, untrusting)).attempts === 1, {
        timeoutMs: LONG_MS,
      });
    });
    expect((await readAttempts(database.pool, untrusting))[0]).toMatchObject({
      outcome: "network",
      error_code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      error_detail: "while: tls",
    });
    expect(names).toEqual([]);

    const trusting = await enqueue(url);
    await spawnReadyWorker({
      urls: { us: database.connectionString },
      env: { NODE_EXTRA_CA_CERTS: fileURLToPath(new URL("localhost-cert.pem", TLS)) },
    });
    expect(await end(trusting)).toMatchObject({ state: "delivered" });
    expect(names).toContain("localhost");
    secure.close();
    secure.closeAllConnections();
  });
});
