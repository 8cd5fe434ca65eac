/** The tenants: each once over all pages and regions, in an order that stands, with nobody else's numbers. On real servers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listTenants, type TenantFilter, type TenantRow } from "./list-tenants.ts";
import { readTenant } from "./read-tenant.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, endDelivery } from "./test-rows.ts";

const PER_REGION = 5;
let regions: TestRegions;
/** Slug -> UUID. */
const us = new Map<string, string>();
const eu = new Map<string, string>();

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  for (let index = 0; index < PER_REGION; index += 1) {
    const slug = `tenant-${index}`;
    us.set(slug, await addTenant(regions.us.pool, "us", slug));
    eu.set(slug, await addTenant(regions.eu.pool, "eu", slug));
  }
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function list(filter: Partial<TenantFilter>, access: AccessScope = EVERYWHERE) {
  return listTenants(access, { regions: null, sort: "name", limit: 50, ...filter });
}

async function allPages(filter: Partial<TenantFilter>): Promise<TenantRow[]> {
  const rows: TenantRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ ...filter, limit: 3, cursor });
    rows.push(...page.rows);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && rows.length < 100);
  return rows;
}

const nameOf = ({ region, slug }: TenantRow) => `${region}:${slug}`;

/** A sample of tenants in us, some seconds ago: slug -> worst age in ms. */
async function sample(ages: Readonly<Record<string, number>>, secondsAgo: number): Promise<void> {
  const { pool } = regions.us;
  await pool.query(
    `INSERT INTO sluice.sample_run (at, scope, region, ok) VALUES (clock_timestamp() - $1 * interval '1 second', 'tenant', 'us', true)`,
    [secondsAgo],
  );
  await pool.query(
    `INSERT INTO sluice.queue_sample (at, scope, tenant_id, service_class, region, first_attempt_age_ms, due_count, due_age_ms,
                                      held_count, held_age_ms, gated_count, ready, delayed, in_flight, dead)
     SELECT r.at, 'tenant', t.id, 'urgent', 'us', 0, 1, v.value::bigint, 0, 0, 0, 1, 0, 0, 0
       FROM (SELECT max(at) AS at FROM sluice.sample_run WHERE scope = 'tenant') r
      CROSS JOIN json_each_text($1::json) v JOIN sluice.tenant t ON t.slug = v.key`,
    [JSON.stringify(ages)],
  );
}

describe("paging", () => {
  test("by name every tenant of both regions comes once, in one order over the regions", async () => {
    const rows = await allPages({ sort: "name" });
    const expected = [...us.keys()].flatMap((slug) => [`eu:${slug}`, `us:${slug}`]);
    expect(rows.map(nameOf)).toEqual(expected);
  });

  test("without a sample the worst come by name, and the answer says that there is none", async () => {
    const page = await list({ sort: "-age" });
    expect(page.regions).toMatchObject([{ data: { sampledAt: null } }, { data: { sampledAt: null } }]);
    expect(page.rows).toHaveLength(2 * PER_REGION);
  });

  test("the worst come first, and a newer sample between two pages moves nobody", async () => {
    await sample({ "tenant-3": 900_000, "tenant-1": 5_000, "tenant-4": 5_000 }, 30);
    const first = await list({ sort: "-age", regions: ["us"], limit: 2 });
    expect(first.rows.map(({ slug }) => slug)).toEqual(["tenant-3", "tenant-1"]);
    await sample({ "tenant-0": 950_000, "tenant-1": 950_000 }, 1);
    const second = await list({ sort: "-age", regions: ["us"], limit: 2, cursor: first.next ?? "" });
    expect(second.rows.map(({ slug }) => slug)).toEqual(["tenant-4", "tenant-0"]);
    const third = await list({ sort: "-age", regions: ["us"], limit: 2, cursor: second.next ?? "" });
    expect(third.rows.map(({ slug }) => slug)).toEqual(["tenant-2"]);
    expect(third.next).toBeNull();
    const anew = await list({ sort: "-age", regions: ["us"], limit: 2 });
    expect(anew.rows.map(({ slug }) => slug)).toEqual(["tenant-0", "tenant-1"]);
  });

  test("over regions the worst of one come before the rest of both", async () => {
    const rows = await allPages({ sort: "-age" });
    expect(rows.map(nameOf)).toHaveLength(2 * PER_REGION);
    expect(new Set(rows.map(nameOf)).size).toBe(2 * PER_REGION);
    expect(rows.slice(0, 2).map(nameOf)).toEqual(["us:tenant-0", "us:tenant-1"]);
  });

  test.each(["bm9uc2Vuc2U", Buffer.from('{"l":"tenants-age","a":1}').toString("base64url")])(
    "a cursor that was not made by this list is refused: %s",
    async (cursor) => {
      await expect(list({ sort: "-age", cursor })).rejects.toSatisfy((error) =>
        isSluiceError(error, "bad_cursor"),
      );
    },
  );

  test("a cursor of one order is none of the other", async () => {
    const { next } = await list({ sort: "name", limit: 1 });
    await expect(list({ sort: "-age", limit: 1, cursor: next ?? "" })).rejects.toSatisfy((error) =>
      isSluiceError(error, "bad_cursor"),
    );
  });
});

