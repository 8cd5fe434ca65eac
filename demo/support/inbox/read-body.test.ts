/** RECV-2: a body over 256 KiB is answered with 413 before it is decoded and without being read to its end. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { waitFor } from "#tests/support/wait-for.ts";
import { createInbox } from "./inbox.ts";
import { createLimiter } from "./limiter.ts";
import { type ServedInbox, serveInbox } from "./serve.ts";

const MAX_BODY_BYTES = 256 * 1024;
const PATH = "/demo/support/us/dst_00000000000000000000000000000001";
/** What an endless body may have sent before the answer: the limit, what is dropped, and what sockets hold. */
const MOST_SENT_BYTES = 64 * 1024 * 1024;

let served: ServedInbox;

beforeAll(async () => {
  // No endpoint is found and no database is there: whatever passes the body's limit ends at its signature.
  served = await serveInbox(
    createInbox({
      endpoints: { find: async () => null },
      poolOf: () => {
        throw new Error("no request of this test gets that far");
      },
      limiter: createLimiter({ ratePerSecond: 1, burst: 1 }),
      nowMs: () => Date.now(),
      onError: (error) => console.error(error),
    }),
  );
});
afterAll(() => served.close());

/** Sends the head of a request by hand and waits for an answer with the text. */
async function answerTo(headers: string, text: string): Promise<string> {
  const socket = connect(served.port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("utf8");
  });
  socket.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
  try {
    await waitFor(() => answer.includes(text), { what: "the answer" });
  } finally {
    socket.destroy();
  }
  return answer;
}

describe("RECV-2 a body over 256 KiB", () => {
  it("413 by its Content-Length, before any of it has come", async () => {
    const answer = await answerTo(`Content-Length: ${MAX_BODY_BYTES + 1}`, "body_too_large");
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/connection: close/i);
  });

  it("413 while an endless body without a length is still coming, and then the connection is cut", async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 16_384;
        this.push(Buffer.alloc(16_384, 97));
      },
    });
    const outgoing = httpRequest(served.url + PATH, {
      method: "POST",
      headers: { "transfer-encoding": "chunked" },
    });
    const closed = new Promise<void>((resolve) => outgoing.once("close", () => resolve()));
    const status = new Promise<number | undefined>((resolve) => {
      outgoing.once("response", (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    // The cut comes as an error of the writing side.
    outgoing.on("error", () => {});
    endless.pipe(outgoing);
    expect(await status).toBe(413);
    await closed;
    endless.destroy();
    expect(sent).toBeLessThan(MOST_SENT_BYTES);
  });

  it("one of exactly 256 KiB is read, one byte more is not, and the connection goes on", async () => {
    const post = (bytes: number) =>
      fetch(served.url + PATH, { method: "POST", body: Buffer.alloc(bytes, 97) });
    expect((await post(MAX_BODY_BYTES)).status).toBe(401);
    const refused = await post(MAX_BODY_BYTES + 1);
    expect(refused.status).toBe(413);
    expect(refused.headers.get("connection")).not.toBe("close");
    expect(await refused.json()).toMatchObject({ status: 413, code: "body_too_large" });
    expect((await post(10)).status).toBe(401);
  });
});
