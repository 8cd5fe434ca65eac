/** What a worker reads before it sends, and the row by which it is known. On a real server. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSecret } from "#db/secrets.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING, TEST_SIGNING_SECRET } from "#tests/support/factories.ts";
import { countRows, databaseNowMs, HOUR_MS } from "#tests/support/queue-rows/sql.ts";
import { readDestinations, readLimits, readPolicies } from "./configuration.ts";
import { heartbeat, registerWorker, removeWorker, type WorkerProcess } from "./worker-process.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

describe("destinations", () => {
  it("are read by id with their sealed secrets; unknown ids are left out", async () => {
    const tenantId = await makeTenant(database.pool);
    const previousSecret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
    const id = await makeDestination(database.pool, tenantId, {
      url: "http://127.0.0.1:9/hook",
      policyOverride: { attempts: 3 },
      previousSecret,
    });
    const plain = await makeDestination(database.pool, tenantId);
    const rows = await readDestinations(database.pool, [id, randomUUID(), plain]);
    expect(rows.map((row) => row.id).sort()).toEqual([id, plain].sort());
    const row = rows.find((each) => each.id === id);
    expect(row).toMatchObject({
      url: "http://127.0.0.1:9/hook",
      version: 1,
      policyOverride: { attempts: 3 },
      plainSignatureHeader: null,
    });
    expect(openSecret(TEST_KEYRING, row?.secretCurrent as Buffer)).toBe(TEST_SIGNING_SECRET);
    expect(openSecret(TEST_KEYRING, row?.secretPrevious as Buffer)).toBe(previousSecret);
    const nowMs = await databaseNowMs(database.pool);
    expect(row?.secretPreviousUntilMs).toBeGreaterThan(nowMs + HOUR_MS / 2);
    expect(rows.find((each) => each.id === plain)).toMatchObject({
      secretPrevious: null,
      secretPreviousUntilMs: null,
    });
    expect(JSON.stringify(rows)).not.toContain("whsec_");
  });

  it("a previous secret that has ended is no secret any more", async () => {
    const id = await makeDestination(database.pool, await makeTenant(database.pool), {
      previousSecret: TEST_SIGNING_SECRET,
    });
    await database.pool.query(
      "UPDATE sluice.destination SET secret_previous_until = now() - interval '1 s' WHERE id = $1",
      [id],
    );
    expect(await readDestinations(database.pool, [id])).toMatchObject([
      { secretPrevious: null, secretPreviousUntilMs: null },
    ]);
  });
});

describe("limits", () => {
  it("are the row's own, or the region's defaults where it has none", async () => {
    const tenantId = await makeTenant(database.pool, { weight: 3, concurrencyLimit: 7 });
    const own = await makeDestination(database.pool, tenantId, {
      concurrencyLimit: 2,
      ratePerSecond: 0.5,
      rateBurst: 4,
    });
    const inherits = await makeDestination(database.pool, await makeTenant(database.pool));
    const limits = await readLimits(database.pool, [own, inherits, randomUUID()]);
    expect(new Map(limits.map(({ destinationId, tenantId: _, ...rest }) => [destinationId, rest]))).toEqual(
      new Map([
        [
          own,
          {
            tenantWeight: 3,
            tenantConcurrency: 7,
            destinationConcurrency: 2,
            ratePerSecond: 0.5,
            rateBurst: 4,
          },
        ],
        [
          inherits,
          {
            tenantWeight: 1,
            tenantConcurrency: 100,
            destinationConcurrency: 10,
            ratePerSecond: null,
            rateBurst: 1,
          },
        ],
      ]),
    );
  });
});

describe("policies", () => {
  it("the newest version of a class is in force; a class without one is left out", async () => {
    expect(await readPolicies(database.pool)).toEqual(new Map());
    for (const version of [1, 3, 2]) {
      await database.pool.query(
        "INSERT INTO sluice.policy (service_class, version, region, body, created_by, reason) VALUES ('urgent', $1, 'us', $2, 'ann', 'test')",
        [version, JSON.stringify({ version })],
      );
    }
    expect(await readPolicies(database.pool)).toEqual(new Map([["urgent", { version: 3 }]]));
  });
});

describe("the row of a worker process", () => {
  function worker(): WorkerProcess {
    return { id: randomUUID(), region: "us", host: "here", pid: 123, version: "1.0.0", slots: 64 };
  }

  it("is written at start, kept by heartbeats that answer the database's time, and gone after a clean stop", async () => {
    const one = worker();
    await registerWorker(database.pool, one);
    const before = await databaseNowMs(database.pool);
    const beat = await heartbeat(database.pool, { id: one.id, inFlight: 5, state: "stopping" });
    expect(beat).toBeGreaterThanOrEqual(before);
    expect(beat).toBeLessThanOrEqual(await databaseNowMs(database.pool));
    const row =
      "worker_process WHERE id = $1 AND in_flight = 5 AND state = 'stopping' AND slots = 64 AND heartbeat_at > started_at";
    expect(await countRows(database.pool, row, [one.id])).toBe(1);
    await removeWorker(database.pool, one.id);
    expect(await heartbeat(database.pool, { id: one.id, inFlight: 0, state: "running" })).toBeNull();
  });

  it("of a process that was not heard of for a day goes when another starts; a younger one stays", async () => {
    const [dead, quiet, fresh] = [worker(), worker(), worker()];
    await registerWorker(database.pool, dead);
    await registerWorker(database.pool, quiet);
    const age = (id: string, hours: number) =>
      database.pool.query(
        "UPDATE sluice.worker_process SET heartbeat_at = now() - $2 * interval '1 hour' WHERE id = $1",
        [id, hours],
      );
    await age(dead.id, 25);
    await age(quiet.id, 23);
    await registerWorker(database.pool, fresh);
    const known = await database.pool.query<{ id: string }>("SELECT id FROM sluice.worker_process");
    expect(known.rows.map(({ id }) => id).sort()).toEqual([quiet.id, fresh.id].sort());
  });

  it("REG-2 of another region is refused by the database", async () => {
    const stranger = { ...worker(), region: "eu" as const };
    await expect(registerWorker(database.pool, stranger)).rejects.toMatchObject({ code: "23514" });
  });
});
