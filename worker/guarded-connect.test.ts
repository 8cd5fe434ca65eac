/**
 * Where connections may go, shown with sockets: what must not be reached gets no connection, or no byte of a request.
 * 127.0.0.1 stands for a public address here, 127.0.0.2 for one that must not be reached.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { parseSendingRules, type SendingRules, STRICT_RULES } from "#domain/destination-url.ts";
import { createDnsServer, type DnsServer } from "#tests/support/dns-server.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { CutOff } from "./cut-off.ts";
import { createHttpClient, type ExchangeResult, exchange, type HttpClientOptions } from "./exchange.ts";
import { askedOnce } from "./guarded-connect.ts";

const DEADLINE_MS = 10_000;
const ONE_ADDRESS = parseSendingRules({ allow: "127.0.0.1/32", plainHttp: "true" });
const SLOW_SERVER = fileURLToPath(new URL("../tests/support/slow-accept-server.ts", import.meta.url));
const TLS = new URL("../tests/support/tls/", import.meta.url);
const NEVER = new CutOff();
const ok: RequestListener = (request, response) => request.resume().on("end", () => response.end("ok"));

let dns: DnsServer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  dns = await createDnsServer();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => dns.close());

interface Listening {
  readonly port: number;
  /** Connections so far. */
  connections(): number;
  /** Bytes that came so far. */
  bytes(): number;
}

/** One port number on several addresses of this machine, each with its own count. */
async function listen(hosts: readonly string[], make = (): Server => createServer(ok)): Promise<Listening[]> {
  const listening: Listening[] = [];
  for (const host of hosts) {
    const server = make();
    let connections = 0;
    const sockets: Socket[] = [];
    server.on("connection", (socket: Socket) => {
      connections += 1;
      sockets.push(socket);
    });
    server.listen(listening[0]?.port ?? 0, host);
    await once(server, "listening");
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    listening.push({
      port,
      connections: () => connections,
      bytes: () => sockets.reduce((sum, socket) => sum + socket.bytesRead, 0),
    });
  }
  return listening;
}

function clientOf(rules: SendingRules, options: HttpClientOptions = {}) {
  const client = createHttpClient(DEADLINE_MS, { rules, resolve: dns.resolve, ...options });
  cleanups.push(() => client.destroy());
  return client;
}

function post(client: ReturnType<typeof clientOf>, origin: string): Promise<ExchangeResult> {
  const request = { origin, path: "/", headers: [], body: Buffer.from("{}"), deadlineMs: DEADLINE_MS };
  return exchange(client, request, NEVER);
}

