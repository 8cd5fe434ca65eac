/** The endpoint that docs/receiving.md shows to customers, taken from the page and run as it stands there. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "#tests/support/database.ts";
import { followUpBody, type SignedRequestOptions, signedRequest } from "#tests/support/inbox-request.ts";
import { waitFor } from "#tests/support/wait-for.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const CURRENT = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
const PREVIOUS = `whsec_${Buffer.alloc(32, 2).toString("base64")}`;
const UNKNOWN = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

let database: TestDatabase;
let folder: string;
let child: ChildProcess;
let url: string;

function block(language: string): string {
  const page = readFileSync(path.join(ROOT, "docs/receiving.md"), "utf8");
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
  if (text === undefined) throw new Error(`docs/receiving.md has no ${language} block`);
  return text;
}

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(block("sql"));
  // Below the packages' folder, so that the example finds what it imports.
  const parent = path.join(ROOT, "node_modules", ".sluice-docs");
  mkdirSync(parent, { recursive: true });
  folder = mkdtempSync(path.join(parent, "receiving-"));
  const file = path.join(folder, "endpoint.mjs");
  writeFileSync(file, block("js"));
  child = spawn(process.execPath, [file], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      PORT: "0",
      DATABASE_URL: database.connectionString,
      WEBHOOK_SECRETS: `${CURRENT},${PREVIOUS}`,
    },
  });
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  const port = await waitFor(() => /^ready (\d+)$/m.exec(output)?.[1], {
    what: "the example to listen",
    timeoutMs: 120_000,
  });
  url = `http://127.0.0.1:${port}/`;
});
afterAll(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  rmSync(folder, { recursive: true, force: true });
  await database.drop();
});

function send(options: Partial<SignedRequestOptions> = {}): Promise<Response> {
  const base = { region: "us" as const, tenantId: randomUUID(), secret: CURRENT };
  return fetch(url, signedRequest({ ...base, body: followUpBody(randomUUID()), ...options }));
}

async function followUps(): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>("SELECT count(*)::integer AS n FROM follow_up");
  return rows[0]?.n ?? -1;
}

describe("the example of docs/receiving.md", () => {
  it("RECV-1 applies a delivery once, however often and in parallel it comes", async () => {
    const same = { key: "k", webhookId: "dlv_k", body: followUpBody(randomUUID()) };
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await send(same)).status));
    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(await followUps()).toBe(1);
    // The signed id under another key is no second delivery.
    expect((await send({ ...same, key: "other" })).status).toBe(204);
    expect(await followUps()).toBe(1);
  });

  it("RECV-2 RECV-3 answers with the statuses that the page promises", async () => {
    const before = await followUps();
    expect((await send({ secret: PREVIOUS })).status).toBe(204);
    const statuses = [
      (await fetch(url)).status,
      (await send({ secret: UNKNOWN })).status,
      (await send({ at: new Date(Date.now() - 360_000) })).status,
      (await send({ headers: { "webhook-id": null } })).status,
      (await send({ headers: { "idempotency-key": null } })).status,
      (await send({ headers: { "sluice-tenant": null } })).status,
      (await send({ body: "{" })).status,
      (await send({ body: JSON.stringify({ type: "new.kind", pad: "a".repeat(1000) }) })).status,
      (await send({ body: "a".repeat(256 * 1024 + 1) })).status,
    ];
    expect(statuses).toEqual([405, 401, 401, 401, 422, 422, 400, 204, 413]);
    expect(await followUps()).toBe(before + 1);
  });

  it("RECV-2 answers 503 when its transaction fails, keeps no key, and takes the delivery the next time", async () => {
    const same = { key: "late", webhookId: "dlv_late", body: followUpBody(randomUUID()) };
    const before = await followUps();
    await database.pool.query("ALTER TABLE follow_up RENAME TO follow_up_away");
    const refused = await send(same);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    await database.pool.query("ALTER TABLE follow_up_away RENAME TO follow_up");
    expect((await send(same)).status).toBe(204);
    expect(await followUps()).toBe(before + 1);
  });
});
