/** The audit's list: newest first, each row once, found by what staff know of it, and nothing of anybody else. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE } from "#domain/permissions.ts";
import { contextOf, REASON } from "#tests/support/command-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { endPauses } from "../queue/auto-resume.ts";
import { auditDenied } from "./access/audit.ts";
import { setWeight } from "./commands/set-weight.ts";
import { type AuditFilter, type AuditRow, listAudit, listAuditActions } from "./list-audit.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addTenant, newId } from "./test-rows.ts";

let regions: TestRegions;
let bank: string;
let shop: string;

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  bank = await addTenant(regions.us.pool, "us", "bank");
  shop = await addTenant(regions.us.pool, "us", "shop");
  const us = contextOf(regions.us);
  await setWeight(us, {
    tenantId: toPublicId("ten", bank),
    version: 1,
    reason: REASON,
    ticket: "OPS-1",
    weight: 3,
  });
  await setWeight(us, { tenantId: toPublicId("ten", shop), version: 1, reason: REASON, weight: 2 });
  await expect(
    setWeight(
      { ...us, tenantId: shop },
      { tenantId: toPublicId("ten", shop), version: 1, reason: REASON, weight: 5 },
    ),
  ).rejects.toMatchObject({ code: "version_conflict" });
  const by = {
    actor: "user:eve",
    role: "viewer",
    reason: "needs another role",
    correlationId: randomUUID(),
  } as const;
  await auditDenied(regions.us.pool, by, {
    action: "region_claims",
    kind: "request",
    id: "POST /api/v1/regions/eu/stop-claims",
  });
  const euTenant = await addTenant(regions.eu.pool, "eu", "bank");
  await setWeight(contextOf(regions.eu), {
    tenantId: toPublicId("ten", euTenant),
    version: 1,
    reason: REASON,
    weight: 4,
  });
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function rows(
  filter: Partial<AuditFilter> = {},
  access: AccessScope = EVERYWHERE,
): Promise<AuditRow[]> {
  const answer = await listAudit(access, { region: "us", limit: 100, ...filter });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data.rows;
}

const told = (list: readonly AuditRow[]) =>
  list.map((row) => [row.action, row.result, row.tenant?.slug ?? null]);

describe("CTL-4 the list", () => {
  it("says who, what, whose, why, with which result, before and after; newest first", async () => {
    const all = await rows();
    expect(told(all)).toEqual([
      ["region_claims", "denied", null],
      ["tenant.weight", "conflict", "shop"],
      ["tenant.weight", "ok", "shop"],
      ["tenant.weight", "ok", "bank"],
    ]);
    expect(all.at(-1)).toMatchObject({
      actor: "user:ann",
      role: "operator",
      target: toPublicId("ten", bank),
      targetKind: "tenant",
      region: "us",
      reason: REASON,
      ticket: "OPS-1",
      before: { weight: 1 },
      after: { weight: 3 },
    });
  });

  it.each([
    [{ actor: "user:eve" }, 1],
    [{ actor: "user:nobody" }, 0],
    [{ action: "tenant.weight" }, 3],
    [{ action: "tenant.*" }, 3],
    [{ action: "tenan.*" }, 0],
    [{ result: "ok" }, 2],
    [{ result: "denied" }, 1],
    [{ result: "conflict" }, 1],
    [{ tenant: "shop" }, 2],
    [{ tenant: "somebody-else" }, 0],
    [{ range: "1h" }, 4],
    [{ from: "2020-01-01T00:00:00Z", to: "2020-01-02T00:00:00Z" }, 0],
    [{ from: "2020-01-01T00:00:00Z" }, 4],
  ] as const)("filter %j finds %i", async (filter, count) => {
    expect(await rows(filter)).toHaveLength(count);
  });

  it("finds everything about one target", async () => {
    expect(told(await rows({ target: toPublicId("ten", bank) }))).toEqual([["tenant.weight", "ok", "bank"]]);
    expect(told(await rows({ tenant: toPublicId("ten", bank) }))).toEqual([["tenant.weight", "ok", "bank"]]);
  });

  it("pages by time and id, each row once, rows of one moment too", async () => {
    const ids = Array.from({ length: 23 }, () => newId());
    await regions.us.pool.query(
      `INSERT INTO sluice.operator_action (id, region, at, actor, actor_role, action, target_kind, target_id, reason, result, correlation_id)
       SELECT id, 'us', timestamptz '2026-01-01 12:00:00.123456Z' + (ord / 5) * interval '1 microsecond', 'user:pages', 'operator', 'test.page',
              'tenant', 'x', 'a test of pages', 'done', 'c' FROM unnest($1::uuid[]) WITH ORDINALITY AS u (id, ord)`,
      [ids],
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await listAudit(EVERYWHERE, { region: "us", actor: "user:pages", limit: 4, cursor });
      if (answer.status !== "ok") throw new Error(answer.detail);
      seen.push(...answer.data.rows.map(({ id }) => id));
      cursor = answer.data.next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toHaveLength(ids.length);
    expect(new Set(seen)).toEqual(new Set(ids.map((id) => toPublicId("aud", id))));
  });

  it("a pause that ended by itself stands there as system", async () => {
    const { us } = regions;
    const tenantId = await addTenant(us.pool, "us", "paused");
    await us.pool.query(
      `UPDATE sluice.tenant SET paused_at = clock_timestamp() - interval '1 hour', pause_until = clock_timestamp() - interval '1 second',
              pause_reason = 'maintenance', paused_by = 'user:ann' WHERE id = $1`,
      [tenantId],
    );
    await endPauses(us.pool, randomUUID(), newId);
    const system = await rows({ actor: "system" });
    expect(system.map((row) => [row.actor, row.role, row.action, row.tenant?.slug])).toEqual([
      ["worker", "system", "tenant.resume", "paused"],
    ]);
  });

  it("offers the actions that stand there", async () => {
    expect(await listAuditActions(EVERYWHERE, "us")).toMatchObject({
      data: { actions: expect.arrayContaining(["region_claims", "tenant.weight"]) },
    });
    expect(await listAuditActions({ us: [bank] }, "us")).toMatchObject({
      data: { actions: ["tenant.weight"] },
    });
  });
});

describe("REG-3 scopes", () => {
  it("a grant for a tenant sees that tenant's rows, its conflicts included, and none without a tenant", async () => {
    expect(told(await rows({}, { us: [shop] }))).toEqual([
      ["tenant.weight", "conflict", "shop"],
      ["tenant.weight", "ok", "shop"],
    ]);
    expect(await rows({ tenant: "bank" }, { us: [shop] })).toEqual([]);
    expect(await rows({ target: toPublicId("ten", bank) }, { us: [shop] })).toEqual([]);
  });

  it("a grant for one region sees no row about access, and the other region does not exist", async () => {
    expect((await rows({}, { us: null })).map(({ targetKind }) => targetKind)).not.toContain("request");
    expect((await rows({ result: "denied" }, { us: null, eu: null })).length).toBe(1);
    await expect(listAudit({ us: null }, { region: "eu", limit: 5 })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(listAuditActions({ us: null }, "eu")).rejects.toMatchObject({ code: "not_found" });
  });

  it("regions do not mix", async () => {
    const answer = await listAudit(EVERYWHERE, { region: "eu", limit: 100 });
    expect(answer).toMatchObject({
      data: { rows: [{ action: "tenant.weight", region: "eu", after: { weight: 4 } }] },
    });
  });
});
