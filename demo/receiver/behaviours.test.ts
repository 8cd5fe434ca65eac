import { createHash } from "node:crypto";
import { Agent } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readHttpDate } from "#domain/retry-after.ts";
import { post, start, statuses } from "./post.ts";
import { createReceiver } from "./server.ts";
import type { Receiver } from "./types.ts";

let receiver: Receiver;
const at = (path: string) => `${receiver.url}${path}`;

beforeAll(async () => {
  receiver = await createReceiver();
});
afterEach(() => receiver.reset());
afterAll(() => receiver.close());

describe("RECV-5 the key", () => {
  it("applies an effect once per key and gives a repeat the previous result", async () => {
    const first = await post(at("/ok/acme"), "k1");
    const other = await post(at("/ok/acme"), "k2");
    const again = await post(at("/ok/acme"), "k1");
    expect(first).toMatchObject({ status: 200, body: '{"effect":1}', headers: { "x-effect": "applied" } });
    expect(other.body).toBe('{"effect":2}');
    expect(again).toMatchObject({ status: 200, body: first.body, headers: { "x-effect": "repeated" } });
    expect(receiver.stats("acme")).toMatchObject({ requests: 3, distinctKeys: 2, effects: 2, repeated: 1 });
  });

  it("keeps the keys of two destinations apart", async () => {
    await post(at("/ok/a"), "k1");
    expect((await post(at("/ok/b"), "k1")).headers["x-effect"]).toBe("applied");
    expect(receiver.totals()).toMatchObject({ destinations: 2, distinctKeys: 2, effects: 2 });
  });

  it("answers 422 without a key, and counts it", async () => {
    expect((await post(at("/ok/acme"), null)).status).toBe(422);
    expect((await post(at("/ok/acme"), "")).status).toBe(422);
    expect(receiver.stats("acme")).toMatchObject({ requests: 2, withoutKey: 2, distinctKeys: 0, effects: 0 });
  });

  it("PROOF-2 can ignore the key, and then shows the second effect", async () => {
    expect(await statuses(at("/ok/acme?key=ignore"), ["k1", "k1"])).toEqual([200, 200]);
    expect(receiver.stats("acme")).toMatchObject({ distinctKeys: 1, effects: 2, repeated: 0 });
  });

  it("gives a key with an effect its result even where the path now fails", async () => {
    await post(at("/status/201/acme"), "k1");
    expect(await statuses(at("/always/500/acme"), ["k1", "k2"])).toEqual([201, 500]);
  });

  it("refuses other methods with 405 and unknown paths with 404, both counted", async () => {
    expect((await post(at("/ok/acme"), "k1", { method: "GET" })).headers.allow).toBe("POST");
    expect((await post(at("/nowhere"), "k1")).status).toBe(404);
    expect(receiver.stats("acme")).toMatchObject({ requests: 1, statuses: { 405: 1 }, effects: 0 });
    expect(receiver.stats("(unknown)")).toMatchObject({ requests: 1, statuses: { 404: 1 } });
  });

  it("refuses a body over its limit without an effect", async () => {
    const answer = await post(at("/ok/acme"), "k1", { body: Buffer.alloc(1024 * 1024 + 1) }).catch(
      () => null,
    );
    // The sender may see the closed connection before the answer.
    if (answer !== null) expect(answer.status).toBe(413);
    const seen = await receiver.waitFor("acme", (stats) => stats.statuses["413"] === 1);
    expect(seen.effects).toBe(0);
  });
});

describe("RECV-5 throttling", () => {
  it("RETRY-3 answers 429 with seconds twice per key and then succeeds", async () => {
    const url = at("/429/seconds/3/acme?times=2");
    const first = await post(url, "k1");
    expect(first).toMatchObject({ status: 429, headers: { "retry-after": "3", "x-effect": "none" } });
    expect(await statuses(url, ["k1", "k2", "k1", "k1"])).toEqual([429, 429, 200, 200]);
    expect(receiver.stats("acme")).toMatchObject({ effects: 1, repeated: 1, statuses: { 429: 3, 200: 2 } });
  });

  it("counts per request over all keys when asked", async () => {
    expect(await statuses(at("/429/none/acme?times=2&per=request"), ["a", "b", "c", "d"])).toEqual([
      429, 429, 200, 200,
    ]);
  });

  it("throttles for ever when no number is given", async () => {
    expect(await statuses(at("/429/none/acme"), ["a", "a", "a", "a"])).toEqual([429, 429, 429, 429]);
    expect((await post(at("/429/none/acme"), "a")).headers["retry-after"]).toBeUndefined();
  });

  it.each(["imf", "rfc850", "asctime"])("RETRY-4 asks with a date in the %s form", async (form) => {
    const sentAtMs = Date.now();
    const answer = await post(at(`/429/date/30/acme?form=${form}`), "k1");
    const asked = readHttpDate(String(answer.headers["retry-after"]), sentAtMs);
    expect(asked).not.toBeNull();
    expect(Number(asked)).toBeGreaterThanOrEqual(sentAtMs + 29_990);
    expect(receiver.requests()[0]?.notBeforeMs).toBe(asked);
  });

  it("RETRY-5 sends a malformed Retry-After byte for byte, and RETRY-4 one on 503", async () => {
    expect((await post(at("/429/malformed/a"), "k1")).headers["retry-after"]).toBe("soon");
    expect((await post(at("/429/malformed/a?value=-5"), "k1")).headers["retry-after"]).toBe("-5");
    expect((await post(at("/429/malformed/a?value=120%3Bq%3D1"), "k1")).headers["retry-after"]).toBe(
      "120;q=1",
    );
    const unavailable = await post(at("/429/seconds/120/a?status=503"), "k1");
    expect(unavailable).toMatchObject({ status: 503, headers: { "retry-after": "120" } });
  });
});

