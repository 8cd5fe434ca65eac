/** Destinations: each once over all pages, with their health and the evidence of trouble, and never their path. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rollUpAttempts } from "#db/queue/sample-queue-age.ts";
import { isSluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { type DestinationFilter, listDestinations } from "./list-destinations.ts";
import { readDestination } from "./read-destination.ts";
import { MAX_DESTINATION_ATTEMPTS, readDestinationAttempts } from "./read-destination-attempts.ts";
import type { DestinationHealth } from "./read-destination-health.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDelivery, addDestination, addTenant, endDelivery, newId } from "./test-rows.ts";

const PATH_MARKER = "path-marker-2f6b";
const SECRET_MARKER = "secret-marker-88ad";
const COUNT = 7;

let regions: TestRegions;
let mine: string;
let foreign: string;
const ids: string[] = [];

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  mine = await addTenant(pool, "us", "mine");
  foreign = await addTenant(pool, "us", "foreign");
  for (let index = 0; index < COUNT; index += 1) {
    const url = `https://hooks-${index}.example.com:8443/${PATH_MARKER}?key=${PATH_MARKER}`;
    ids.push(await addDestination(pool, "us", index === 0 ? foreign : mine, { url, secret: SECRET_MARKER }));
  }
  // All but one have the same name: the id decides then.
  await pool.query("UPDATE sluice.destination SET name = 'Archive' WHERE id = $1", [ids[6]]);
  await pool.query(
    `INSERT INTO sluice.destination_state (destination_id, region, breaker, breaker_until, breaker_why, down_in_row)
     VALUES ($1, 'us', 'open', clock_timestamp() + interval '1 minute', 'timeout', 5)`,
    [ids[1]],
  );
  await pool.query(
    "SELECT sluice.shut_gate($1, $2, 120000, clock_timestamp(), 'retry_after', 429::smallint, '120')",
    [ids[2], newId()],
  );
  await pool.query(
    "UPDATE sluice.destination SET disabled_at = clock_timestamp(), disabled_reason = 'gone', disabled_by = 'user:ann' WHERE id = $1",
    [ids[3]],
  );
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function page(filter: Partial<DestinationFilter>, access = EVERYWHERE) {
  const answer = await listDestinations(access, { region: "us", sort: "name", limit: 50, ...filter });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

async function allPages(filter: Partial<DestinationFilter>): Promise<DestinationHealth[]> {
  const rows: DestinationHealth[] = [];
  let cursor: string | undefined;
  do {
    const { rows: found, next } = await page({ ...filter, limit: 2, cursor });
    rows.push(...found);
    cursor = next ?? undefined;
  } while (cursor !== undefined && rows.length < 100);
  return rows;
}

const dst = (index: number) => toPublicId("dst", ids[index] ?? "");

describe("paging and filters", () => {
  test.each(["name", "trouble"] as const)("sort=%s lists every destination once", async (sort) => {
    const rows = await allPages({ sort });
    expect(rows.map(({ id }) => id).sort()).toEqual(ids.map((id) => toPublicId("dst", id)).sort());
  });

  test("by name equal names follow their ids, and a renamed row between two pages skips no other", async () => {
    const first = await page({ limit: 2 });
    expect(first.rows.map(({ name }) => name)).toEqual(["Archive", "Ledger"]);
    const last = first.rows[1]?.id;
    const rest = await page({ cursor: first.next ?? "" });
    expect(rest.rows).toHaveLength(COUNT - 2);
    expect(rest.rows.map(({ id }) => id)).not.toContain(last);
  });

  test("by trouble the open breaker comes before the shut gate, and both before what is well", async () => {
    const { rows } = await page({ sort: "trouble" });
    expect(rows.slice(0, 3).map(({ id, state }) => [id, state])).toEqual([
      [dst(1), "circuit_open"],
      [dst(2), "rate_limited"],
      [dst(3), "disabled"],
    ]);
  });

  test("state, tenant, id, name and host are filters", async () => {
    expect((await page({ state: "rate_limited" })).rows.map(({ id }) => id)).toEqual([dst(2)]);
    expect((await page({ tenant: "foreign" })).rows.map(({ id }) => id)).toEqual([dst(0)]);
    expect((await page({ tenant: toPublicId("ten", foreign) })).rows).toHaveLength(1);
    expect((await page({ q: dst(4) })).rows.map(({ id }) => id)).toEqual([dst(4)]);
    expect((await page({ q: "ARCH" })).rows.map(({ id }) => id)).toEqual([dst(6)]);
    expect((await page({ q: "hooks-5.EXAMPLE" })).rows.map(({ id }) => id)).toEqual([dst(5)]);
  });

  test("ID-8 a search never looks at a path: it would give it away letter by letter", async () => {
    for (const q of [PATH_MARKER, "path-m", "key=", "?"]) expect((await page({ q })).rows).toEqual([]);
  });

  test("a cursor of another order, or of nobody, is refused", async () => {
    const { next } = await page({ sort: "name", limit: 1 });
    for (const cursor of [next ?? "", "bm9uc2Vuc2U"]) {
      await expect(page({ sort: "trouble", cursor })).rejects.toSatisfy((error) =>
        isSluiceError(error, "bad_cursor"),
      );
    }
  });
});

/** Attempts of a destination, some seconds ago, straight into the table. */
async function addAttempts(
  destinationId: string,
  attempts: readonly { outcome: string; status: number | null; agoSeconds: number; ms?: number }[],
): Promise<void> {
  for (const { outcome, status, agoSeconds, ms = 20 } of attempts) {
    await regions.us.pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
         due_at, started_at, duration_ms, outcome, decision, status)
       SELECT $1, 'us', $2, $3, $4, 'routine', 'first', 1, 'http', 1, gen_random_uuid(), at, at, $5, $6,
              CASE WHEN $6 = 'delivered' THEN 'delivered' ELSE 'delayed' END, $7
         FROM (SELECT clock_timestamp() - $8 * interval '1 second' AS at) t`,
      [newId(), newId(), mine, destinationId, ms, outcome, status, agoSeconds],
    );
  }
}

describe("health", () => {
  test("SIG-2 success, latency and last result come from attempts of the last day; a lost lease is nobody's failure", async () => {
    const id = ids[4] ?? "";
    await addAttempts(id, [
      { outcome: "delivered", status: 200, agoSeconds: 600, ms: 40 },
      { outcome: "delivered", status: 200, agoSeconds: 500, ms: 60 },
      { outcome: "lease_expired", status: null, agoSeconds: 450, ms: 30_000 },
      { outcome: "server_error", status: 500, agoSeconds: 400, ms: 900 },
    ]);
    await rollUpAttempts(regions.us.pool);
    const [row] = (await page({ q: dst(4) })).rows;
    expect(row).toMatchObject({ success: { requests: 3, delivered: 2 }, latencyP95Ms: 900 });
    expect(row?.last).toMatchObject({ outcome: "server_error" });
    const [idle] = (await page({ q: dst(5) })).rows;
    expect(idle).toMatchObject({
      success: { requests: 0, delivered: 0 },
      latencyP95Ms: null,
      last: null,
      failing: false,
    });
  });

  test("a code is told of what ended last, dead letters are counted", async () => {
    const { pool } = regions.us;
    const destinationId = ids[5] ?? "";
    const delivery = await addDelivery(pool, "us", {
      tenantId: mine,
      destinationId,
      dueInSeconds: -5,
      state: "leased",
    });
    await endDelivery(pool, delivery.id, "dead");
    const [row] = (await page({ q: dst(5) })).rows;
    expect(row).toMatchObject({ last: { outcome: "rejected", status: 422 }, deadLetters: { count: 1 } });
  });

  test("SIG-9 a shut gate is shown with its evidence: status, Retry-After as received, until when", async () => {
    const answer = await readDestination(EVERYWHERE, "us", dst(2));
    if (answer.status !== "ok") throw new Error(answer.detail);
    const { destination } = answer.data;
    expect(destination).toMatchObject({
      state: "rate_limited",
      retryAfter: { raw: "120" },
      gate: { shut: true, why: "retry_after", status: 429, retryAfterRaw: "120", consecutive: 1 },
      adaptive: { limit: 1, pinned: false },
      concurrency: { limit: null, desired: 10 },
    });
    expect(Date.parse(destination.gate?.until ?? "")).toBeGreaterThan(Date.parse(answer.asOf) + 60_000);
    expect(destination.stateUntil).toBe(destination.gate?.until);
    expect(destination.stateSince).toBe(destination.gate?.setAt);
    expect(destination.stateSince).not.toBeNull();
  });

  test("a breaker says why, and a disabled one by whom", async () => {
    const down = await readDestination(EVERYWHERE, "us", dst(1));
    expect(down).toMatchObject({
      data: {
        destination: {
          state: "circuit_open",
          failing: true,
          breaker: { open: true, why: "timeout", downInRow: 5 },
        },
      },
    });
    const off = await readDestination(EVERYWHERE, "us", dst(3));
    expect(off).toMatchObject({
      data: { destination: { state: "disabled", disabled: { reason: "gone", by: "user:ann" } } },
    });
  });
});

describe("newest attempts", () => {
  test("are exact over counted minutes and those that are not counted yet, newest first, and bounded", async () => {
    const id = ids[6] ?? "";
    await addAttempts(id, [
      { outcome: "timeout", status: null, agoSeconds: 2 * 86_400 },
      ...Array.from({ length: MAX_DESTINATION_ATTEMPTS }, (_, index) => ({
        outcome: "delivered",
        status: 200,
        agoSeconds: 1_000 + index * 61,
      })),
    ]);
    await rollUpAttempts(regions.us.pool);
    await addAttempts(id, [{ outcome: "rate_limited", status: 429, agoSeconds: 5 }]);
    await addAttempts(ids[5] ?? "", [{ outcome: "delivered", status: 200, agoSeconds: 1 }]);
    const answer = await readDestinationAttempts(EVERYWHERE, "us", dst(6));
    if (answer.status !== "ok") throw new Error(answer.detail);
    const { attempts, more } = answer.data;
    expect(attempts).toHaveLength(MAX_DESTINATION_ATTEMPTS);
    expect(more).toBe(true);
    expect(attempts[0]).toMatchObject({ outcome: "rate_limited", status: 429 });
    const times = attempts.map(({ startedAt }) => startedAt);
    expect(times).toEqual([...times].sort().reverse());
    expect(attempts.slice(1).every(({ outcome }) => outcome === "delivered")).toBe(true);
  });

  test("of a quiet one all of the days are found", async () => {
    await addAttempts(ids[0] ?? "", [{ outcome: "delivered", status: 204, agoSeconds: 3 * 86_400 }]);
    await rollUpAttempts(regions.us.pool);
    expect(await readDestinationAttempts(EVERYWHERE, "us", dst(0))).toMatchObject({
      data: { attempts: [{ outcome: "delivered", status: 204 }], more: false },
    });
  });
});

describe("scope and secrecy", () => {
  const outside = expect.objectContaining({ code: "not_found", status: 404 });

  test("a grant for one tenant sees its destinations only, in lists, alone and by attempts", async () => {
    const access = { us: [mine] };
    const { rows } = await page({}, access);
    expect(rows).toHaveLength(COUNT - 1);
    expect((await page({ tenant: "foreign" }, access)).rows).toEqual([]);
    expect((await page({ q: dst(0) }, access)).rows).toEqual([]);
    await expect(readDestination(access, "us", dst(0))).rejects.toEqual(outside);
    await expect(readDestinationAttempts(access, "us", dst(0))).rejects.toEqual(outside);
  });

  test("REG-3 a grant for us sees nothing of eu, and ids of us are not found there", async () => {
    await expect(listDestinations({ us: null }, { region: "eu", sort: "name", limit: 5 })).rejects.toEqual(
      outside,
    );
    await expect(readDestination({ us: null }, "eu", dst(1))).rejects.toEqual(outside);
    await expect(readDestination(EVERYWHERE, "eu", dst(1))).rejects.toEqual(outside);
  });

  test("ID-8 no secret and nothing of a path is in any answer; the host is", async () => {
    const text = JSON.stringify([
      await page({}),
      await readDestination(EVERYWHERE, "us", dst(2)),
      await readDestinationAttempts(EVERYWHERE, "us", dst(6)),
    ]);
    expect(text).toContain("hooks-2.example.com:8443");
    expect(text).toContain("https://hooks-2.example.com:8443/•••?•••");
    for (const marker of [PATH_MARKER, SECRET_MARKER]) expect(text).not.toContain(marker);
  });
});
