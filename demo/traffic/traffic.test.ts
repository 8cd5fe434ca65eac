/** The traffic as a process, and what it tells the receiver. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPool } from "#db/pool.ts";
import { createPrisma, type PrismaClient } from "#db/prisma.ts";
import { openSecret } from "#db/secrets.ts";
import { newSecretKeys, parseSecretKeys } from "#db/secrets-config.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver } from "#demo/receiver/types.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { prepareSecret, signPlain, signWebhook } from "#domain/signature.ts";
import { seedRegion } from "#prisma/seed.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { destinationIdOf, receiverNameOf } from "./merchants.ts";
import { startTraffic } from "./traffic.ts";

const secretKeys = newSecretKeys();
const keyring = parseSecretKeys(secretKeys);
let databases: TestRegions;
let clients: Record<Region, PrismaClient>;
let receiver: Receiver;

beforeAll(async () => {
  databases = await createTestRegions();
  clients = { us: createPrisma(databases.us.pool), eu: createPrisma(databases.eu.pool) };
  receiver = await createReceiver();
  for (const region of REGIONS) {
    await seedRegion({ prisma: clients[region], region, keyring, receiverUrl: receiver.url });
  }
});
afterAll(async () => {
  await receiver.close();
  await Promise.all([clients.us.$disconnect(), clients.eu.$disconnect()]);
  await databases.drop();
});

function spawnTraffic(env: Record<string, string> = {}) {
  const child = fork(fileURLToPath(new URL("./main.ts", import.meta.url)), [], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    execArgv: [],
    env: {
      ...process.env,
      DATABASE_URL_US: databases.us.connectionString,
      DATABASE_URL_EU: databases.eu.connectionString,
      SLUICE_RECEIVER_URL: receiver.url,
      SLUICE_SECRET_KEYS: secretKeys,
      ...env,
    },
  });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString("utf8");
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return { child, output: () => output };
}

function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

async function trafficConnections(): Promise<number> {
  const { rows } = await databases.us.pool.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = ANY($1)
        AND (application_name LIKE 'sluice-traffic%' OR application_name = 'sluice-hint')`,
    [REGIONS.map((region) => new URL(databases[region].connectionString).pathname.slice(1))],
  );
  return rows[0]?.n ?? -1;
}

/** Posts a signed webhook as a worker would. */
async function postSigned(region: Region, slug: string, key: string, plainHeader?: string) {
  const row = await clients[region].destination.findUniqueOrThrow({
    where: { id: destinationIdOf(region, slug, key) },
  });
  const sealed = row.secretPrevious === null ? [row.secretCurrent] : [row.secretCurrent, row.secretPrevious];
  const secrets = sealed.map((bytes) => prepareSecret(openSecret(keyring, bytes)));
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const body = Buffer.from("{}");
  const [current] = secrets;
  if (current === undefined) throw new Error("no secret");
  const signature: Record<string, string> = plainHeader
    ? { [plainHeader]: signPlain({ timestampSeconds, body, secret: current }) }
    : { "webhook-signature": signWebhook({ id: "dlv_1", timestampSeconds, body, secrets }) };
  await fetch(row.url, {
    method: "POST",
    body,
    headers: {
      "idempotency-key": "k1",
      "webhook-id": "dlv_1",
      "webhook-timestamp": String(timestampSeconds),
      ...signature,
    },
  });
  return receiver.stats(receiverNameOf(region, slug, key));
}

describe("the traffic process", () => {
  it("REG-3 makes business in both regions, tells the receiver the secrets, and stops on SIGTERM", async () => {
    const { child, output } = spawnTraffic();
    await waitFor(() => output().includes("traffic ready"), { what: "the ready line" });
    for (const region of REGIONS) {
      await waitFor(async () => (await clients[region].delivery.count()) > 0, {
        what: `deliveries in ${region}`,
      });
    }
    const told = await waitFor(
      async () => {
        const stats = await postSigned("us", "brightcart", "payments");
        return stats.validSignatures > 0 ? stats : null;
      },
      { what: "a signature that the receiver can check", intervalMs: 200 },
    );
    expect(told.validSignatures).toBeGreaterThan(0);
    await waitFor(
      async () =>
        (await postSigned("eu", "marche-vert", "disputes", "x-merchant-signature")).validSignatures > 0,
      { what: "the plain signature of the other region", intervalMs: 200 },
    );
    expect(await trafficConnections()).toBeGreaterThan(0);
    const ended = exitCode(child);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    await waitFor(async () => (await trafficConnections()) === 0, { what: "its connections to close" });
    expect(output()).not.toContain("whsec_");
    expect(output()).not.toContain(secretKeys);
  });

  it("ends with its parent", async () => {
    const { child, output } = spawnTraffic();
    await waitFor(() => output().includes("traffic ready"), { what: "the ready line" });
    const ended = exitCode(child);
    child.disconnect();
    expect(await ended).toBe(0);
  });

  it("refuses to start without its settings, with one line that shows no value", async () => {
    const { child, output } = spawnTraffic({ SLUICE_DEMO_RATE: "-3" });
    expect(await exitCode(child)).toBe(1);
    expect(output().trim().split("\n")).toHaveLength(1);
    expect(output()).toContain("SLUICE_DEMO_RATE");
  });
});

describe("the traffic of both regions", () => {
  it("REG-3 goes on in one while the other's database cannot be reached, and says so in one line", async () => {
    const pool = createPool({
      connectionString: "postgresql://nobody@127.0.0.1:1/none",
      max: 1,
      applicationName: "sluice-test",
    });
    const lost = createPrisma(pool);
    const hinter = { hint: () => {}, close: async () => {} };
    const told = {
      health: () => Promise.reject(new Error("away")),
      setSecret: async () => {},
      url: receiver.url,
    };
    const lines: string[] = [];
    const before = await clients.us.delivery.count();
    const traffic = startTraffic({
      regions: [
        { region: "us", prisma: clients.us, hinter },
        { region: "eu", prisma: lost, hinter },
      ],
      deliveriesPerSecond: 50,
      maxWaiting: 1_000,
      receiver: told,
      openSecret: () => "",
      say: (line) => lines.push(line),
      reportEveryMs: 300,
    });
    const wanted =
      /^traffic us \d+ holds, \d+ captures, [1-9]\d* invoices; traffic eu 0 holds, .*, now failing: .+$/;
    await waitFor(() => lines.some((line) => wanted.test(line)), { what: "the line" });
    await traffic.stop();
    expect(await clients.us.delivery.count()).toBeGreaterThan(before);
    await lost.$disconnect();
    await pool.end();
  });
});
