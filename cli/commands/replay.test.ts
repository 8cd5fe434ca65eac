/** What `sluice replay` asks of the API: a real server that notes the requests and answers what a test says. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { run } from "./replay.ts";

const ID = `rpl_${"a".repeat(32)}`;
let server: Server;
const seen: {
  method: string;
  url: string;
  ifMatch: string | undefined;
  key: string | undefined;
  auth: string | undefined;
  body: unknown;
}[] = [];
let status = 200;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    seen.push({
      method: String(request.method),
      url: String(request.url),
      ifMatch: request.headers["if-match"],
      key: request.headers["idempotency-key"] as string | undefined,
      auth: request.headers.authorization,
      body: text === "" ? null : JSON.parse(text),
    });
    response.writeHead(status, { "content-type": "application/json" });
    response.end(
      JSON.stringify(status === 200 ? { data: { version: 7 } } : { code: "forbidden", detail: "not yours" }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("SLUICE_CONSOLE_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  vi.stubEnv("SLUICE_TOKEN", "sluice_test");
  vi.spyOn(console, "log").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  seen.length = 0;
  status = 200;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await new Promise((resolve) => server.close(resolve));
});

describe("sluice replay", () => {
  it("drafts from a filter, with a key of its own", async () => {
    expect(
      await run([
        "draft",
        "--region",
        "US",
        "--death-reason",
        "rejected",
        "--name",
        "b",
        "--reason",
        "the outage is over",
        "--limit",
        "20",
      ]),
    ).toBe(0);
    expect(seen).toMatchObject([
      {
        method: "POST",
        url: "/api/v1/replays?region=us",
        auth: "Bearer sluice_test",
        body: {
          selection: { filter: { reason: "rejected" } },
          limit: 20,
          name: "b",
          reason: "the outage is over",
        },
      },
    ]);
    expect(seen[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("a verb is based on the version that was read, or on the one that is given", async () => {
    await run(["stop", ID, "--region", "eu", "--reason", "it looks wrong"]);
    expect(seen.map(({ method, url, ifMatch }) => [method, url, ifMatch])).toEqual([
      ["GET", `/api/v1/replays/${ID}?region=eu`, undefined],
      ["POST", `/api/v1/replays/${ID}/stop?region=eu`, '"7"'],
    ]);
    seen.length = 0;
    const fields = JSON.stringify({ sha256: "f".repeat(64) });
    await run([
      "approve",
      ID,
      "--region",
      "eu",
      "--reason",
      "read and right",
      "--if-version",
      "4",
      "--fields",
      fields,
    ]);
    expect(seen).toMatchObject([
      { ifMatch: '"4"', body: { sha256: "f".repeat(64), reason: "read and right" } },
    ]);
  });

  it("a follow-up names the batch before and another cause", async () => {
    const draft = ["draft", "--region", "us", "--name", "b", "--reason", "the outage is over"];
    await run([...draft, "--follow", ID, "--root-cause", "their clock was wrong"]);
    expect(seen).toMatchObject([
      { body: { selection: { deadAgainOf: ID }, rootCause: "their clock was wrong" } },
    ]);
  });

  it("the policy is shown, and its next version is based on the one that was read", async () => {
    await run(["policy", "--region", "us"]);
    await run([
      "policy",
      "--region",
      "us",
      "--fields",
      '{"dueLagMs":30000}',
      "--reason",
      "our target is 30 s",
    ]);
    const url = "/api/v1/replays/policy?region=us";
    expect(seen.map((request) => [request.method, request.url, request.ifMatch])).toEqual([
      ["GET", url, undefined],
      ["GET", url, undefined],
      ["POST", url, '"7"'],
    ]);
    expect(seen[2]?.body).toEqual({ policy: { dueLagMs: 30_000 }, reason: "our target is 30 s" });
  });

  it("files are asked for by their format, and the summary needs no region", async () => {
    await run(["report", ID, "--region", "us", "--format", "csv"]);
    await run(["summary"]);
    expect(seen.map(({ url }) => url)).toEqual([
      `/api/v1/replays/${ID}/report/export?region=us&format=csv`,
      "/api/v1/replays/summary?",
    ]);
    await expect(run(["items", ID, "--region", "us", "--format", "json"])).rejects.toThrow(/csv, ndjson/);
  });

  it("fault 35: no selection, no reason, no region and an unknown word ask nothing", async () => {
    for (const args of [
      ["draft", "--region", "us", "--name", "b", "--reason", "the outage is over"],
      ["stop", ID, "--region", "us", "--if-version", "1"],
      ["stop", ID, "--reason", "it looks wrong"],
      ["purge", ID, "--region", "us", "--reason", "it looks wrong"],
      ["stop", "rpl_1", "--region", "us", "--reason", "it looks wrong"],
    ]) {
      await expect(run(args)).rejects.toThrow();
    }
    expect(seen).toEqual([]);
  });

  it("a refusal is the exit code 1, with the API's own words", async () => {
    status = 403;
    expect(await run(["start", ID, "--region", "us", "--reason", "it is time", "--if-version", "3"])).toBe(1);
    expect(console.error).toHaveBeenLastCalledWith("sluice: the API says 403 forbidden: not yours");
  });
});
