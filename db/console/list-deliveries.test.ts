/** The lists: every delivery once, found by what staff know of it, and nothing of a body or a secret in any answer. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { type DeliveryFilter, type DeliveryPage, listDeliveries } from "./list-deliveries.ts";
import { readDelivery } from "./read-delivery.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import {
  addDelivery,
  addDestination,
  addTenant,
  addWorker,
  endDelivery,
  type TestDelivery,
} from "./test-rows.ts";

const BODY_MARKER = "body-marker-7f3a";
const SECRET_MARKER = "secret-marker-51cc";
const PATH_MARKER = "path-marker-e09b";
const ROWS_PER_KIND = 7;

let regions: TestRegions;
let tenantId: string;
let destinationId: string;
const made: { delivery: TestDelivery; state: string }[] = [];

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  // Ahead, so that it is alive however long the tests take.
  await addWorker(pool, "us", { silentSeconds: -3_600 });
  tenantId = await addTenant(pool, "us", "northwind");
  const url = `https://hooks.example.com/${PATH_MARKER}?token=${PATH_MARKER}`;
  destinationId = await addDestination(pool, "us", tenantId, { url, secret: SECRET_MARKER });
  for (let index = 0; index < ROWS_PER_KIND; index += 1) {
    for (const state of ["ready", "delayed", "leased", "delivered", "dead"] as const) {
      const live = state === "delivered" || state === "dead" ? "leased" : state;
      const fields = { tenantId, destinationId, dueInSeconds: -index, body: `{"note":"${BODY_MARKER}"}` };
      const delivery = await addDelivery(pool, "us", { ...fields, state: live });
      if (state === "delivered" || state === "dead") await endDelivery(pool, delivery.id, state);
      made.push({ delivery, state });
    }
  }
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function page(filter: Partial<DeliveryFilter>): Promise<DeliveryPage> {
  const answer = await listDeliveries(EVERYWHERE, { region: "us", limit: 100, ...filter });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

describe("paging", () => {
  test("every delivery is listed once over all pages, newest first, live, dead and archived together", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { rows, next } = await page({ limit: 4, cursor });
      seen.push(...rows.map((row) => row.id));
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    const expected = made.map(({ delivery }) => toPublicId("dlv", delivery.id));
    expect(seen).toHaveLength(made.length);
    expect([...seen].sort()).toEqual(expected.sort());
    expect(seen).toEqual([...seen].sort().reverse());
  });

  test.each([undefined, "due" as const])(
    "waiting ones page by due time, each once, also where many are due at once (sort %s)",
    async (sort) => {
      const { pool } = regions.us;
      const tenant = await addTenant(pool, "us", `same-moment-${sort ?? "latest"}`);
      const places = [await addDestination(pool, "us", tenant), await addDestination(pool, "us", tenant)];
      const ids: string[] = [];
      for (let index = 0; index < 9; index += 1) {
        const destination = places[index % 2] ?? "";
        const serviceClass = index % 3 === 0 ? ("urgent" as const) : ("routine" as const);
        const { id } = await addDelivery(pool, "us", {
          tenantId: tenant,
          destinationId: destination,
          dueInSeconds: 60,
          serviceClass,
        });
        ids.push(id);
      }
      // Two moments that differ by a microsecond, which a Date cannot tell apart.
      await pool.query(
        `UPDATE sluice.delivery SET due_at = '2026-12-01T00:00:00.000001Z'::timestamptz
              + CASE WHEN id = ANY ($1) THEN interval '1 microsecond' ELSE interval '0' END WHERE tenant_id = $2`,
        [ids.slice(0, 4), tenant],
      );
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const answer = await page({
          tenant: toPublicId("ten", tenant),
          state: "ready",
          sort,
          limit: 2,
          cursor,
        });
        expect(answer.order).toBe(sort === "due" ? "oldest_due" : "due");
        seen.push(...answer.rows.map((row) => row.id));
        cursor = answer.next ?? undefined;
      } while (cursor !== undefined);
      const later = ids.slice(0, 4).sort();
      const sooner = ids.slice(4).sort();
      const oldestFirst = [...sooner, ...later].map((id) => toPublicId("dlv", id));
      expect(seen).toEqual(sort === "due" ? oldestFirst : oldestFirst.reverse());
      await pool.query("DELETE FROM sluice.delivery WHERE tenant_id = $1", [tenant]);
    },
  );

  test("dead letters page by their death, each once", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await listDeadLetters(EVERYWHERE, { region: "us", limit: 3, cursor });
      if (answer.status !== "ok") throw new Error(answer.detail);
      seen.push(...answer.data.rows.map((row) => row.id));
      cursor = answer.data.next ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(ROWS_PER_KIND);
    expect(seen).toHaveLength(ROWS_PER_KIND);
  });

  test("a cursor that was not made by a list is refused", async () => {
    await expect(
      listDeliveries(EVERYWHERE, { region: "us", limit: 5, cursor: "bm9uc2Vuc2U" }),
    ).rejects.toSatisfy((error) => isSluiceError(error, "bad_cursor"));
  });
});

describe("filters", () => {
  test.each(["ready", "delayed", "leased", "delivered", "dead"] as const)(
    "state %s shows those and no others",
    async (state) => {
      const { rows } = await page({ state });
      expect(rows.map((row) => row.state)).toEqual(Array.from({ length: ROWS_PER_KIND }, () => state));
    },
  );

  test("tenant by slug and by id, destination by id, class", async () => {
    const bySlug = await page({ tenant: "northwind" });
    const byId = await page({
      tenant: toPublicId("ten", tenantId),
      destination: toPublicId("dst", destinationId),
    });
    expect(bySlug.rows).toHaveLength(made.length);
    expect(byId.rows).toHaveLength(made.length);
    expect((await page({ tenant: "somebody-else" })).rows).toEqual([]);
    expect((await page({ class: "urgent" })).rows).toEqual([]);
  });

  test("SIG-6 an id and a key find their delivery in whatever state it is", async () => {
    for (const { delivery, state } of made.slice(0, 5)) {
      const id = toPublicId("dlv", delivery.id);
      expect((await page({ q: id })).rows.map((row) => [row.id, row.state])).toEqual([[id, state]]);
      expect((await page({ q: delivery.key })).rows.map((row) => row.id)).toEqual([id]);
    }
    expect((await page({ q: "no-such-key" })).rows).toEqual([]);
  });

  test("reason, last result, attempts and event type show those and no others", async () => {
    const dead = await page({ reason: "rejected" });
    expect(dead.rows.map((row) => [row.state, row.reason])).toEqual(
      Array.from({ length: ROWS_PER_KIND }, () => ["dead", "rejected"]),
    );
    expect((await page({ reason: "expired" })).rows).toEqual([]);
    expect((await page({ reason: "rejected", state: "delayed" })).rows).toEqual([]);
    const throttled = await page({ code: "429" });
    expect(new Set(throttled.rows.map((row) => [row.state, row.lastStatus].join(" ")))).toEqual(
      new Set(["delayed 429"]),
    );
    expect(throttled.rows).toHaveLength(ROWS_PER_KIND);
    expect((await page({ code: "4xx" })).rows).toHaveLength(2 * ROWS_PER_KIND);
    expect((await page({ code: "2xx" })).rows.map((row) => row.state)).toEqual(
      Array.from({ length: ROWS_PER_KIND }, () => "delivered"),
    );
    expect((await page({ code: "timeout" })).rows).toEqual([]);
    expect((await page({ attempts: "1.." })).rows).toHaveLength(3 * ROWS_PER_KIND);
    expect((await page({ attempts: "2.." })).rows).toEqual([]);
    expect((await page({ type: "hold.released" })).rows).toHaveLength(made.length);
    expect((await page({ type: "hold.other" })).rows).toEqual([]);
  });

  test("the acceptance time: age, range, from and to cut exactly there", async () => {
    expect((await page({ age: "1h.." })).rows).toEqual([]);
    expect((await page({ range: "1h" })).rows).toHaveLength(made.length);
    const middle = made[17]?.delivery.id ?? "";
    const ms = Number.parseInt(middle.replaceAll("-", "").slice(0, 12), 16);
    const cut = new Date(ms).toISOString();
    const before = await page({ to: cut });
    const from = await page({ from: cut });
    expect(before.rows.length + from.rows.length).toBe(made.length);
    expect(from.rows.map((row) => row.id)).toContain(toPublicId("dlv", middle));
    expect(before.rows.map((row) => row.id)).not.toContain(toPublicId("dlv", middle));
  });

  test("a filter without an index looks at one day of the archive and says so; an explicit time is taken as it is", async () => {
    expect((await page({ type: "hold.released" })).window.byDefault).toBe(true);
    expect((await page({ attempts: "2.." })).window.byDefault).toBe(true);
    const asked = await page({ type: "hold.released", range: "7d" });
    expect(asked.window).toMatchObject({ byDefault: false });
    // What reads a small table, or a row by its id, is not narrowed.
    for (const filter of [
      { state: "dead" as const },
      { state: "ready" as const },
      { code: "429" },
      { q: made[0]?.delivery.key },
    ]) {
      expect((await page({ type: "hold.released", ...filter })).window.byDefault).toBe(false);
    }
  });

  test("the total is that of the whole list, on every page", async () => {
    const first = await page({ limit: 4 });
    expect(first.total).toEqual({ count: made.length, atLeast: false });
    const second = await page({ limit: 4, cursor: first.next ?? undefined });
    expect(second.total).toEqual({ count: made.length, atLeast: false });
    expect((await page({ state: "dead" })).total).toEqual({ count: ROWS_PER_KIND, atLeast: false });
    expect((await page({ q: "no-such-key" })).total).toEqual({ count: 0, atLeast: false });
  });

  test("attempts are told with the failures that count and the most that the policy allows", async () => {
    const { rows } = await page({ state: "delayed" });
    expect(rows[0]).toMatchObject({ attempts: 1, failures: 0, maxFailures: 8 });
    await regions.us.pool.query("UPDATE sluice.destination SET policy_override = $2 WHERE id = $1", [
      destinationId,
      { maxFailures: 3 },
    ]);
    expect((await page({ state: "delayed" })).rows[0]).toMatchObject({ maxFailures: 3 });
    await regions.us.pool.query("UPDATE sluice.destination SET policy_override = NULL WHERE id = $1", [
      destinationId,
    ]);
  });

  test("REG-3 a list shows one region only", async () => {
    const answer = await listDeliveries(EVERYWHERE, { region: "eu", limit: 100 });
    expect(answer.status === "ok" && answer.data.rows).toEqual([]);
  });
});

describe("held", () => {
  test("SIG-9 a due delivery behind a shut gate names the gate and its opening; one that is not due names nothing", async () => {
    const { pool } = regions.us;
    const gated = await addDestination(pool, "us", tenantId);
    const due = await addDelivery(pool, "us", {
      tenantId,
      destinationId: gated,
      dueInSeconds: -1,
      state: "delayed",
    });
    const later = await addDelivery(pool, "us", {
      tenantId,
      destinationId: gated,
      dueInSeconds: 60,
      state: "delayed",
    });
    await pool.query(
      "SELECT sluice.shut_gate($1, $2, 120000, clock_timestamp(), 'rate_limited', 429::smallint, '120')",
      [gated, due.id],
    );
    const { rows } = await page({ destination: toPublicId("dst", gated) });
    const byId = new Map(rows.map((row) => [row.id, row.held]));
    const held = byId.get(toPublicId("dlv", due.id)) ?? [];
    expect(held.map((blocker) => blocker.code)).toEqual(["gate"]);
    expect(Date.parse(held[0]?.until ?? "")).toBeGreaterThan(Date.now() + 100_000);
    expect(byId.get(toPublicId("dlv", later.id))).toEqual([]);
  });

  test("OUT-10 a paused tenant's delivery says so with the end of the pause and its reason", async () => {
    const { pool } = regions.us;
    const paused = await addTenant(pool, "us", "paused-one");
    const destination = await addDestination(pool, "us", paused);
    await addDelivery(pool, "us", { tenantId: paused, destinationId: destination, dueInSeconds: -5 });
    await pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour',
              pause_reason = 'maintenance', paused_by = 'test' WHERE id = $1`,
      [paused],
    );
    const { rows } = await page({ tenant: "paused-one" });
    expect(rows[0]?.held).toMatchObject([{ code: "tenant_paused", reason: "maintenance" }]);
  });
});

describe("held filters", () => {
  test("OUT-10 behind few gates and behind very many a list and its total are of the same rows", async () => {
    const { pool } = regions.us;
    const tenant = await addTenant(pool, "us", "many-gates");
    const made = async (count: number) => {
      const { rows } = await pool.query<{ id: string }>(
        `INSERT INTO sluice.destination (id, region, tenant_id, name, url, secret_current)
         SELECT gen_random_uuid(), 'us', $1, 'Gate', 'https://hooks.example.com/in', '\\x00' FROM generate_series(1, $2::integer) RETURNING id`,
        [tenant, count],
      );
      const ids = rows.map((row) => row.id);
      await pool.query(
        `INSERT INTO sluice.destination_state (destination_id, region, hold_until, hold_set_at, hold_why, hold_status, probing)
         SELECT id, 'us', clock_timestamp() + interval '1 hour', clock_timestamp(), 'rate_limited', 429, false FROM unnest($1::uuid[]) id`,
        [ids],
      );
      return ids;
    };
    const expected: string[] = [];
    const gate = async (limit: number) => {
      const listed = await page({ tenant: "many-gates", reason: "gate", limit });
      return { ids: listed.rows.map((row) => row.id), total: listed.total, next: listed.next };
    };
    for (const [index, destination] of (await made(3)).entries()) {
      for (const ago of [10, 20]) {
        const fields = { tenantId: tenant, destinationId: destination, dueInSeconds: -ago - index };
        expected.push((await addDelivery(pool, "us", fields)).id);
      }
      await addDelivery(pool, "us", { tenantId: tenant, destinationId: destination, dueInSeconds: 600 });
    }
    const few = await gate(100);
    expect([...few.ids].sort()).toEqual(expected.map((id) => toPublicId("dlv", id)).sort());
    const pages = await gate(4);
    expect(pages.ids).toEqual(few.ids.slice(0, 4));
    expect(pages.total).toEqual({ count: 6, atLeast: false });
    const rest = await page({ tenant: "many-gates", reason: "gate", limit: 4, cursor: pages.next ?? "" });
    expect(rest.rows.map((row) => row.id)).toEqual(few.ids.slice(4));
    // More than are gone through one by one.
    await made(300);
    expect(await gate(100)).toEqual(few);
    expect(await gate(4)).toEqual(pages);
  });

  test("OUT-10 what people hold is found by its reason, due rows only, and nothing else", async () => {
    const { pool } = regions.us;
    const tenant = await addTenant(pool, "us", "held-filters");
    const paused = await addDestination(pool, "us", tenant);
    const disabled = await addDestination(pool, "us", tenant);
    const free = await addDestination(pool, "us", tenant);
    const ids: Record<string, string> = {};
    for (const [name, place] of Object.entries({ paused, disabled, free })) {
      ids[name] = (
        await addDelivery(pool, "us", { tenantId: tenant, destinationId: place, dueInSeconds: -5 })
      ).id;
      await addDelivery(pool, "us", { tenantId: tenant, destinationId: place, dueInSeconds: 600 });
    }
    await pool.query(
      `UPDATE sluice.destination SET paused_at = clock_timestamp(), pause_until = clock_timestamp() + interval '1 hour',
              pause_reason = 'maintenance', paused_by = 'user:ann' WHERE id = $1`,
      [paused],
    );
    await pool.query(
      "UPDATE sluice.destination SET disabled_at = clock_timestamp(), disabled_reason = 'gone', disabled_by = 'worker' WHERE id = $1",
      [disabled],
    );
    const found = async (reason: NonNullable<DeliveryFilter["reason"]>) =>
      (await page({ tenant: "held-filters", reason })).rows.map((row) => row.id);
    expect(await found("destination_paused")).toEqual([toPublicId("dlv", ids.paused ?? "")]);
    expect(await found("destination_disabled")).toEqual([toPublicId("dlv", ids.disabled ?? "")]);
    expect(await found("tenant_paused")).toEqual([]);
    expect(await found("gate")).toEqual([]);
    expect(await found("region_draining")).toEqual([]);
    await pool.query(
      "UPDATE sluice.region_control SET draining = true, drain_reason = 'test', drained_by = 'test'",
    );
    expect(await found("region_draining")).toHaveLength(3);
    await pool.query(
      "UPDATE sluice.region_control SET draining = false, drain_reason = NULL, drained_by = NULL",
    );
  });
});

describe("what never leaves the database", () => {
  test("ID-8 no body, no secret and no path of a URL is in a list or in the answer of one delivery", async () => {
    const [first] = made;
    const answers = JSON.stringify([
      await page({}),
      await listDeadLetters(EVERYWHERE, { region: "us", limit: 100 }),
      await readDelivery(EVERYWHERE, toPublicId("dlv", first?.delivery.id ?? "")),
    ]);
    expect(answers).toContain("hooks.example.com");
    for (const marker of [BODY_MARKER, SECRET_MARKER, PATH_MARKER]) expect(answers).not.toContain(marker);
  });
});
