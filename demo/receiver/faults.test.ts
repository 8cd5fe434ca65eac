import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RAW_BODY } from "./perform.ts";
import { post, start } from "./post.ts";
import { createReceiver } from "./server.ts";
import type { Receiver } from "./types.ts";

let receiver: Receiver;
const at = (path: string) => `${receiver.url}${path}`;

beforeAll(async () => {
  receiver = await createReceiver();
});
afterEach(() => receiver.reset());
afterAll(() => receiver.close());

describe("RECV-5 broken connections", () => {
  it("RECV-4 records the key, applies the effect and hangs up; the next try gets the result", async () => {
    await expect(post(at("/hangup/acme"), "k1")).rejects.toThrow();
    const cut = await receiver.waitFor("acme", (stats) => stats.cut === 1);
    expect(cut).toMatchObject({ requests: 1, distinctKeys: 1, effects: 1, statuses: {} });
    expect(await post(at("/hangup/acme"), "k1")).toMatchObject({
      status: 200,
      body: '{"effect":1}',
      headers: { "x-effect": "repeated" },
    });
    expect(receiver.stats("acme")).toMatchObject({ requests: 2, distinctKeys: 1, effects: 1, repeated: 1 });
    expect(receiver.requests()).toMatchObject([
      { key: "k1", answer: "hangup", status: null, effect: "applied", end: "cut" },
      { key: "k1", answer: "reply", status: 200, effect: "repeated", end: "finished" },
    ]);
  });

  it("resets without an effect", async () => {
    await expect(post(at("/reset/acme?times=1"), "k1")).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(receiver.stats("acme")).toMatchObject({ distinctKeys: 1, effects: 0 });
    expect((await post(at("/reset/acme?times=1"), "k1")).headers["x-effect"]).toBe("applied");
  });

  it("cuts a body in the middle after the effect", async () => {
    const answer = await start(at("/truncate/acme?times=1"), "k1");
    expect(answer.statusCode).toBe(200);
    await expect(answer.body.text()).rejects.toThrow();
    expect((await post(at("/truncate/acme?times=1"), "k1")).headers["x-effect"]).toBe("repeated");
    expect(receiver.stats("acme").effects).toBe(1);
  });

  it("never answers, and sees the sender give up", async () => {
    const abort = new AbortController();
    const answer = start(at("/never/acme"), "k1", { signal: abort.signal });
    const open = await receiver.waitFor("acme", (stats) => stats.distinctKeys === 1);
    expect(open).toMatchObject({ currentConcurrency: 1, finished: 0, aborted: 0 });
    abort.abort();
    await expect(answer).rejects.toThrow();
    const over = await receiver.waitFor("acme", (stats) => stats.aborted === 1);
    expect(over).toMatchObject({ currentConcurrency: 0, effects: 0 });
    expect(receiver.requests()[0]).toMatchObject({ status: null, end: "aborted" });
  });

  it("RETRY-10 is slow after the effect, so that a timeout hides a success", async () => {
    const abort = new AbortController();
    const answer = start(at("/slow/600000/acme?times=1"), "k1", { signal: abort.signal });
    await receiver.waitFor("acme", (stats) => stats.effects === 1);
    abort.abort();
    await expect(answer).rejects.toThrow();
    await receiver.waitFor("acme", (stats) => stats.aborted === 1);
    expect((await post(at("/slow/600000/acme?times=1"), "k1")).headers["x-effect"]).toBe("repeated");
  });

  it("waits as long as it is told before it answers", async () => {
    await post(at("/slow/120/acme"), "k1");
    await post(at("/ok/acme?ms=120"), "k2");
    for (const record of receiver.requests()) {
      expect((record.answeredAtMs ?? 0) - record.arrivedAtMs).toBeGreaterThanOrEqual(118);
    }
  });
});

describe("RECV-5 bodies", () => {
  it("RETRY-13 drips: headers at once, then one byte after the other", async () => {
    const abort = new AbortController();
    const answer = await start(at("/drip/acme?every=10&bytes=1000"), "k1", { signal: abort.signal });
    expect(answer.statusCode).toBe(200);
    const sizes: number[] = [];
    const read = async () => {
      for await (const chunk of answer.body) {
        sizes.push((chunk as Buffer).length);
        if (sizes.length === 5) abort.abort();
      }
    };
    await expect(read()).rejects.toThrow();
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThanOrEqual(5);
    expect(bytes).toBeLessThan(1000);
    expect(await receiver.waitFor("acme", (stats) => stats.aborted === 1)).toMatchObject({ effects: 1 });
  });

  it("ends a drip when all its bytes are sent", async () => {
    expect((await post(at("/drip/acme?every=1&bytes=20"), "k1")).body).toBe(".".repeat(20));
    expect(await receiver.waitFor("acme", (stats) => stats.finished === 1)).toMatchObject({
      currentConcurrency: 0,
    });
  });

  it("RETRY-13 sends a huge body that the sender gives up on", async () => {
    const abort = new AbortController();
    const answer = await start(at("/huge/acme?mb=4096"), "k1", { signal: abort.signal });
    let bytes = 0;
    const read = async () => {
      for await (const chunk of answer.body) {
        bytes += (chunk as Buffer).length;
        if (bytes > 1024 * 1024) abort.abort();
      }
    };
    await expect(read()).rejects.toThrow();
    await receiver.waitFor("acme", (stats) => stats.aborted === 1);
    expect(receiver.requests()[0]).toMatchObject({ status: 200, effect: "applied", end: "aborted" });
  });

  it("sends a huge body in full when it is read, plain or as a small gzip", async () => {
    expect((await post(at("/huge/acme?mb=2"), "k1")).body).toHaveLength(2 * 1024 * 1024);
    const packed = await start(at("/huge/acme?mb=3&encoding=gzip"), "k2");
    const bytes = Buffer.from(await packed.body.arrayBuffer());
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(bytes.length).toBeLessThan(100_000);
    expect(gunzipSync(bytes)).toHaveLength(3 * 1024 * 1024);
  });

  it("sends NUL and bytes that are no UTF-8", async () => {
    const answer = await start(at("/raw/acme?status=500"), "k1");
    const bytes = Buffer.from(await answer.body.arrayBuffer());
    expect(answer.statusCode).toBe(500);
    expect(bytes.equals(RAW_BODY)).toBe(true);
    expect(bytes.includes(0)).toBe(true);
    expect(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes)).toThrow();
  });
});
