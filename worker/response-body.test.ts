/** RETRY-13: bodies that come compressed although nobody asked: decoded within bounds, and never a reason for anything. */
import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { CutOff } from "./cut-off.ts";
import { createHttpClient, type ExchangeResult, exchange } from "./exchange.ts";
import { MAX_READ_RESPONSE_BYTES, MAX_STORED_RESPONSE_BYTES, ResponseBody } from "./response-body.ts";

const DEADLINE_MS = 10_000;
const MEGABYTE = 1024 * 1024;
const TEXT = Buffer.from(JSON.stringify({ message: "received", list: Array(2_000).fill("abc") }));
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Served {
  post(): Promise<ExchangeResult>;
  connections(): number;
}

/** A receiver that always answers with these headers and bytes. */
async function serve(headers: OutgoingHttpHeaders, body: Buffer, status = 200): Promise<Served> {
  let connections = 0;
  const server = createServer((request, response) =>
    request.resume().on("end", () => response.writeHead(status, headers).end(body)),
  );
  server.on("connection", () => {
    connections += 1;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = createHttpClient(DEADLINE_MS, { rules: LOCAL_SENDING_RULES });
  cleanups.push(
    () => client.destroy(),
    () => server.close(),
  );
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    connections: () => connections,
    post: () =>
      exchange(
        client,
        { origin, path: "/", headers: [], body: Buffer.from("{}"), deadlineMs: DEADLINE_MS },
        new CutOff(),
      ),
  };
}

function stored(result: ExchangeResult): Buffer {
  return result.kind === "response" ? result.body : Buffer.from(result.kind);
}

describe("a compressed answer", () => {
  it.each([
    ["gzip", gzipSync(TEXT)],
    ["x-gzip", gzipSync(TEXT)],
    ["GZIP ", gzipSync(TEXT)],
    ["deflate", deflateSync(TEXT)],
    ["br", brotliCompressSync(TEXT)],
  ])("%s is kept decoded, and its decoded bytes are what is counted", async (encoding, body) => {
    const result = await (await serve({ "content-encoding": encoding }, body)).post();
    expect(result).toMatchObject({ status: 200, bodyBytes: TEXT.length, truncated: false, bodyNote: null });
    expect(stored(result).equals(TEXT)).toBe(true);
  });

  it("is kept to 16 KiB of its decoded bytes", async () => {
    const body = gzipSync(Buffer.alloc(100_000, "x"));
    const result = await (await serve({ "content-encoding": "gzip" }, body)).post();
    expect(result).toMatchObject({ status: 200, bodyBytes: 100_000, truncated: true });
    expect(stored(result).equals(Buffer.alloc(MAX_STORED_RESPONSE_BYTES, "x"))).toBe(true);
  });

  it("may be empty", async () => {
    expect(await (await serve({ "content-encoding": "gzip" }, Buffer.alloc(0))).post()).toMatchObject({
      status: 200,
      bodyBytes: 0,
      bodyNote: null,
    });
    const result = await (await serve({ "content-encoding": "gzip" }, gzipSync(""))).post();
    expect(result).toMatchObject({ status: 200, bodyBytes: 0, truncated: false, bodyNote: null });
    expect(stored(result)).toHaveLength(0);
  });

  it("leaves its connection free for the next request", async () => {
    const server = await serve({ "content-encoding": "gzip" }, gzipSync(TEXT));
    for (let round = 0; round < 10; round++) await server.post();
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});

describe("an answer that says it is compressed and cannot be decoded", () => {
  it.each([
    ["gzip", "plain text", "gzip, not decoded"],
    ["br", "\xff\xff\xff\xff\xff\xff", "br, not decoded"],
    ["zstd", "(\xb5/\xfd", "zstd, not decoded"],
    ["gzip, br", "twice", "gzip, br, not decoded"],
    ["nonsense", "x", "nonsense, not decoded"],
  ])("%s is kept as it came, and says so", async (encoding, text, note) => {
    const body = Buffer.from(text, "latin1");
    const result = await (await serve({ "content-encoding": encoding }, body, 503)).post();
    expect(result).toMatchObject({ status: 503, bodyBytes: body.length, truncated: false, bodyNote: note });
    expect(stored(result).equals(body)).toBe(true);
  });

  it("and breaks off in the middle is kept as far as it goes", async () => {
    const noise = Buffer.from(Array.from({ length: 40_000 }, (_, index) => (index * 7919) % 251));
    const whole = gzipSync(noise, { level: constants.Z_BEST_SPEED });
    const result = await (
      await serve({ "content-encoding": "gzip" }, whole.subarray(0, whole.length - 12))
    ).post();
    expect(result).toMatchObject({ status: 200, truncated: true, bodyNote: "gzip, broken" });
    expect(stored(result).equals(noise.subarray(0, stored(result).length))).toBe(true);
    expect(stored(result).length).toBeGreaterThan(0);
  });
});

describe("a body that unpacks to more than anybody should read", () => {
  it.each([
    ["gzip", gzipSync(Buffer.alloc(100 * MEGABYTE))],
    [
      "br",
      brotliCompressSync(Buffer.alloc(100 * MEGABYTE), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
    ],
  ])(
    "%s of 100 MB is given up after a bounded part; the status stands, the memory too",
    async (encoding, bomb) => {
      expect(bomb.length).toBeLessThan(MAX_READ_RESPONSE_BYTES);
      const server = await serve({ "content-encoding": encoding }, bomb);
      await server.post();
      const before = process.memoryUsage();
      let most = 0;
      const timer = setInterval(() => {
        const now = process.memoryUsage();
        most = Math.max(most, now.arrayBuffers + now.external - before.arrayBuffers - before.external);
      }, 1);
      const results = await Promise.all(Array.from({ length: 8 }, () => server.post()));
      clearInterval(timer);
      for (const result of results) {
        expect(result).toMatchObject({ kind: "response", status: 200, truncated: true });
        expect(stored(result).equals(Buffer.alloc(MAX_STORED_RESPONSE_BYTES))).toBe(true);
        const bytes = result.kind === "response" ? result.bodyBytes : 0;
        expect(bytes).toBeGreaterThan(MAX_READ_RESPONSE_BYTES);
        expect(bytes).toBeLessThan(2 * MAX_READ_RESPONSE_BYTES);
      }
      expect(most).toBeLessThan(8 * 5_000_000);
    },
  );
});

describe("time", () => {
  it("that is up while a complete answer is still being decoded changes nothing about the answer", async () => {
    // The answer is complete for the client when the decoder has not had its turn yet.
    const body = new ResponseBody("gzip", () => {});
    body.add(gzipSync(TEXT));
    let done = false;
    body.end(() => {
      done = true;
    });
    expect(done).toBe(false);
    expect(body.read()).toMatchObject({ bytes: expect.any(Number), note: "gzip, not decoded" });
    const whole = new ResponseBody("gzip", () => {});
    whole.add(gzipSync(TEXT));
    let ended = false;
    whole.end(() => {
      ended = true;
    });
    await waitFor(() => ended);
    expect(whole.read()).toMatchObject({ bytes: TEXT.length, note: null });
  });
});
