/**
 * Secrets and the keys that seal them change while workers run: every request is signed with a secret that its receiver
 * knows, none is lost for it, and nothing of them is printed.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endPreviousSecret } from "#db/console/commands/end-previous-secret.ts";
import { rotateSecret } from "#db/console/commands/rotate-secret.ts";
import { createKeyring } from "#db/secrets.ts";
import { readSealingKeys, rekeySecrets } from "#db/secrets-rekey.ts";
import { createReceiver } from "#demo/receiver/server.ts";
import type { Receiver, RequestRecord } from "#demo/receiver/types.ts";
import { contextOf, destinationId as publicId, REASON } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import {
  makeDeliveries,
  makeDestination,
  makeTenant,
  TEST_KEYRING,
  TEST_SECRET_KEYS,
  TEST_SIGNING_SECRET,
} from "#tests/support/factories.ts";
import { formsOf } from "#tests/support/search-rows/sql.ts";
import { waitFor } from "#tests/support/wait-for.ts";
import { endWorkers, spawnWorker } from "#tests/support/worker-process.ts";
import { countDeliveries, readDelivery } from "#tests/support/worker-rows/sql.ts";
import { startTestWorker } from "#tests/support/worker-run.ts";

const LONG_MS = 150_000;
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OLD_KEY = Buffer.alloc(32, 7).toString("base64");
const NEW_KEY = randomBytes(32).toString("base64");
const BOTH = { test: OLD_KEY, next: NEW_KEY };

let database: TestDatabase;
let receiver: Receiver;
let tenantId: string;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  receiver = await createReceiver({ recording: { keepBodies: true }, secretFor: () => TEST_SIGNING_SECRET });
});
afterAll(() => receiver.close());
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await endWorkers();
  await database.drop();
});

async function open(): Promise<void> {
  database = await createTestDatabase();
  tenantId = await makeTenant(database.pool);
}

async function start(keyring = TEST_KEYRING) {
  const worker = await startTestWorker(database, { keyring });
  stops.push(() => worker.stop());
  return worker;
}

/** Throws when the signature is not one of this secret over exactly these bytes. */
function verify(request: RequestRecord | undefined, secret: string): void {
  new Webhook(secret).verify(Buffer.from(request?.bodyBase64 ?? "", "base64"), {
    "webhook-id": request?.webhookId ?? "",
    "webhook-timestamp": request?.webhookTimestamp ?? "",
    "webhook-signature": request?.signatureHeader ?? "",
  });
}

