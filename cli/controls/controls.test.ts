/** The control verbs as a process: what they print, what stands in the rows and the audit, and how they refuse. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { readDestinationControl, readTenantControl } from "#db/console/commands/read-control.ts";
import { toPublicId } from "#domain/ids.ts";
import { readAudit } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDeliveries, makeDestination, makeTenant } from "#tests/support/factories.ts";
import { ROOT } from "../config.ts";
import { readDuration } from "./duration.ts";

const REASON = "the customer asked for it";
const CHANGE = ["--region", "us", "--reason", REASON];

/** Each call is a process of its own. */
const LONG_MS = 180_000;

let dataDir: string;
let database: TestDatabase;
let tenant: string;
let destination: string;
let rawIds: { tenantId: string; destinationId: string };

vi.setConfig({ testTimeout: LONG_MS });

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "sluice-cli-"));
  database = await createTestDatabase();
});
beforeEach(async () => {
  const tenantId = await makeTenant(database.pool);
  rawIds = { tenantId, destinationId: await makeDestination(database.pool, tenantId) };
  tenant = toPublicId("ten", tenantId);
  destination = toPublicId("dst", rawIds.destinationId);
});
afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await database.drop();
});

function sluice(
  args: string[],
  env: Record<string, string> = { DATABASE_URL_US: database.connectionString },
) {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, ...rest } = process.env;
  const result = spawnSync(process.execPath, ["cli/sluice.ts", ...args], {
    cwd: ROOT,
    env: { ...rest, SLUICE_DATA_DIR: dataDir, ...env },
    encoding: "utf8",
    timeout: 150_000,
  });
  return {
    code: result.status,
    out: result.stdout.trim(),
    errors: result.stderr.trim().split("\n").filter(Boolean),
  };
}

const tenantNow = () => readTenantControl(database.pool, tenant);
const destinationNow = () => readDestinationControl(database.pool, destination);

describe("sluice pause and resume", () => {
  it("CTL-1 a tenant by its slug, and a destination by its id; the audit names the system's user", async () => {
    const { slug } = await tenantNow();
    const paused = sluice(["pause", "tenant", slug, "--for", "90m", ...CHANGE, "--ticket", "OPS-7"]);
    expect(paused).toMatchObject({ code: 0, errors: [] });
    expect(paused.out).toMatch(
      new RegExp(`^us: tenant ${slug} is paused until 20\\S+Z \\(version 2, audit aud_[0-9a-f]{32}\\)$`),
    );
    expect((await tenantNow()).pausedUntil).not.toBeNull();
    expect(await readAudit(database, tenant)).toEqual([
      expect.objectContaining({
        actor: `cli:${userInfo().username}`,
        action: "tenant.pause",
        ticket: "OPS-7",
        reason: REASON,
      }),
    ]);
    const resumed = sluice(["resume", "tenant", tenant, ...CHANGE, "--json"]);
    expect(JSON.parse(resumed.out)).toMatchObject({
      region: "us",
      applied: true,
      version: 3,
      after: { paused: false, resumeShare: 0.2 },
    });

    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect(sluice(["pause", "destination", destination, "--until", until, ...CHANGE]).code).toBe(0);
    expect((await destinationNow()).pausedUntil).toBe(until);
    expect(sluice(["resume", "destination", destination, "--share", "100", ...CHANGE]).code).toBe(0);
    expect(await destinationNow()).toMatchObject({ pausedUntil: null, resumeShare: 1 });
  });

  it("refuses in one line what has no end, no reason, an old version, or is not there", async () => {
    const one = (words: RegExp) => [expect.stringMatching(words)];
    expect(sluice(["pause", "tenant", tenant, ...CHANGE])).toMatchObject({
      code: 2,
      errors: one(/needs an end/),
    });
    const long = ["pause", "tenant", tenant, "--for", "40d", ...CHANGE];
    expect(sluice(long)).toMatchObject({ code: 1, errors: one(/needs an end, from 1 s to 30 days/) });
    expect(sluice(["pause", "tenant", tenant, "--for", "8d", ...CHANGE])).toMatchObject({
      code: 1,
      errors: one(/role operator may pause for at most/),
    });
    const short = ["pause", "tenant", tenant, "--for", "1h", "--region", "us", "--reason", "why"];
    expect(sluice(short)).toMatchObject({ code: 1, errors: one(/reason of 10 to 500 characters/) });
    const stale = ["pause", "tenant", tenant, "--for", "1h", ...CHANGE, "--if-version", "9"];
    expect(sluice(stale)).toMatchObject({
      code: 1,
      errors: one(/changed by someone else: version 9 was seen, it is 1 now/),
    });
    expect(sluice(["resume", "tenant", tenant, ...CHANGE])).toMatchObject({
      code: 1,
      errors: one(/not paused/),
    });
    expect(sluice(["pause", "tenant", "nobody", "--for", "1h", ...CHANGE])).toMatchObject({
      code: 1,
      errors: one(/no tenant "nobody" in this region/),
    });
    expect((await tenantNow()).version).toBe(1);
  });
});

