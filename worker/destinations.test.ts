/** What a request needs of its destination: read once for each version, unusable parts as values, never as exceptions. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresStore } from "#db/queue/store.ts";
import { createKeyring } from "#db/secrets.ts";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING } from "#tests/support/factories.ts";
import { DestinationCache } from "./destinations.ts";

describe("DestinationCache", () => {
  let database: TestDatabase;
  let tenantId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    tenantId = await makeTenant(database.pool);
  });
  afterAll(() => database.drop());

  const load = async (cache: DestinationCache, id: string, version = 1) => {
    return (await cache.load(postgresStore(database.pool), new Map([[id, version]]))).get(id);
  };

  it("reads a version once, and the newer one when a claim names it", async () => {
    const id = await makeDestination(database.pool, tenantId, { url: "http://127.0.0.1:1/a" });
    const cache = new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES);
    const first = await load(cache, id);
    expect(first).toMatchObject({ version: 1, badUrl: null, configError: null, target: { path: "/a" } });
    await database.pool.query("UPDATE sluice.destination SET url = $2, version = 2 WHERE id = $1", [
      id,
      "http://127.0.0.1:1/b",
    ]);
    expect(await load(cache, id)).toBe(first);
    expect(await load(cache, id, 2)).toMatchObject({ version: 2, target: { path: "/b" } });
  });

  it.each([
    ["http://127.0.0.1:1/a?b=1", { target: { origin: "http://127.0.0.1:1", path: "/a?b=1" }, badUrl: null }],
    ["http://user:pw@127.0.0.1:1/", { target: null, badUrl: "the URL carries credentials" }],
    ["http://169.254.169.254/", { target: null, blockedAddress: "169.254.169.254 (link_local)" }],
  ])("RETRY-9 reads the URL under the rules of this installation: %s", async (url, plan) => {
    const id = await makeDestination(database.pool, tenantId, { url });
    expect(await load(new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES), id)).toMatchObject(plan);
  });

  it("RETRY-9 is strict when nobody opened it: no http, no loopback", async () => {
    const id = await makeDestination(database.pool, tenantId, { url: "http://127.0.0.1:1/" });
    const secure = await makeDestination(database.pool, tenantId, { url: "https://127.0.0.1:4430/" });
    const cache = new DestinationCache(TEST_KEYRING);
    expect((await load(cache, id))?.badUrl).toMatch(/http: is not allowed/);
    expect((await load(cache, secure))?.blockedAddress).toBe("127.0.0.1 (loopback)");
  });

  it("does not invent a destination that has no row", async () => {
    const cache = new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES);
    expect(await load(cache, "0190aaaa-0000-7000-8000-00000000ffff")).toBeUndefined();
  });

  it("gives a caller all that it asked for, also when the policies change while it waits for the database", async () => {
    const cache = new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES);
    const known = await makeDestination(database.pool, tenantId);
    const fresh = await makeDestination(database.pool, tenantId);
    await load(cache, known);
    const loading = cache.load(
      postgresStore(database.pool),
      new Map([
        [known, 1],
        [fresh, 1],
      ]),
    );
    cache.usePolicies(new Map([["routine", { requestDeadlineMs: 4_000 }]]));
    expect([...(await loading).keys()].sort()).toEqual([known, fresh].sort());
  });

  it("lays the class's policy under the destination's own, and follows a change of the class's", async () => {
    const id = await makeDestination(database.pool, tenantId, { policyOverride: { maxFailures: 3 } });
    const cache = new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES);
    cache.usePolicies(new Map([["routine", { requestDeadlineMs: 4_000 }]]));
    expect((await load(cache, id))?.policies?.routine).toMatchObject({
      maxFailures: 3,
      requestDeadlineMs: 4_000,
    });
    cache.usePolicies(new Map([["routine", { requestDeadlineMs: 5_000 }]]));
    expect((await load(cache, id))?.policies?.routine).toMatchObject({
      maxFailures: 3,
      requestDeadlineMs: 5_000,
    });
  });

  it.each([
    ["a policy that cannot be used", { maxFailures: -1 }, /^policy: bad_policy/],
    ["a policy that outlives its lease", { requestDeadlineMs: 60_000 }, /^policy: lease_too_short/],
  ])("turns %s into a reason", async (_name, policyOverride, reason) => {
    const id = await makeDestination(database.pool, tenantId, { policyOverride });
    const plan = await load(new DestinationCache(TEST_KEYRING, LOCAL_SENDING_RULES), id);
    expect(plan?.configError).toMatch(reason);
    expect(plan?.policies).toBeNull();
  });

  it("turns a secret that this keyring cannot open into a reason without any part of it", async () => {
    const id = await makeDestination(database.pool, tenantId);
    const other = createKeyring({ keys: { test: Buffer.alloc(32, 8).toString("base64") }, current: "test" });
    const plan = await load(new DestinationCache(other), id);
    expect(plan?.configError).toMatch(/^secret: /);
    expect(plan?.secrets).toBeNull();
  });
});