describe("RECV-5 plain failures", () => {
  it.each([
    ["/status/204/a", 204],
    ["/status/304/a", 304],
    ["/status/599/a", 599],
    ["/reject/422/a", 422],
    ["/always/500/a", 500],
  ])("%s answers %i", async (path, status) => {
    expect((await post(at(path), "k1")).status).toBe(status);
    expect(receiver.stats("a").effects).toBe(status === 204 ? 1 : 0);
  });

  it("says why it rejects", async () => {
    expect((await post(at("/reject/400/a?message=no+such+account"), "k1")).body).toBe(
      '{"error":"no such account"}',
    );
  });

  it("fails a number of times per key before it succeeds", async () => {
    expect(await statuses(at("/status/500/a?times=2"), ["k", "k", "k"])).toEqual([500, 500, 200]);
  });

  it("RETRY-8 redirects to a path that is recorded, so that a follower is seen", async () => {
    const answer = await post(at("/redirect/302/acme"), "k1");
    expect(answer).toMatchObject({ status: 302, headers: { location: "/redirected/acme" } });
    expect(receiver.stats("redirected/acme").requests).toBe(0);
    await post(at(String(answer.headers.location)), "k1");
    expect(receiver.stats("redirected/acme")).toMatchObject({ requests: 1, effects: 1 });
    const elsewhere = await post(at("/redirect/307/acme?to=http%3A%2F%2F127.0.0.1%3A9%2Fx"), "k1");
    expect(elsewhere.headers.location).toBe("http://127.0.0.1:9/x");
  });
});

describe("RECV-5 a merchant's own limits", () => {
  it("allows the burst and then answers 429 with the seconds to wait", async () => {
    const seen = await Promise.all(["a", "b", "c", "d"].map((key) => post(at("/limit/0.01/3/acme"), key)));
    const refused = seen.filter((answer) => answer.status === 429);
    expect(refused).toHaveLength(1);
    expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(90);
    expect(Number(refused[0]?.headers["retry-after"])).toBeLessThanOrEqual(100);
    expect(receiver.stats("acme")).toMatchObject({ requests: 4, effects: 3, distinctKeys: 3 });
  });

  it("earns tokens with its clock", async () => {
    let nowMs = 1_000_000;
    const timed = await createReceiver({ now: () => nowMs });
    const url = `${timed.url}/limit/5/1/acme`;
    expect(await statuses(url, ["a", "b"])).toEqual([200, 429]);
    nowMs += 199;
    expect(await statuses(url, ["b"])).toEqual([429]);
    nowMs += 1;
    expect(await statuses(url, ["b", "c"])).toEqual([200, 429]);
    nowMs += 60_000;
    expect(await statuses(url, ["c", "d"])).toEqual([200, 429]);
    await timed.close();
  });

  it("limits repeats too, since a limit stands before the key", async () => {
    expect(await statuses(at("/limit/0.01/1/acme"), ["a", "a"])).toEqual([200, 429]);
  });

  it("FAIR-1 refuses more than n at once and reports the peak", async () => {
    const url = at("/concurrency/2/acme");
    receiver.script("acme", ["never"]);
    const abort = new AbortController();
    const held = ["a", "b"].map((key) => expect(post(url, key, { signal: abort.signal })).rejects.toThrow());
    await receiver.waitFor("acme", (stats) => stats.distinctKeys === 2);
    expect(await post(url, "c")).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    expect(receiver.stats("acme")).toMatchObject({ peakConcurrency: 3, currentConcurrency: 2 });
    abort.abort();
    await Promise.all(held);
    await receiver.waitFor("acme", (stats) => stats.currentConcurrency === 0);
    receiver.script("acme", []);
    expect((await post(url, "d")).status).toBe(200);
  });

  it("counts one sender on one connection as a peak of one", async () => {
    const agent = new Agent({ connections: 1, pipelining: 1 });
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => post(at("/ok/acme"), `k${n}`, { dispatcher: agent })),
    );
    await agent.close();
    expect(receiver.stats("acme")).toMatchObject({ requests: 200, effects: 200, peakConcurrency: 1 });
    expect(new Set(receiver.requests().map((record) => record.connection)).size).toBe(1);
  });
});

