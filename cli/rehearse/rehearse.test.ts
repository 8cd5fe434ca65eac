/** When `sluice rehearse replay` refuses: before it has asked the console for any change. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../config.ts";

let server: Server;
let consoleUrl: string;
let dataDir: string;
let environment = "DEMO";
let changes: string[] = [];

const ALL = ["configure", "enqueue", "test_event", "will_not_replay", "replay_draft", "replay_approve"];
const PEOPLE: Readonly<Record<string, { name: string; actions: string[] }>> = {
  author: { name: "author", actions: [...ALL, "replay_stop"] },
  reviewer: { name: "reviewer", actions: ["replay_approve", "replay_start"] },
  weak: { name: "weak", actions: ["read"] },
};

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "sluice-rehearse-"));
  server = createServer((request, response) => {
    if (request.method !== "GET") changes.push(`${request.method} ${request.url}`);
    const person = PEOPLE[String(request.headers.authorization).replace("Bearer ", "")];
    response.statusCode = person === undefined ? 401 : 200;
    response.setHeader("content-type", "application/json");
    const about = { version: "1", environment, node: "v24", build: "production" };
    const answer = request.url === "/api/v1/about" ? about : { ...person, email: null };
    response.end(JSON.stringify(person === undefined ? { code: "unauthenticated", detail: "no" } : answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  consoleUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  environment = "DEMO";
  changes = [];
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function rehearse(tokens: { author?: string; reviewer?: string }, ...args: string[]) {
  return new Promise<{ code: number | null; errors: string }>((resolve) => {
    const child = spawn(process.execPath, ["cli/sluice.ts", "rehearse", ...args], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        ...process.env,
        SLUICE_DATA_DIR: dataDir,
        SLUICE_CONSOLE_URL: consoleUrl,
        // Nothing listens there.
        SLUICE_RECEIVER_URL: "http://127.0.0.1:9",
        SLUICE_TOKEN: tokens.author ?? "",
        SLUICE_REVIEWER_TOKEN: tokens.reviewer ?? "",
      },
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString("utf8");
    });
    child.once("close", (code) => resolve({ code, errors: errors.trim() }));
  });
}

const both = { author: "author", reviewer: "reviewer" };
const replay = ["replay", "--region", "us"];

describe("sluice rehearse replay refuses", () => {
  it("in an environment that is no rehearsal, unless it is told to go on all the same", async () => {
    for (const name of ["PROD", "demo-prod", "EU live"]) {
      environment = name;
      const { code, errors } = await rehearse(both, ...replay);
      expect(code).toBe(1);
      expect(errors).toContain(`environment is ${name}`);
      expect(errors.split("\n")).toHaveLength(1);
    }
    // With the flag it comes as far as the receiver, which is not there.
    const told = await rehearse(both, ...replay, "--any-environment", "--json");
    expect(told.code).toBe(1);
    expect(told.errors).toContain("failed: the demo's receiver does not answer");
    expect(changes).toEqual([]);
  });

  it("one person in both parts, a person who may not, and one who is not known", async () => {
    const same = await rehearse({ author: "author", reviewer: "author" }, ...replay);
    expect(same.errors).toBe("sluice: author and second person are both author");
    const weak = await rehearse({ author: "author", reviewer: "weak" }, ...replay);
    expect(weak.errors).toBe("sluice: weak may not replay_approve, replay_start");
    const unknown = await rehearse({ author: "author", reviewer: "nobody" }, ...replay);
    expect(unknown.errors).toContain("401 unauthenticated");
    const alone = await rehearse({ author: "author" }, ...replay);
    expect(alone.errors).toContain("SLUICE_REVIEWER_TOKEN is missing");
    const none = await rehearse({}, ...replay);
    expect(none.errors).toContain("there are no demo accounts here");
    writeFileSync(path.join(dataDir, "demo-accounts.txt"), "viewer@sluice.demo  abc  only looks\n");
    expect((await rehearse({}, ...replay)).errors).toContain("have no admin@sluice.demo");
    for (const ended of [same, weak, unknown, alone, none]) expect(ended.code).toBe(1);
    expect(changes).toEqual([]);
  });

  it("words that make no sense, with exit code 2", async () => {
    expect((await rehearse(both)).code).toBe(2);
    expect((await rehearse(both, "handover", "--region", "us")).code).toBe(2);
    expect((await rehearse(both, "replay", "--region", "asia")).code).toBe(2);
    expect((await rehearse(both, ...replay, "--timeout", "soon")).code).toBe(2);
  });
});
