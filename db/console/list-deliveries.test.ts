/** The lists: every delivery once, found by what staff know of it, and nothing of a body or a secret in any answer. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { toPublicId } from "#domain/ids.ts";
import { EVERYWHERE } from "#domain/permissions.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { type DeliveryFilter, type DeliveryRow, listDeliveries } from "./list-deliveries.ts";
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
  await addWorker(pool, "us");
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

async function page(filter: Partial<DeliveryFilter>): Promise<{ rows: DeliveryRow[]; next: string | null }> {
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