describe("sluice limits", () => {
  it("FAIR-7 shows, sets and clears; 0 is told to pause", async () => {
    const { slug } = await tenantNow();
    const both = sluice(["limits", "tenant", slug, "--concurrency", "7", "--weight", "3", ...CHANGE]);
    expect(both).toMatchObject({ code: 0, errors: [] });
    expect(await tenantNow()).toMatchObject({ concurrencyLimit: 7, weight: 3, version: 3 });
    expect(JSON.parse(sluice(["limits", "tenant", slug, "--region", "us", "--json"]).out)).toMatchObject({
      id: tenant,
      concurrencyInForce: 7,
    });
    const named = `${slug}/${(await destinationNow()).name}`;
    expect(
      sluice(["limits", "destination", named, "--rate", "2.5", "--burst", "4", ...CHANGE]).out,
    ).toContain("concurrency inherited, 2.5 per second, burst 4");
    expect(
      sluice(["limits", "destination", named, "--rate", "none", "--concurrency", "5", ...CHANGE]).code,
    ).toBe(0);
    expect(await destinationNow()).toMatchObject({ ratePerSecond: null, concurrencyLimit: 5 });
    expect(sluice(["limits", "destination", named, "--pin", "2", ...CHANGE]).code).toBe(0);
    expect(await destinationNow()).toMatchObject({ adaptiveLimit: 2, adaptivePinned: true });
    for (const value of ["0", "=-1", "many"]) {
      const option = value.startsWith("=") ? [`--concurrency${value}`] : ["--concurrency", value];
      const refused = sluice(["limits", "tenant", slug, ...option, ...CHANGE]);
      expect(refused, value).toMatchObject({ code: 1, errors: [expect.stringMatching(/use pause$/)] });
    }
    expect((await tenantNow()).version).toBe(3);
  });
});

describe("sluice destination, gate and erase", () => {
  it("fault 44: disables and enables; a gate that is not shut is not opened; a body is erased by its delivery", async () => {
    expect(sluice(["destination", "disable", destination, ...CHANGE]).out).toContain("is disabled");
    expect(await destinationNow()).toMatchObject({ disabledReason: REASON });
    expect(sluice(["destination", "enable", destination, ...CHANGE]).out).toContain("is enabled");
    expect(sluice(["gate", "open", destination, ...CHANGE])).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/is not shut/)],
    });
    const [id] = await makeDeliveries(database.pool, rawIds);
    const erased = sluice(["erase", "payload", toPublicId("dlv", String(id)), ...CHANGE]);
    expect(erased).toMatchObject({ code: 0, errors: [] });
    expect(erased.out).toContain("waiting 1, dead 0, perhaps in flight at this moment 0");
    const { rows } = await database.pool.query("SELECT body FROM sluice.payload WHERE id = $1", [id]);
    expect(rows).toEqual([{ body: null }]);
  });
});

describe("sluice drain", () => {
  it("CTL-3 stops claims, waits for the leases, and says what it proves", () => {
    const status = () => JSON.parse(sluice(["drain", "--region", "us", "--status", "--json"]).out);
    expect(status()).toMatchObject({ claims: "on", drained: false });
    const drained = sluice(["drain", ...CHANGE, "--wait", "--timeout", "20s"]);
    expect(drained).toMatchObject({ code: 0, errors: [] });
    expect(drained.out).toMatch(/us: claims are stopped .*\nus: drained: no lease is left/);
    expect(status()).toMatchObject({ claims: "stopped", leases: 0, drained: true });
    expect(sluice(["drain", "--region", "us", "--wait"]).code).toBe(0);
    expect(sluice(["resume", "region", ...CHANGE]).out).toContain("claims are started");
    expect(sluice(["pause", "region", ...CHANGE]).out).toContain("claims are stopped");
    expect(sluice(["resume", "region", ...CHANGE]).code).toBe(0);
    expect(status()).toMatchObject({ claims: "on", drained: false });
  });
});

describe("bad input", () => {
  it.each([
    [["pause"]],
    [["pause", "planet", "x", "--for", "1h", ...CHANGE]],
    [["pause", "tenant", "x", "--for", "soon", ...CHANGE]],
    [["pause", "tenant", "x", "--for", "1h", "--reason", REASON]],
    [["resume", "tenant", "x", "y", ...CHANGE]],
    [["resume", "tenant", "x", "--share", "0", ...CHANGE]],
    [["limits", "tenant", "x", "--rate", "5", ...CHANGE]],
    [["gate", "shut", "x", ...CHANGE]],
    [["drain", "--region", "asia"]],
    [["erase", "everything", ...CHANGE]],
  ])("%j is one line and exit code 2", (args) => {
    const { code, out, errors } = sluice(args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(errors).toEqual([expect.stringMatching(/^sluice: /)]);
  });

  it("a region that does not answer, or another region's database, is one line without the URL", () => {
    const dead = { DATABASE_URL_US: "postgres://u:hunter2@127.0.0.1:1/d" };
    const unreachable = sluice(["drain", "--region", "us", "--status"], dead);
    expect(unreachable).toMatchObject({
      code: 1,
      errors: [expect.stringMatching(/does not answer .*DATABASE_URL_US/)],
    });
    expect(unreachable.errors.join()).not.toContain("hunter2");
    const foreign = sluice(["drain", "--region", "eu", "--status"], {
      DATABASE_URL_EU: database.connectionString,
    });
    expect(foreign).toMatchObject({ code: 1, errors: [expect.stringMatching(/belongs to region us/)] });
  });

  it.each([
    ["90s", 90_000],
    ["1.5h", 5_400_000],
    ["7d", 604_800_000],
  ])("%s is %d ms", (text, ms) => {
    expect(readDuration("--for", text)).toBe(ms);
  });
});