describe("RECV-5 scripts", () => {
  it("answers a destination in order, 429, 429, 200, then 500 for ever", async () => {
    receiver.script("acme", ["429:3", 429, 200, 500]);
    expect(await statuses(at("/ok/acme"), ["a", "a", "a", "b", "c", "b"])).toEqual([
      429, 429, 200, 500, 500, 500,
    ]);
    expect((await post(at("/ok/acme"), "a")).headers["x-effect"]).toBe("repeated");
    receiver.script("acme", []);
    expect(await statuses(at("/ok/acme"), ["b"])).toEqual([200]);
  });

  it("answers each key in order when asked, and a path alone", async () => {
    receiver.script("/status/500/acme", [503, 200], { per: "key" });
    expect(await statuses(at("/status/500/acme?times=1"), ["a", "b", "a", "b"])).toEqual([
      503, 503, 200, 200,
    ]);
    expect(await statuses(at("/ok/acme"), ["c"])).toEqual([200]);
  });

  it("runs a script that the path carries, and a reset starts it again", async () => {
    const url = at("/script/429:1,200,500/acme");
    expect(await statuses(url, ["a", "a", "b"])).toEqual([429, 200, 500]);
    receiver.reset();
    expect(await statuses(url, ["a"])).toEqual([429]);
  });

  it("can fail after the effect", async () => {
    receiver.script("acme", ["hangup", { status: 500, effect: true }, 200]);
    await expect(post(at("/ok/acme"), "a")).rejects.toThrow();
    expect(await statuses(at("/ok/acme"), ["b", "b", "a"])).toEqual([500, 200, 200]);
    expect(receiver.stats("acme")).toMatchObject({ distinctKeys: 2, effects: 2, repeated: 2 });
  });
});

describe("RECV-5 records", () => {
  it("ID-4 shows what was sent: headers, body hash, connection and times", async () => {
    const body = Buffer.from('{"a":1.0,"b":12345678901234567890}');
    const before = Date.now();
    await post(at("/ok/acme"), "k1", {
      body,
      headers: {
        "content-type": "application/json",
        "webhook-id": "dlv_00000000000000000000000000000001",
        "webhook-timestamp": "1796040000",
        "webhook-signature": "v1,AAAA",
        "sluice-attempt": "2",
        "sluice-tenant": "ten_1",
        "sluice-region": "eu",
        "sluice-event-type": "hold.released",
      },
    });
    const [record] = receiver.requests({ destination: "acme" });
    expect(record).toMatchObject({
      sequence: 1,
      method: "POST",
      path: "/ok/acme",
      key: "k1",
      webhookId: "dlv_00000000000000000000000000000001",
      webhookTimestamp: "1796040000",
      signatureHeader: "v1,AAAA",
      signature: "unchecked",
      attempt: 2,
      tenant: "ten_1",
      region: "eu",
      eventType: "hold.released",
      contentType: "application/json",
      bodyBytes: body.length,
      bodySha256: createHash("sha256").update(body).digest("hex"),
      bodyBase64: null,
      status: 200,
      effect: "applied",
    });
    expect(Math.abs((record?.arrivedAtMs ?? 0) - before)).toBeLessThan(5_000);
    expect(receiver.stats("acme").regions).toEqual({ us: 0, eu: 1, other: 0 });
    expect(await receiver.waitFor("acme", (stats) => stats.finished === 1)).toMatchObject({
      bodyBytes: body.length,
    });
  });

  it("reset forgets everything, also what is still open", async () => {
    receiver.script("acme", [200, 500]);
    await post(at("/ok/acme"), "k1");
    const abort = new AbortController();
    const open = start(at("/never/acme"), "k2", { signal: abort.signal });
    await receiver.waitFor("acme", (stats) => stats.distinctKeys === 2);
    receiver.reset();
    abort.abort();
    await expect(open).rejects.toThrow();
    expect(receiver.requests()).toEqual([]);
    expect(receiver.totals()).toMatchObject({ requests: 0, destinations: 0, currentConcurrency: 0 });
    expect((await post(at("/ok/acme"), "k1")).headers["x-effect"]).toBe("applied");
    expect(receiver.stats("acme")).toMatchObject({ requests: 1, aborted: 0, currentConcurrency: 0 });
    expect(receiver.totals().currentConcurrency).toBe(0);
  });

  it("waitFor gives up with the last counters", async () => {
    await expect(receiver.waitFor("acme", () => false, 20)).rejects.toThrow(/20 ms in vain.*"requests":0/);
  });
});