describe("a name", () => {
  it("fault 33: is resolved and reached, in a list as Node asks for it", async () => {
    const [open] = await listen(["127.0.0.1"]);
    dns.answer("one.test", ["127.0.0.1"]);
    expect(await post(clientOf(ONE_ADDRESS), `http://one.test:${open?.port}`)).toMatchObject({ status: 200 });
    expect(open?.connections()).toBe(1);
  });

  it("fault 31: that answers another address at send than at save gets no connection", async () => {
    const [open, shut] = await listen(["127.0.0.1", "127.0.0.2"]);
    dns.answer("rebinding.test", ["127.0.0.1"], ["127.0.0.2"]);
    expect(await dns.resolve("rebinding.test")).toMatchObject([{ address: "127.0.0.1" }]);
    expect(await post(clientOf(ONE_ADDRESS), `http://rebinding.test:${open?.port}`)).toEqual({
      kind: "blocked",
      address: "127.0.0.2 (loopback)",
    });
    expect([open?.connections(), shut?.connections()]).toEqual([0, 0]);
  });

  it("fault 31: is asked for once, and what was checked is what is connected to", async () => {
    const [open, shut] = await listen(["127.0.0.1", "127.0.0.2"]);
    dns.answer("flipping.test", ["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2"]);
    const client = clientOf(ONE_ADDRESS);
    expect(await post(client, `http://flipping.test:${open?.port}`)).toMatchObject({ status: 200 });
    expect(dns.asked("flipping.test")).toBe(1);
    // The kept connection is not looked up again, and a new one is checked again.
    await waitForIdle();
    expect(await post(client, `http://flipping.test:${open?.port}`)).toMatchObject({ status: 200 });
    expect(dns.asked("flipping.test")).toBe(1);
    await client.destroy();
    expect(await post(clientOf(ONE_ADDRESS), `http://flipping.test:${open?.port}`)).toMatchObject({
      kind: "blocked",
    });
    expect([open?.connections(), shut?.connections()]).toEqual([1, 0]);
  });

  it("is reached at its allowed addresses only, wherever they stand in the answer", async () => {
    const [open, shut] = await listen(["127.0.0.1", "127.0.0.2"]);
    dns.answer("mixed.test", ["127.0.0.2", "169.254.169.254", "127.0.0.1", "fe80::1", "::1"]);
    expect(await post(clientOf(ONE_ADDRESS), `http://mixed.test:${open?.port}`)).toMatchObject({
      status: 200,
    });
    expect([open?.connections(), shut?.connections()]).toEqual([1, 0]);
  });

  it.each([
    ["metadata.test", ["169.254.169.254"], "169.254.169.254 (link_local)"],
    ["mapped.test", ["::ffff:a9fe:a9fe"], /a9fe.*|169\.254.*\(link_local\)/],
    ["nat64.test", ["64:ff9b::a9fe:a9fe"], /\(link_local\)/],
    ["sixtofour.test", ["2002:a9fe:a9fe::1"], /\(tunnel\)/],
    ["internal.test", ["10.0.0.1", "192.168.0.1", "fd00::1"], "10.0.0.1 (private)"],
    ["nowhere.test", ["0.0.0.0"], "0.0.0.0 (unspecified)"],
  ])("fault 32: %s with nothing but %j is blocked", async (name, addresses, expected) => {
    dns.answer(name, addresses);
    const result = await post(clientOf(STRICT_RULES), `https://${name}`);
    expect(result.kind === "blocked" && result.address).toMatch(expected);
  });

  it("fault 68: that does not resolve is a network error, as is a name server that fails", async () => {
    dns.answer("broken.test", "fail");
    dns.answer("empty.test", []);
    const client = clientOf(ONE_ADDRESS);
    for (const [name, code] of [
      ["unknown.test", "ENOTFOUND"],
      ["broken.test", "ESERVFAIL"],
      ["empty.test", "ENODATA"],
    ]) {
      expect(await post(client, `http://${name}:1`)).toEqual({
        kind: "network",
        code,
        phase: "dns",
        keptConnection: false,
      });
    }
  });

  it("that the system knows as this machine is blocked: localhost, with and without its dot", async () => {
    const [open] = await listen(["127.0.0.1"]);
    const client = createHttpClient(DEADLINE_MS, { rules: STRICT_RULES });
    cleanups.push(() => client.destroy());
    for (const name of ["localhost", "localhost."]) {
      expect(await post(client, `http://${name}:${open?.port}`)).toMatchObject({ kind: "blocked" });
    }
    expect(open?.connections()).toBe(0);
  });

  it("is asked for once by connections that want it at the same moment, and again by a later one", async () => {
    const asked: string[] = [];
    let answer: (addresses: []) => void = () => {};
    const resolve = askedOnce((hostname) => {
      asked.push(hostname);
      return new Promise((done) => {
        answer = done;
      });
    });
    const both = [resolve("a.test"), resolve("a.test")];
    const other = resolve("b.test");
    answer([]);
    await other;
    expect(asked).toEqual(["a.test", "b.test"]);
    void both;
    const failing = askedOnce((hostname) => {
      asked.push(hostname);
      return Promise.reject(new Error("no"));
    });
    await expect(failing("c.test")).rejects.toThrow("no");
    await expect(failing("c.test")).rejects.toThrow("no");
    expect(asked.filter((name) => name === "c.test")).toHaveLength(2);
  });
});

describe("a literal address", () => {
  it("fault 32: never reaches the lookup, and is blocked all the same in every spelling", async () => {
    const [four, six] = await listen(["127.0.0.1", "::1"]);
    const client = clientOf(STRICT_RULES, { resolve: () => Promise.reject(new Error("not to be asked")) });
    const port = four?.port;
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0177.0.0.1",
      "0x7f.1",
      "①②⑦.⓪.⓪.①",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "[fe81::1]",
      "100.64.0.1",
      "169.254.169.254",
    ]) {
      const { origin } = new URL(`http://${host}:${port}`);
      expect([host, (await post(client, origin)).kind]).toEqual([host, "blocked"]);
    }
    expect([four?.connections(), six?.connections()]).toEqual([0, 0]);
  });

  it("is reached when it is allowed, at the allowed port only", async () => {
    const [open] = await listen(["127.0.0.1"]);
    const [other] = await listen(["127.0.0.1"]);
    const client = clientOf(parseSendingRules({ allow: `127.0.0.1/32:${open?.port}`, plainHttp: "true" }));
    expect(await post(client, `http://127.0.0.1:${open?.port}`)).toMatchObject({ status: 200 });
    expect(await post(client, `http://127.0.0.1:${other?.port}`)).toMatchObject({ kind: "blocked" });
    expect([open?.connections(), other?.connections()]).toEqual([1, 0]);
  });
});