describe("a destination's secret", () => {
  it("that is rotated signs from the next attempt on, beside the old one until that ends", async () => {
    await open();
    const id = await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/rotation` });
    const { captured } = await start();
    const context = { ...contextOf(database), keyring: TEST_KEYRING };
    const change = { destinationId: publicId(id), reason: REASON };
    const send = async (): Promise<RequestRecord | undefined> => {
      const [delivery = ""] = await makeDeliveries(database.pool, { tenantId, destinationId: id });
      await waitFor(async () => (await readDelivery(database.pool, delivery)).state === "delivered", {
        timeoutMs: LONG_MS,
      });
      return receiver.requests({ destination: "rotation" }).at(-1);
    };

    verify(await send(), TEST_SIGNING_SECRET);
    const { secret } = await rotateSecret(context, { ...change, version: 1 });
    if (secret === null) throw new Error("The first answer holds the secret.");
    const during = await send();
    verify(during, secret);
    verify(during, TEST_SIGNING_SECRET);
    await endPreviousSecret(context, { ...change, version: 2 });
    const after = await send();
    verify(after, secret);
    expect(() => verify(after, TEST_SIGNING_SECRET)).toThrow(/No matching signature/);
    for (const form of [...formsOf(secret), ...formsOf(TEST_SIGNING_SECRET)]) {
      expect(captured.text()).not.toContain(form);
    }
  });
});

describe("the key that seals secrets", () => {
  it("changes without downtime: workers with both keys deliver before, during and after everything is sealed anew", async () => {
    await open();
    const names = Array.from({ length: 8 }, (_, index) => `rekeyed-${index}`);
    const ids: string[] = [];
    for (const name of names) {
      ids.push(await makeDestination(database.pool, tenantId, { url: `${receiver.url}/ok/${name}` }));
    }
    // As during a rolling restart: one worker still has the old key in front.
    await start(createKeyring({ keys: BOTH, current: "test" }));
    await start(createKeyring({ keys: BOTH, current: "next" }));
    const next = createKeyring({ keys: BOTH, current: "next" });
    const enqueueAll = async (): Promise<void> => {
      for (const destinationId of ids)
        await makeDeliveries(database.pool, { tenantId, destinationId, count: 5 });
    };
    await enqueueAll();
    const rekeyed = rekeySecrets(database.pool, next);
    await enqueueAll();
    expect(await rekeyed).toMatchObject({ sealed: ids.length, left: 0, unreadable: 0 });
    // Plans that are read from now on are sealed with the new key only.
    await database.pool.query("UPDATE sluice.destination SET version = version + 1");
    await enqueueAll();
    const total = 3 * 5 * ids.length;
    await waitFor(
      async () => {
        const { delivered, dead } = await countDeliveries(database.pool);
        return delivered + dead === total;
      },
      { timeoutMs: LONG_MS },
    );
    expect(await countDeliveries(database.pool)).toMatchObject({ delivered: total, dead: 0 });
    for (const name of names) {
      expect(receiver.stats(name)).toMatchObject({ requests: 15, validSignatures: 15, badSignatures: 0 });
    }
    expect(await readSealingKeys(database.pool)).toEqual([{ keyId: "next", destinations: ids.length }]);
    // Now the old key can go.
    await start(createKeyring({ keys: { next: NEW_KEY }, current: "next" }));
  });

  it("that is missing keeps a worker from starting, in one line, rather than ending deliveries one by one", async () => {
    await open();
    const destinationId = await makeDestination(database.pool, tenantId);
    const [id = ""] = await makeDeliveries(database.pool, { tenantId, destinationId });
    const worker = spawnWorker({
      urls: { us: database.connectionString },
      env: { SLUICE_SECRET_KEYS: `next:${NEW_KEY}` },
    });
    expect((await worker.exited).code).toBe(1);
    expect(worker.errors().trim()).toBe(
      'sluice: SLUICE_SECRET_KEYS lacks the key "test", which seals secrets in use (destinations: 1)',
    );
    expect(await readDelivery(database.pool, id)).toMatchObject({ state: "ready", attempts: 0 });
  });
});

describe("sluice secrets", () => {
  function sluice(args: string[], keys: string) {
    const { DATABASE_URL_EU: _eu, ...rest } = process.env;
    const result = spawnSync(process.execPath, ["cli/sluice.ts", "secrets", ...args], {
      cwd: ROOT,
      env: { ...rest, DATABASE_URL_US: database.connectionString, SLUICE_SECRET_KEYS: keys },
      encoding: "utf8",
      timeout: 150_000,
    });
    return { code: result.status, out: result.stdout, errors: result.stderr };
  }

  it("says which keys are in use, seals anew, is audited, and prints nothing of a key or a secret", async () => {
    await open();
    for (let n = 0; n < 3; n++) await makeDestination(database.pool, tenantId);
    const both = `next:${NEW_KEY},${TEST_SECRET_KEYS}`;
    const status = sluice(["status", "--region", "us"], both);
    expect(status).toMatchObject({ code: 0, out: "test  3 destinations  known\n" });
    const rekey = sluice(["rekey", "--region", "us", "--reason", "yearly change of the key"], both);
    expect(rekey).toMatchObject({ code: 0, errors: "" });
    expect(rekey.out).toContain('us: 3 destinations sealed anew under key "next"');
    const json = sluice(["status", "--region", "us", "--json"], both);
    expect(JSON.parse(json.out)).toEqual({
      current: "next",
      keys: [{ keyId: "next", destinations: 3, known: true, current: true }],
    });
    expect(sluice(["rekey", "--region", "us", "--json"], both).out).toContain('"sealed":0');
    expect(sluice(["status", "--region", "us"], TEST_SECRET_KEYS)).toMatchObject({ code: 1 });
    const lost = sluice(["rekey", "--region", "us"], TEST_SECRET_KEYS);
    expect(lost.code).toBe(1);
    expect(lost.out).toMatch(/3 cannot be opened with these keys/);
    for (const { out, errors } of [status, rekey, json, lost]) {
      for (const secret of [NEW_KEY, OLD_KEY, TEST_SIGNING_SECRET.slice(6)]) {
        expect(out + errors).not.toContain(secret.slice(0, 12));
      }
    }
    const { rows } = await database.pool.query(
      "SELECT actor, reason, before, after FROM sluice.operator_action WHERE action = 'region.rekey_secrets'",
    );
    expect(rows).toMatchObject([
      {
        actor: expect.stringMatching(/^cli:/),
        reason: "yearly change of the key",
        before: { keys: "test" },
        after: { key: "next", sealed: 3, unreadable: 0 },
      },
    ]);
  });

  it.each([
    [[]],
    [["rekey"]],
    [["rekey", "--region", "asia"]],
    [["forget", "--region", "us"]],
    [["rekey", "x", "--region", "us"]],
  ])("answers bad input %j with one line and exit code 2", async (args) => {
    await open();
    const result = sluice(args, TEST_SECRET_KEYS);
    expect(result.code).toBe(2);
    expect(result.errors.trim().split("\n")).toHaveLength(1);
  });
});