describe("filters", () => {
  test("part of a name in any case, and no pattern of SQL", async () => {
    expect((await list({ q: "NANT-2" })).rows.map(nameOf)).toEqual(["eu:tenant-2", "us:tenant-2"]);
    expect((await list({ q: "%" })).rows).toEqual([]);
  });

  test("a class is that of live work in the newest sample", async () => {
    const { rows } = await list({ class: "urgent", regions: ["us"] });
    expect(rows.map(({ slug }) => slug)).toEqual(["tenant-0", "tenant-1"]);
    expect((await list({ class: "routine", regions: ["us"] })).rows).toEqual([]);
  });

  test("a state: paused, behind a gate, breaker open, and all others", async () => {
    const { pool } = regions.us;
    const gated = await addDestination(pool, "us", us.get("tenant-1") ?? "");
    const down = await addDestination(pool, "us", us.get("tenant-2") ?? "");
    await pool.query(
      `INSERT INTO sluice.destination_state (destination_id, region, hold_until, breaker, breaker_until)
       VALUES ($1, 'us', clock_timestamp() + interval '2 minutes', 'closed', NULL),
              ($2, 'us', NULL, 'open', clock_timestamp() + interval '1 minute')`,
      [gated, down],
    );
    await pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour',
              pause_reason = 'they asked', paused_by = 'user:ann' WHERE id = $1`,
      [us.get("tenant-0")],
    );
    const slugs = async (state: NonNullable<TenantFilter["state"]>) =>
      (await list({ state, regions: ["us"] })).rows.map(({ slug }) => slug);
    expect(await slugs("paused")).toEqual(["tenant-0"]);
    expect(await slugs("limited")).toEqual(["tenant-1"]);
    expect(await slugs("circuit_open")).toEqual(["tenant-2"]);
    expect(await slugs("active")).toEqual(["tenant-3", "tenant-4"]);
    const [paused] = (await list({ state: "paused" })).rows;
    expect(paused).toMatchObject({ stateReason: "they asked", concurrency: { effective: 0, why: "paused" } });
    const [open] = (await list({ state: "circuit_open" })).rows;
    expect(open).toMatchObject({ destinations: 1, destinationsFailing: 1 });
  });
});

describe("numbers", () => {
  test("SIG-1 ages and held work are told live, not from the sample", async () => {
    const { pool } = regions.us;
    const tenantId = us.get("tenant-3") ?? "";
    const destinationId = await addDestination(pool, "us", tenantId);
    await addDelivery(pool, "us", { tenantId, destinationId, dueInSeconds: -100, serviceClass: "urgent" });
    const dead = await addDelivery(pool, "us", {
      tenantId,
      destinationId,
      dueInSeconds: -5,
      state: "leased",
    });
    await endDelivery(pool, dead.id, "dead");
    const heldBy = us.get("tenant-0") ?? "";
    const heldAt = await addDestination(pool, "us", heldBy);
    await addDelivery(pool, "us", { tenantId: heldBy, destinationId: heldAt, dueInSeconds: -50 });
    const { rows } = await list({ regions: ["us"] });
    const late = rows.find(({ slug }) => slug === "tenant-3");
    expect(late?.firstAttemptMs).toBeGreaterThanOrEqual(100_000);
    expect(late).toMatchObject({
      firstAttemptClass: "urgent",
      due: { count: 1 },
      held: { count: 0 },
      deadLetters: { count: 1 },
      classes: ["urgent"],
    });
    const held = rows.find(({ slug }) => slug === "tenant-0");
    expect(held).toMatchObject({
      firstAttemptMs: 0,
      due: { count: 0 },
      held: { count: 1, why: "tenant_paused" },
    });
  });

  test("one tenant by id and by slug has the same numbers, and its pause with the reason", async () => {
    const bySlug = await readTenant(EVERYWHERE, "us", "tenant-0");
    const byId = await readTenant(EVERYWHERE, "us", toPublicId("ten", us.get("tenant-0") ?? ""));
    if (bySlug.status !== "ok" || byId.status !== "ok") throw new Error("us did not answer");
    expect(byId.data.tenant.id).toBe(bySlug.data.tenant.id);
    expect(bySlug.data.tenant).toMatchObject({
      state: "paused",
      pause: { reason: "they asked", by: "user:ann" },
      held: { count: 1 },
      claimOwner: "sluice",
    });
  });
});

describe("scope", () => {
  const outside = expect.objectContaining({ code: "not_found", status: 404 });

  test("REG-3 a grant for us sees no row of eu, and eu is not found", async () => {
    const access = { us: null };
    expect((await list({}, access)).rows.map(({ region }) => region)).toEqual(Array(PER_REGION).fill("us"));
    await expect(list({ regions: ["us", "eu"] }, access)).rejects.toEqual(outside);
    await expect(readTenant(access, "eu", "tenant-0")).rejects.toEqual(outside);
  });

  test("a grant for one tenant sees that one, in the list and alone", async () => {
    const access = { us: [us.get("tenant-3") ?? ""] };
    const page = await list({}, access);
    expect(page.rows.map(nameOf)).toEqual(["us:tenant-3"]);
    expect((await list({ q: "tenant-0" }, access)).rows).toEqual([]);
    expect(await readTenant(access, "us", "tenant-3")).toMatchObject({ status: "ok" });
    await expect(readTenant(access, "us", "tenant-0")).rejects.toEqual(outside);
    await expect(readTenant(access, "us", toPublicId("ten", us.get("tenant-0") ?? ""))).rejects.toEqual(
      outside,
    );
  });
});
