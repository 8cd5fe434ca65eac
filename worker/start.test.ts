/**
 * REG-1, REG-2, LEASE-3: a worker process that cannot do right does not start. It says why in one line, without any
 * value that is secret, and its exit code is not 0.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "#tests/support/database.ts";
import { TEST_SECRET_KEYS } from "#tests/support/factories.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import {
  endWorkers,
  type SpawnOptions,
  spawnReadyWorker,
  spawnWorker,
} from "#tests/support/worker-process.ts";
import { countWorkerProcesses, writePolicy } from "#tests/support/worker-rows/sql.ts";

let regions: TestRegions;

beforeAll(async () => {
  // A worker that starts installs graphile-worker's schema: that is one of the promises here.
  regions = await createTestRegions({ bare: true });
});
afterEach(endWorkers);
afterAll(() => regions.drop());

const urls = () => ({ us: regions.us.connectionString, eu: regions.eu.connectionString });

async function refusal(options: Partial<SpawnOptions>): Promise<string> {
  const worker = spawnWorker({ urls: urls(), ...options });
  const { code } = await worker.exited;
  expect(code).toBeGreaterThan(0);
  expect(worker.output()).not.toContain('"event":"started"');
  const lines = worker.errors().trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(worker.output()).not.toContain(TEST_SECRET_KEYS.slice(5, 20));
  expect(worker.output()).not.toContain("postgresql://");
  return lines[0] ?? "";
}

describe("a worker refuses to start", () => {
  it("REG-2 for us on the database of eu, and the other way round", async () => {
    const [us, eu] = await Promise.all([
      refusal({ region: "us", urls: { us: regions.eu.connectionString } }),
      refusal({ region: "eu", urls: { eu: regions.us.connectionString } }),
    ]);
    expect(us).toMatch(/database belongs to region eu, but region us was expected/);
    expect(eu).toMatch(/database belongs to region us, but region eu was expected/);
    expect(await countWorkerProcesses(regions.us.pool)).toBe(0);
    expect(await countWorkerProcesses(regions.eu.pool)).toBe(0);
  });

  it("REG-2 without a region, and with one that there is not", async () => {
    const [none, unknown] = await Promise.all([
      refusal({ args: [] }),
      refusal({ args: ["--region", "mars"] }),
    ]);
    expect(none).toMatch(/--region is missing/);
    expect(unknown).toMatch(/region/i);
    expect(unknown).toMatch(/mars/);
  });

  it("REG-1 without the URL of its own region, whatever else it is given", async () => {
    expect(await refusal({ region: "us", urls: { eu: regions.eu.connectionString } })).toMatch(
      /DATABASE_URL_US/,
    );
  });

  it("with keys that are none, naming the setting", async () => {
    const [bad, short] = await Promise.all([
      refusal({ env: { SLUICE_SECRET_KEYS: "not a list" } }),
      refusal({ env: { SLUICE_SECRET_KEYS: "test:c2hvcnQ=" } }),
    ]);
    expect(bad).toMatch(/SLUICE_SECRET_KEYS/);
    expect(short).toMatch(/32 bytes|SLUICE_SECRET_KEYS/);
  });

  it("LEASE-3 fault 28: with a lease that is shorter than deadline and margin", async () => {
    const database = await createTestDatabase();
    await writePolicy(database.pool, "routine", { leaseMs: 11_999 });
    try {
      expect(await refusal({ urls: { us: database.connectionString } })).toMatch(
        /lease of 11999 ms is shorter than the deadline of 10000 ms/,
      );
    } finally {
      await database.drop();
    }
  });

  it("when its database does not answer or is not there", async () => {
    const nowhere = new URL(regions.us.connectionString);
    nowhere.port = "9";
    const missing = new URL(regions.us.connectionString);
    missing.pathname = "/sluice_test_no_such_database";
    const [refused, absent] = await Promise.all([
      refusal({ urls: { us: nowhere.href } }),
      refusal({ urls: { us: missing.href } }),
    ]);
    expect(refused).toMatch(/ECONNREFUSED/);
    expect(absent).toMatch(/does not exist/);
  });
});

describe("a worker starts", () => {
  it("fault 103: twice at once on a database without graphile-worker's schema, with credentials of its own region only", async () => {
    const workers = await Promise.all(
      [1, 2].map(() => spawnReadyWorker({ urls: { us: regions.us.connectionString } })),
    );
    expect(await countWorkerProcesses(regions.us.pool)).toBe(2);
    expect(await countWorkerProcesses(regions.eu.pool)).toBe(0);
    for (const worker of workers) worker.kill("SIGTERM");
    expect((await Promise.all(workers.map(({ exited }) => exited))).map(({ code }) => code)).toEqual([0, 0]);
  });
});
