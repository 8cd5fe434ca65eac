import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ReceiverControlError } from "./client.ts";
import { post, statuses } from "./post.ts";
import { type ReceiverProcess, spawnReceiver } from "./spawn.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
let receiver: ReceiverProcess;

beforeAll(async () => {
  receiver = await spawnReceiver();
});
afterEach(() => receiver.client.reset());
afterAll(() => receiver.stop());

describe("RECV-5 the receiver as a process", () => {
  it("is scripted, read and reset from another process", async () => {
    const { client, url } = receiver;
    await client.script("acme", ["429:3", 200]);
    expect(await statuses(`${url}/ok/acme`, ["a", "a", "b"])).toEqual([429, 200, 200]);
    expect(await client.stats("acme")).toMatchObject({ requests: 3, distinctKeys: 2, effects: 2 });
    expect((await client.allStats()).map((stats) => stats.destination)).toEqual(["acme"]);
    expect(await client.totals()).toMatchObject({ requests: 3, destinations: 1 });
    expect(await client.requests({ destination: "acme", key: "a" })).toMatchObject([
      { sequence: 1, status: 429, retryAfter: "3" },
      { sequence: 2, status: 200 },
    ]);
    expect(await client.requests({ path: "/ok/other" })).toEqual([]);
    await client.reset();
    expect((await client.totals()).requests).toBe(0);
  });

  it("keeps its control API out of the counters and says how it is", async () => {
    const health = await receiver.client.health();
    expect(health).toMatchObject({ ok: true, pid: receiver.pid });
    expect(health.cpuMs).toBeGreaterThan(0);
    expect((await receiver.client.totals()).requests).toBe(0);
  });

  it("takes secrets and recording, and never shows a secret", async () => {
    const { client, url } = receiver;
    await client.setSecret("acme", { secrets: [SECRET] });
    expect(await client.setRecording({ keepBodies: true })).toEqual({
      recordLimit: 10_000,
      hashBodies: true,
      keepBodies: true,
    });
    await post(`${url}/ok/acme`, "a", { body: "{}" });
    const [record] = await client.requests();
    expect(record).toMatchObject({ signature: "absent", bodyBase64: "e30=" });
    const shown = JSON.stringify([await client.allStats(), await client.requests(), await client.totals()]);
    expect(shown).not.toContain(SECRET);
    await client.setSecret("acme", null);
    await client.setRecording({ keepBodies: false });
  });

  it("waits for a condition", async () => {
    const { client, url } = receiver;
    const sent = post(`${url}/slow/50/acme`, "a");
    expect(await client.waitFor("acme", (stats) => stats.finished === 1)).toMatchObject({ effects: 1 });
    await sent;
    await expect(client.waitFor("acme", () => false, 30)).rejects.toThrow(/in vain/);
  });

  it("refuses wrong commands with one clear message, and web pages", async () => {
    const { client, url } = receiver;
    await expect(client.script("acme", ["wat"])).rejects.toThrow(ReceiverControlError);
    await expect(client.setRecording({ recordLimit: -1 })).rejects.toThrow(/422/);
    await expect(client.requests({ destination: "" })).rejects.toThrow(/422/);
    const answers = await Promise.all([
      request(`${url}/_control/nothing`),
      request(`${url}/_control/script`, { method: "POST", body: "{" }),
      request(`${url}/_control/reset`, { method: "POST", headers: { origin: "http://evil.example" } }),
    ]);
    expect(answers.map((answer) => answer.statusCode)).toEqual([404, 400, 403]);
    await Promise.all(answers.map((answer) => answer.body.dump()));
  });

  it("ends with 0 on SIGTERM, after what is open", async () => {
    const other = await spawnReceiver(["--records", "0"]);
    const slow = post(`${other.url}/slow/200/acme`, "a");
    await other.client.waitFor("acme", (stats) => stats.effects === 1);
    const code = other.stop();
    expect((await slow).status).toBe(200);
    expect(await code).toBe(0);
  });

  it("ends by itself when its parent is gone", async () => {
    const child = fork(MAIN, [], { stdio: "ignore", execArgv: [] });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.disconnect();
    expect(await ended).toBe(0);
  });

  it("names a busy port and a wrong argument in one line", async () => {
    const port = new URL(receiver.url).port;
    await expect(spawnReceiver(["--port", port])).rejects.toThrow("receiver: the port is in use");
    await expect(spawnReceiver(["--port", "99999"])).rejects.toThrow(
      "--port must be a whole number up to 65535",
    );
    await expect(spawnReceiver(["--wat"])).rejects.toThrow("usage:");
  });
});
