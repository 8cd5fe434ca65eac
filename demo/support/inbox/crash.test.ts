/**
 * RECV-4 with real processes: an endpoint that is killed between its commit and its answer, and one that is killed between
 * its effect and its commit. The delivery comes again in both cases, and its effect is there once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  makeDestination,
  makeTenant,
  TEST_SECRET_KEYS,
  TEST_SIGNING_SECRET,
} from "#tests/support/factories.ts";
import { followUpBody, signedRequest } from "#tests/support/inbox-request.ts";
import { clearInbox, readInboxRows } from "#tests/support/inbox-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";

const START_MS = 120_000;

let database: TestDatabase;
let tenantId: string;
let destinationId: string;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  database = await createTestDatabase({ region: "us" });
  tenantId = await makeTenant(database.pool);
  destinationId = await makeDestination(database.pool, tenantId);
});
beforeEach(() => clearInbox(database.pool));
afterEach(async () => {
  await Promise.all([...running].map(kill));
});
afterAll(() => database.drop());

async function kill(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Starts the endpoint as a process of its own and waits until it listens. */
async function startEndpoint(args: readonly string[] = []) {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL_US: database.connectionString,
      SLUICE_SECRET_KEYS: TEST_SECRET_KEYS,
    },
  });
  running.add(child);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  const origin = await waitFor(() => /^inbox ready (\S+)$/m.exec(output)?.[1], {
    what: "the endpoint to listen",
    timeoutMs: START_MS,
  });
  return {
    url: `${origin}/demo/support/us/${toPublicId("dst", destinationId)}`,
    port: new URL(origin).port,
    output: () => output,
    kill: () => kill(child),
  };
}

/** One delivery; every call is an attempt with a fresh time and signature. */
function newDelivery() {
  const facts = { webhookId: `dlv_${randomUUID()}`, key: randomUUID(), body: followUpBody(randomUUID()) };
  return () => signedRequest({ region: "us", tenantId, secret: TEST_SIGNING_SECRET, ...facts });
}

const ended = (attempt: Promise<Response>) =>
  attempt.then(
    ({ status }) => `status ${status}`,
    () => "no answer",
  );

describe("RECV-4 an endpoint that is killed", () => {
  it("after the effect and before the acknowledgement: the redelivery succeeds without a second effect", async () => {
    const delivery = newDelivery();
    const first = await startEndpoint(["--hold-answers"]);
    const attempt = ended(fetch(first.url, delivery()));
    await waitFor(() => first.output().includes("applied"), { what: "the commit", timeoutMs: START_MS });
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 1, followUps: 1 });
    await first.kill();
    expect(await attempt).toBe("no answer");

    // The same address, as a customer's restart has it.
    const second = await startEndpoint(["--port", first.port]);
    for (let n = 0; n < 2; n += 1) {
      const again = await fetch(second.url, delivery());
      expect([again.status, again.headers.get("inbox-result"), again.headers.get("inbox-repeated")]).toEqual([
        204,
        "applied",
        "true",
      ]);
    }
    expect(await readInboxRows(database.pool)).toMatchObject({
      keys: 1,
      unfinished: 0,
      followUps: 1,
      doubled: 0,
    });
  });

  it("before the commit: nothing is there, and the redelivery applies it", async () => {
    const delivery = newDelivery();
    const first = await startEndpoint();
    // A lock that lets the key be claimed and stops the effect.
    const blocker = await database.pool.connect();
    await blocker.query("BEGIN; LOCK TABLE sluice.demo_inbound_activity IN EXCLUSIVE MODE");
    const attempt = ended(fetch(first.url, delivery()));
    await waitFor(
      async () => {
        const { rowCount } = await database.pool.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
              AND application_name = 'sluice-demo-inbox-us' AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      },
      { what: "the effect to wait", timeoutMs: START_MS },
    );
    await first.kill();
    expect(await attempt).toBe("no answer");
    await blocker.query("ROLLBACK");
    blocker.release();
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 0, followUps: 0 });

    const second = await startEndpoint();
    const again = await fetch(second.url, delivery());
    expect([again.status, again.headers.get("inbox-repeated")]).toEqual([204, "false"]);
    expect(await readInboxRows(database.pool)).toMatchObject({ keys: 1, unfinished: 0, followUps: 1 });
  });
});
