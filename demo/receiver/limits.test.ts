import { once } from "node:events";
import { connect } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { prepareSecret, signPlain } from "#domain/signature.ts";
import { post, statuses } from "./post.ts";
import { createReceiver } from "./server.ts";
import type { Receiver, ReceiverOptions } from "./types.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const OLD_SECRET = `whsec_${Buffer.alloc(24, 8).toString("base64")}`;
const open: Receiver[] = [];

async function receiverWith(options: ReceiverOptions): Promise<Receiver> {
  const receiver = await createReceiver(options);
  open.push(receiver);
  return receiver;
}
afterEach(async () => {
  await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});

function signed(secret: string, body: string, at = new Date()): Record<string, string> {
  return {
    "webhook-id": "dlv_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("dlv_1", at, body),
  };
}

describe("RECV-5 limits on memory", () => {
  it("gives up the oldest records and stays exact in its counters", async () => {
    const receiver = await receiverWith({ recording: { recordLimit: 3 } });
    await statuses(`${receiver.url}/ok/acme`, ["a", "b", "c", "d", "e"]);
    expect(receiver.requests().map((record) => record.key)).toEqual(["c", "d", "e"]);
    expect(receiver.totals()).toMatchObject({ requests: 5, effects: 5, recordsDropped: 2 });
    expect(receiver.requests({ afterSequence: 4 }).map((record) => record.key)).toEqual(["e"]);
    expect(receiver.requests({ limit: 2 }).map((record) => record.key)).toEqual(["c", "d"]);
  });

  it("stores nothing when recording is off, and can be switched while it runs", async () => {
    const receiver = await receiverWith({ recording: { recordLimit: 0 } });
    const url = `${receiver.url}/ok/acme`;
    await statuses(url, ["a"]);
    receiver.setRecording({ recordLimit: 10, keepBodies: true });
    await post(url, "b", { body: "with \0 body" });
    receiver.setRecording({ keepBodies: false, hashBodies: false });
    await statuses(url, ["c"]);
    expect(receiver.requests()).toMatchObject([
      { key: "b", bodyBase64: Buffer.from("with \0 body").toString("base64") },
      { key: "c", bodyBase64: null, bodySha256: null, bodyBytes: 10 },
    ]);
    receiver.setRecording({ recordLimit: 1 });
    expect(receiver.requests().map((record) => record.key)).toEqual(["c"]);
    expect(receiver.stats("acme").requests).toBe(3);
    expect(() => receiver.setRecording({ recordLimit: -1 })).toThrow(RangeError);
  });

  it("says when it has forgotten keys", async () => {
    const receiver = await receiverWith({ keyLimit: 2 });
    await statuses(`${receiver.url}/ok/acme`, ["a", "b"]);
    expect(receiver.totals().keysForgotten).toBe(0);
    await statuses(`${receiver.url}/ok/acme`, ["c", "c", "a"]);
    expect(receiver.totals()).toMatchObject({ keysForgotten: 2, distinctKeys: 4, effects: 4, repeated: 1 });
  });
});

describe("RECV-3 signatures", () => {
  it("knows valid, invalid, stale and absent ones, with two live secrets", async () => {
    const receiver = await receiverWith({
      secretFor: (name) => (name === "acme" ? [SECRET, OLD_SECRET] : undefined),
    });
    const url = `${receiver.url}/ok/acme`;
    const send = (key: string, headers: Record<string, string>) => post(url, key, { body: "{}", headers });
    const both = signed(SECRET, "{}");
    both["webhook-signature"] += ` ${signed(OLD_SECRET, "{}")["webhook-signature"]}`;
    await send("new", signed(SECRET, "{}"));
    await send("old", signed(OLD_SECRET, "{}"));
    await send("both", both);
    await send("other body", signed(SECRET, "{ }"));
    await send("other secret", signed(`whsec_${Buffer.alloc(24, 9).toString("base64")}`, "{}"));
    await send("stale", signed(SECRET, "{}", new Date(Date.now() - 400_000)));
    await send("absent", {});
    await post(`${receiver.url}/ok/else`, "unknown", { headers: signed(SECRET, "{}") });
    expect(receiver.requests().map((record) => [record.key, record.signature])).toEqual([
      ["new", "valid"],
      ["old", "valid"],
      ["both", "valid"],
      ["other body", "invalid"],
      ["other secret", "invalid"],
      ["stale", "stale"],
      ["absent", "absent"],
      ["unknown", "unchecked"],
    ]);
    expect(receiver.stats("acme")).toMatchObject({ validSignatures: 3, badSignatures: 4 });
  });

  it("knows the destination's own header", async () => {
    const receiver = await receiverWith({});
    receiver.setSecret("acme", { secrets: [OLD_SECRET, SECRET], header: "X-Acme-Signature" });
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const header = signPlain({ timestampSeconds, body: Buffer.from("{}"), secret: prepareSecret(SECRET) });
    const url = `${receiver.url}/ok/acme`;
    await post(url, "a", { body: "{}", headers: { "x-acme-signature": header } });
    await post(url, "b", { body: "{}", headers: { "x-acme-signature": header.slice(0, -2) } });
    await post(url, "c", { body: "{}", headers: { "x-acme-signature": "nonsense" } });
    receiver.setSecret("acme", null);
    await post(url, "d", { body: "{}" });
    expect(receiver.requests().map((record) => record.signature)).toEqual([
      "valid",
      "invalid",
      "invalid",
      "unchecked",
    ]);
  });

  it("answers 401 where a valid signature is required, without an effect", async () => {
    const receiver = await receiverWith({ secretFor: () => SECRET });
    const url = `${receiver.url}/ok/acme?auth=require`;
    expect((await post(url, "a", { body: "{}" })).status).toBe(401);
    expect((await post(url, "a", { body: "{}", headers: signed(SECRET, "{}") })).status).toBe(200);
    expect(receiver.stats("acme")).toMatchObject({ distinctKeys: 1, effects: 1, repeated: 0 });
  });
});

describe("RECV-5 connections", () => {
  it("closes a connection that is idle for longer than it was told", async () => {
    const receiver = await receiverWith({ keepAliveTimeoutMs: 50 });
    const socket = connect(receiver.port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
    });
    socket.write("POST /ok/acme HTTP/1.1\r\nhost: x\r\nidempotency-key: a\r\ncontent-length: 0\r\n\r\n");
    await once(socket, "end");
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toMatch(/connection: keep-alive/i);
    socket.destroy();
  });

  it("close ends what is open, after the time of grace", async () => {
    const receiver = await createReceiver();
    const slow = post(`${receiver.url}/slow/100/acme`, "a");
    const never = post(`${receiver.url}/never/acme`, "b");
    const refused = expect(never).rejects.toThrow();
    await receiver.waitFor("acme", (stats) => stats.distinctKeys === 2);
    await receiver.close(1_000);
    expect((await slow).status).toBe(200);
    await refused;
    await expect(post(`${receiver.url}/ok/acme`, "c")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
