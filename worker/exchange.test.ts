/** One HTTP exchange against a receiver that misbehaves: what broke is reported as broken, and everything has a bound. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import { spawnReceiver } from "#demo/receiver/spawn.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { CutOff } from "./cut-off.ts";
import {
  createHttpClient,
  type ExchangeResult,
  exchange,
  MAX_READ_RESPONSE_BYTES,
  MAX_STORED_RESPONSE_BYTES,
} from "./exchange.ts";

const DEADLINE_MS = 30_000;
const NEVER = new CutOff();

let receiver: Receiver;
const client = createHttpClient(3_000, { rules: LOCAL_SENDING_RULES });
const servers: { close(): unknown }[] = [];
let keys = 0;

beforeAll(async () => {
  receiver = await createReceiver();
});
afterEach(() => {
  receiver.reset();
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  await client.destroy();
  await receiver.close();
});

interface Options {
  readonly origin?: string;
  readonly body?: Buffer;
  readonly deadlineMs?: number;
  readonly stop?: CutOff;
}

function post(path: string, options: Options = {}): Promise<ExchangeResult> {
  keys += 1;
  const request = {
    origin: options.origin ?? receiver.url,
    path,
    headers: ["content-type", "application/json", "idempotency-key", `key-${keys}`],
    body: options.body ?? Buffer.from("{}"),
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
  };
  return exchange(client, request, options.stop ?? NEVER);
}

/** Until a connection whose answer has just been read is free again. */
async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Listens on a free port; the server is closed after the test. */
async function listening(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("what arrives", () => {
  it("is a POST with exactly the given bytes, and the answer comes back with its body", async () => {
    receiver.setRecording({ keepBodies: true });
    const body = Buffer.from([0x7b, 0x0d, 0x0a, 0x00, 0xff, 0xe2, 0x82, 0xac, 0x7d]);
    const result = await post("/ok/bytes", { body });
    expect(result).toMatchObject({
      kind: "response",
      status: 200,
      contentType: "application/json",
      truncated: false,
    });
    expect(result.kind === "response" && result.body.toString()).toBe('{"effect":1}');
    const [record] = receiver.requests({ destination: "bytes" });
    expect(record?.method).toBe("POST");
    expect(Buffer.from(record?.bodyBase64 ?? "", "base64").equals(body)).toBe(true);
  });

  it("may be an empty body, in both directions", async () => {
    const result = await post("/status/204/empty", { body: Buffer.alloc(0) });
    expect(result).toMatchObject({ kind: "response", status: 204, bodyBytes: 0 });
  });

  it("RETRY-4 keeps several Retry-After headers as one text", async () => {
    const server = createHttpServer((_, response) =>
      response
        .writeHead(
          429,
          [
            ["retry-after", "3"],
            ["retry-after", "7"],
          ].flat(),
        )
        .end(),
    );
    const result = await post("/", { origin: `http://${await listening(server)}` });
    expect(result).toMatchObject({ status: 429, retryAfter: "3, 7" });
  });

  it.each([301, 302, 303, 307, 308])("fault 29: a %d is an answer, not an instruction", async (status) => {
    const result = await post(`/redirect/${status}/moved`);
    expect(result).toMatchObject({ kind: "response", status });
    expect(receiver.stats("redirected/moved").requests).toBe(0);
  });
});

describe("what breaks", () => {
  it.each([
    ["a connection that is closed without an answer", "/hangup/a", "headers"],
    ["a connection that is reset", "/reset/a", "headers"],
    ["an answer of 200 that is cut off", "/truncate/a", "body"],
  ])("RETRY-10 %s is a network error, never a success", async (_name, path, phase) => {
    const result = await post(path);
    expect(result).toMatchObject({ kind: "network", phase });
    expect(result.kind === "network" && result.code).toMatch(
      /^(UND_ERR_SOCKET|ECONNRESET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    );
  });

  it("fault 68: names that do not resolve and ports that nobody listens on are network errors with their code", async () => {
    const unknown = await post("/", { origin: "http://no-such-host.invalid" });
    expect(unknown).toMatchObject({ kind: "network", phase: "dns" });
    expect(unknown.kind === "network" && unknown.code).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
    const closed = createServer();
    const origin = `http://${await listening(closed)}`;
    servers.splice(0);
    await new Promise((resolve) => closed.close(resolve));
    expect(await post("/", { origin })).toEqual({
      kind: "network",
      code: "ECONNREFUSED",
      phase: "connect",
      keptConnection: false,
    });
  });

  it("something that does not speak HTTP is a network error", async () => {
    const server = createServer((socket) => socket.end("220 mail.example ESMTP\r\n"));
    expect(await post("/", { origin: `http://${await listening(server)}` })).toMatchObject({
      kind: "network",
    });
  });

  it("a header that cannot be sent is said as such, without a request and without an exception", async () => {
    const request = {
      origin: receiver.url,
      path: "/ok/a",
      headers: ["x", "a\nb"],
      body: Buffer.alloc(0),
      deadlineMs: DEADLINE_MS,
    };
    expect(await exchange(client, request, NEVER)).toMatchObject({
      kind: "unsendable",
    });
    expect(receiver.totals().requests).toBe(0);
  });
});

describe("the deadline", () => {
  const DEADLINE = { deadlineMs: 300 };

  it.each([
    ["a receiver that never answers", "/never/a", "headers"],
    ["fault 27: headers at once and then a byte now and then", "/drip/a", "body"],
  ])("ends %s, and drops the connection", async (_name, path, phase) => {
    const begunAt = performance.now();
    expect(await post(path, DEADLINE)).toEqual({ kind: "timeout", phase });
    const tookMs = performance.now() - begunAt;
    expect(tookMs).toBeGreaterThan(290);
    // Its own deadline, and not the one that the others have.
    expect(tookMs).toBeLessThan(DEADLINE_MS);
    await receiver.waitFor("a", (stats) => stats.aborted === 1);
  });

  it("ends a handshake that does not come to its end, and sends nothing afterwards", async () => {
    const sent: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk) => sent.push(chunk.toString("latin1")));
    });
    const origin = `https://${await listening(server)}`;
    expect(await post("/secret-path", { origin, ...DEADLINE })).toEqual({
      kind: "timeout",
      phase: "connect",
    });
    expect(sent.join("")).not.toContain("secret-path");
  });
});

