/** The verbs for single deliveries, for restricted bodies and for a region's defaults, as a process. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { ROOT } from "../config.ts";

const CHANGE = ["--region", "us", "--reason", "the customer asked for it"];
/** Each call is a process of its own. */
const LONG_MS = 180_000;

let dataDir: string;
let database: TestDatabase;
let place: { tenantId: string; destinationId: string };

vi.setConfig({ testTimeout: LONG_MS });

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "sluice-verbs-"));
  database = await createTestDatabase();
  const tenantId = await makeTenant(database.pool);
  place = { tenantId, destinationId: await makeDestination(database.pool, tenantId) };
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await database.drop();
});

function sluice(...args: string[]) {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, ...rest } = process.env;
  const result = spawnSync(process.execPath, ["cli/sluice.ts", ...args, ...CHANGE], {
    cwd: ROOT,
    env: { ...rest, SLUICE_DATA_DIR: dataDir, DATABASE_URL_US: database.connectionString },
    encoding: "utf8",
    timeout: 150_000,
  });
  return { code: result.status, out: result.stdout.trim(), errors: result.stderr.trim() };
}

it("retry-now makes a delayed delivery due and says why another is not; cancel ends one and keeps its row", async () => {
  const [delayed = ""] = await makeDeliveries(database.pool, {
    ...place,
    lane: "retry",
    dueInMs: 3_600_000,
  });
  const id = toPublicId("dlv", delayed);
  const retried = sluice("retry-now", id);
  expect(retried).toMatchObject({ code: 0, errors: "" });
  expect(retried.out).toContain(`${id} is due now`);
  expect(sluice("retry-now", id)).toMatchObject({ code: 1, errors: expect.stringContaining("due already") });
  expect(sluice("will-not-replay", id)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("no dead letter"),
  });
  expect(sluice("cancel", id)).toMatchObject({ code: 0, errors: "" });
  // The same under one word.
  expect(sluice("delivery", "cancel", id)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("cancelled"),
  });
  expect(
    (await readAudit(database, id)).map(({ action, result }) => `${action} ${result}`).toSorted(),
  ).toEqual([
    "delivery.cancel conflict",
    "delivery.cancel done",
    "delivery.retry_now conflict",
    "delivery.retry_now done",
  ]);
});

it("a body is restricted and given back", async () => {
  const [delivery = ""] = await makeDeliveries(database.pool, place);
  const id = toPublicId("dlv", delivery);
  expect(sluice("erase", "payload", id, "--restrict").out).toContain("is restricted; waiting 1");
  expect(sluice("erase", "payload", id, "--lift").out).toContain("is given back");
  expect(sluice("erase", "payload", id, "--lift", "--restrict").code).toBe(2);
});

it("FAIR-7 limits go up in steps, or out of step when told so; a region's defaults are shown and set", async () => {
  const id = toPublicId("dst", place.destinationId);
  const raise = (...more: string[]) => sluice("limits", "destination", id, "--concurrency", "50", ...more);
  expect(raise()).toMatchObject({ code: 1, errors: expect.stringContaining("at most 20") });
  expect(raise("--any-step")).toMatchObject({ code: 0, errors: "" });
  expect((await readAudit(database, id)).at(-1)?.after).toMatchObject({
    concurrencyLimit: 50,
    outOfStep: true,
  });
  expect(
    sluice("limits", "--region-defaults", "--destination-concurrency", "12", "--max-rate", "50").out,
  ).toContain("inherit concurrency 100 (tenants) and 12 (destinations)");
  expect(JSON.parse(sluice("limits", "--region-defaults", "--json").out)).toMatchObject({
    destinationConcurrency: 12,
    maxRatePerSecond: 50,
  });
  expect(sluice("limits", "--region-defaults", "--rate", "5").code).toBe(2);
});