describe("the peer", () => {
  it("is what decides in the end: an address that the system turns into another gets no byte", async () => {
    // A connection to 0.0.0.0 ends at 127.0.0.1. The first is allowed here, the second is not.
    const [here] = await listen(["127.0.0.1"]);
    const rules = parseSendingRules({ allow: "0.0.0.0/8", plainHttp: "true" });
    expect(await post(clientOf(rules), `http://0.0.0.0:${here?.port}`)).toEqual({
      kind: "blocked",
      address: "127.0.0.1 (loopback)",
    });
    await waitFor(() => here?.connections() === 1);
    expect(here?.bytes()).toBe(0);
  });
});

describe("TLS", () => {
  const key = readFileSync(new URL("localhost-key.pem", TLS));
  const cert = readFileSync(new URL("localhost-cert.pem", TLS));
  const secure = () => createTlsServer({ key, cert }, ok) as unknown as Server;

  it("a certificate that nobody vouches for is a network error, whatever the environment says", async () => {
    const [server] = await listen(["127.0.0.1"], secure);
    dns.answer("hooks.test", ["127.0.0.1"]);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    try {
      expect(await post(clientOf(ONE_ADDRESS), `https://hooks.test:${server?.port}`)).toMatchObject({
        kind: "network",
        phase: "tls",
        code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("something that does not speak TLS is a network error", async () => {
    const server = createTcpServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad\r\n\r\n"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await post(clientOf(ONE_ADDRESS), `https://127.0.0.1:${port}`)).toMatchObject({
      kind: "network",
      phase: "tls",
    });
  });
});

describe("a handshake that takes its time", () => {
  /** A server that has stopped taking connections, and whose queue is full: the next handshake waits. */
  async function stalled(): Promise<{ port: number; goOn(): void }> {
    const child = fork(SLOW_SERVER, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    cleanups.push(() => child.kill("SIGKILL"));
    const [port] = (await once(child, "message")) as [number];
    child.kill("SIGSTOP");
    for (let queued = 0; queued < 8; queued++) {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      cleanups.push(() => socket.destroy());
      await Promise.race([
        once(socket, "connect"),
        waitFor(() => handshakes(port) > 0, { timeoutMs: DEADLINE_MS }),
      ]);
      if (handshakes(port) > 0) break;
    }
    expect(handshakes(port)).toBe(1);
    return { port, goOn: () => child.kill("SIGCONT") };
  }

  /** Connections from here to the port whose first packet is not answered yet. */
  function handshakes(port: number): number {
    const hex = port.toString(16).toUpperCase().padStart(4, "0");
    const lines = readFileSync("/proc/net/tcp", "latin1").split("\n");
    return lines.filter((line) => new RegExp(`^\\s*\\d+: \\S+ 0100007F:${hex} 02 `).test(line)).length;
  }

  async function send(nextAddressMs?: number): Promise<ExchangeResult> {
    const { port, goOn } = await stalled();
    // Nobody listens at the second address: to go on to it is to fail.
    dns.answer(`slow-${port}.test`, ["127.0.0.1", "127.0.0.2"]);
    const rules = parseSendingRules({ allow: "loopback", plainHttp: "true" });
    const client = clientOf(rules, nextAddressMs === undefined ? {} : { nextAddressMs });
    const startedAt = performance.now();
    const result = post(client, `http://slow-${port}.test:${port}`);
    await waitFor(() => handshakes(port) === 2 || performance.now() - startedAt > 400);
    await waitFor(() => performance.now() - startedAt > 400);
    goOn();
    return result;
  }

  it("fault 71: more than 300 ms at a name with two addresses is waited for", async () => {
    expect(await send()).toMatchObject({ kind: "response", status: 200 });
  });

  it("fault 71: which Node's own 250 ms would not have done", async () => {
    expect(await send(250)).toMatchObject({ kind: "network", phase: "connect" });
  });
});

/** Until the connection of an answer that has just been read is free again. */
async function waitForIdle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