describe("a stop", () => {
  it("cuts off what is in flight, and sends nothing that had not begun", async () => {
    const stop = new CutOff();
    const running = post("/never/a", { stop });
    await receiver.waitFor("a", (stats) => stats.requests === 1);
    stop.now();
    expect(await running).toEqual({ kind: "shutdown" });
    expect(await post("/ok/b", { stop })).toEqual({ kind: "shutdown" });
    await receiver.waitFor("a", (stats) => stats.aborted === 1);
    expect(receiver.stats("b").requests).toBe(0);
  });
});

describe("a large body", () => {
  it("RETRY-13 is kept to 16 KiB, and the connection serves the next request", async () => {
    let connections = 0;
    const server = createHttpServer((_, response) => response.end(Buffer.alloc(60_000, "x")));
    server.on("connection", () => {
      connections += 1;
    });
    const origin = `http://${await listening(server)}`;
    for (let round = 0; round < 10; round++) {
      const result = await post("/", { origin });
      expect(result).toMatchObject({ kind: "response", status: 200, bodyBytes: 60_000, truncated: true });
      expect(result.kind === "response" && result.body.length).toBe(MAX_STORED_RESPONSE_BYTES);
    }
    // A result is known a moment before its connection is free again, so the second request may open another.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it("fault 26: 500 MB are cut off after a bounded part, in bounded memory, and the status stands", async () => {
    const far = await spawnReceiver();
    try {
      await post("/ok/warm", { origin: far.url });
      const usedBytes = () => process.memoryUsage().arrayBuffers;
      const before = usedBytes();
      let most = before;
      const timer = setInterval(() => {
        most = Math.max(most, usedBytes());
      }, 1);
      const results = await Promise.all(
        Array.from({ length: 8 }, () => post("/huge/a", { origin: far.url })),
      );
      clearInterval(timer);
      for (const result of results) {
        expect(result).toMatchObject({ kind: "response", status: 200, truncated: true });
        expect(result.kind === "response" && result.bodyBytes).toBeLessThan(
          MAX_READ_RESPONSE_BYTES + 128 * 1024,
        );
      }
      // Eight at once: less than the 5 MB that one may cost.
      expect(most - before).toBeLessThan(8 * 5_000_000);
      await far.client.waitFor("a", (stats) => stats.aborted === 8);
    } finally {
      await far.stop();
    }
  });
});

describe("connections", () => {
  it("RETRY-13 are kept: about as many as requests at once, however many requests", async () => {
    const before = receiver.totals().connections;
    for (let round = 0; round < 40; round++) {
      await Promise.all(Array.from({ length: 5 }, () => post("/ok/a")));
    }
    expect(receiver.stats("a").requests).toBe(200);
    // A result is known a moment before its connection is free again: a round may find the last one's still taken.
    expect(receiver.totals().connections - before).toBeLessThanOrEqual(10);
  });

  it("fault 70: are not used again at the moment at which a receiver gives up idle ones", async () => {
    const brief = await createReceiver({ keepAliveTimeoutMs: 5_000 });
    try {
      expect(await post("/ok/a", { origin: brief.url })).toMatchObject({ status: 200 });
      const answeredAt = performance.now();
      await waitFor(() => performance.now() - answeredAt >= 4_998, { intervalMs: 1 });
      expect(await post("/ok/a", { origin: brief.url })).toMatchObject({ kind: "response", status: 200 });
    } finally {
      await brief.close();
    }
  });

  it("fault 70: are not used again after 3 s, whatever the receiver would allow", async () => {
    let connections = 0;
    const server = createHttpServer({ keepAliveTimeout: 60_000 }, (request, response) =>
      request.resume().on("end", () => response.end("ok")),
    );
    server.on("connection", () => {
      connections += 1;
    });
    const origin = `http://${await listening(server)}`;
    expect(await post("/", { origin })).toMatchObject({ status: 200 });
    const answeredAt = performance.now();
    await waitFor(() => performance.now() - answeredAt > 3_050, { intervalMs: 10 });
    expect(await post("/", { origin })).toMatchObject({ status: 200 });
    expect(connections).toBe(2);
  });

  it("fault 70: that died unseen are told apart from a receiver that breaks off", async () => {
    let requests = 0;
    const server = createHttpServer((request, response) => {
      requests += 1;
      // The first request is answered; whatever comes later on the same connection finds it dead.
      if (requests === 1) request.resume().on("end", () => response.end("ok"));
      else request.socket.destroy();
    });
    const origin = `http://${await listening(server)}`;
    expect(await post("/", { origin })).toMatchObject({ kind: "response", status: 200 });
    await nextTurns();
    expect(await post("/", { origin })).toMatchObject({
      kind: "network",
      phase: "headers",
      keptConnection: true,
    });
    expect(await post("/", { origin })).toMatchObject({
      kind: "network",
      phase: "headers",
      keptConnection: false,
    });
    expect(requests).toBe(3);
  });
});
