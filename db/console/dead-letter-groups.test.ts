/** Dead letters by cause: counts, scopes, states, pages and filters, on real rows; and what the statements read at size. */
import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rollUpSeries } from "#db/queue/roll-up-series.ts";
import type { GroupState } from "#domain/dead-letter-group.ts";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE, type Grant } from "#domain/permissions.ts";
import { addCauses, addDeaths, groupIdOf } from "#tests/support/dead-letter-rows/sql.ts";
import { createTestRegions, type TestRegions } from "#tests/support/regions.ts";
import { countCauses } from "./dead-letter-groups-counts.ts";
import { walkCauses } from "./dead-letter-groups-walk.ts";
import {
  type DeadLetterGroupPage,
  type GroupFilter,
  listDeadLetterGroups,
} from "./list-dead-letter-groups.ts";
import { listDeadLetters } from "./list-dead-letters.ts";
import { readDeadLetterGroup } from "./read-dead-letter-group.ts";
import type { Reader } from "./read-region.ts";
import { pointConsoleAt, releaseConsole } from "./test-console.ts";
import { addDestination, addTenant } from "./test-rows.ts";

const HOUR_MS = 3_600_000;
const UNREADABLE = "rejected:422:aaaaaaaaaaaaaaaa";
const DOWN = "attempts_exhausted:-:bbbbbbbbbbbbbbbb";
const VIEWER: Grant = { role: "viewer", regions: ["us"], tenantIds: null, canReveal: false, actions: null };

let regions: TestRegions;
let bank: string;
let shop: string;
const at = { ledger: "", hooks: "", shop: "" };

beforeAll(async () => {
  regions = await createTestRegions();
  await pointConsoleAt({ us: regions.us.connectionString, eu: regions.eu.connectionString });
  const { pool } = regions.us;
  bank = await addTenant(pool, "us", "bank");
  shop = await addTenant(pool, "us", "shop");
  at.ledger = await addDestination(pool, "us", bank, { url: "https://ledger.example.com/in" });
  at.hooks = await addDestination(pool, "us", bank, { url: "https://hooks.example.com/in" });
  at.shop = await addDestination(pool, "us", shop, { url: "https://shop.example.com/in" });
  await addDeaths(pool, {
    tenantId: bank,
    destinationId: at.ledger,
    fingerprint: UNREADABLE,
    count: 300,
    agoMs: 1_000,
  });
  await addDeaths(pool, {
    tenantId: bank,
    destinationId: at.ledger,
    fingerprint: UNREADABLE,
    count: 12,
    agoMs: 30 * HOUR_MS,
  });
  await addDeaths(pool, {
    tenantId: bank,
    destinationId: at.hooks,
    fingerprint: DOWN,
    count: 40,
    reason: "attempts_exhausted",
    status: null,
    outcome: "network",
    agoMs: 2 * HOUR_MS,
  });
  await addDeaths(pool, {
    tenantId: shop,
    destinationId: at.shop,
    fingerprint: "gone:410:cccccccccccccccc",
    reason: "gone",
    status: 410,
    agoMs: 9_000,
  });
});

afterAll(async () => {
  await releaseConsole();
  await regions.drop();
});

async function page(
  filter: Partial<GroupFilter> = {},
  access: AccessScope = EVERYWHERE,
): Promise<DeadLetterGroupPage> {
  const answer = await listDeadLetterGroups(access, { region: "us", limit: 100, ...filter });
  if (answer.status !== "ok") throw new Error(answer.detail);
  return answer.data;
}

const tagsOf = ({ rows }: DeadLetterGroupPage) => rows.map(({ tag }) => tag[0]);

describe("DLQ-2 causes", () => {
  it("tell hundreds of unreadable bodies from one destination that is down", async () => {
    const { rows, classes, causes, truncated, entriesMore } = await page();
    expect(
      rows.map((row) => [
        row.reason,
        row.reasonClass,
        row.lastStatus,
        row.lastOutcome,
        row.count,
        row.destination.host,
      ]),
    ).toEqual([
      ["rejected", "receiver", 422, "rejected", 312, "ledger.example.com"],
      ["gone", "receiver", 410, "rejected", 1, "shop.example.com"],
      ["attempts_exhausted", "exhausted", null, "network", 40, "hooks.example.com"],
    ]);
    expect(classes).toEqual([
      { reasonClass: "receiver", causes: 2, entries: 313 },
      { reasonClass: "exhausted", causes: 1, entries: 40 },
      { reasonClass: "poison", causes: 0, entries: 0 },
      { reasonClass: "system", causes: 0, entries: 0 },
    ]);
    expect({ causes, truncated, entriesMore }).toEqual({ causes: 3, truncated: false, entriesMore: false });
  });

  it("say first and last seen and the deaths of the last 24 hours, hour by hour", async () => {
    const [unreadable] = (await page({ code: "422" })).rows;
    expect(unreadable?.trend).toHaveLength(24);
    expect(unreadable?.trend.reduce((sum, n) => sum + n, 0)).toBe(300);
    expect(unreadable?.trend.at(-1)).toBe(300);
    const spanMs = Date.parse(unreadable?.lastSeenAt ?? "") - Date.parse(unreadable?.firstSeenAt ?? "");
    expect(spanMs).toBeGreaterThan(29 * HOUR_MS);
    const [down] = (await page({ code: "network" })).rows;
    expect(down?.trend.slice(-3)).toEqual([40, 0, 0]);
  });

  it.each([
    [{ cause: "exhausted" }, ["b"]],
    [{ reason: "gone" }, ["c"]],
    [{ code: "4xx" }, ["a", "c"]],
    [{ code: "410" }, ["c"]],
    [{ code: "5xx" }, []],
    [{ code: "timeout" }, []],
    [{ tenant: "bank" }, ["a", "b"]],
    [{ tenant: "nobody-there" }, []],
    [{ status: "new" }, ["a", "c", "b"]],
    [{ status: "resolved" }, []],
    [{ assignee: "nobody" }, ["a", "c", "b"]],
    [{ assignee: "ann" }, []],
  ] as const)("filter %j", async (filter, tags) => {
    expect(tagsOf(await page(filter))).toEqual(tags);
  });

  it("filter by destination and by a tenant's id", async () => {
    expect(tagsOf(await page({ destination: toPublicId("dst", at.hooks) }))).toEqual(["b"]);
    expect(tagsOf(await page({ tenant: toPublicId("ten", shop) }))).toEqual(["c"]);
  });
});

describe("REG-3 scopes", () => {
  it("a grant for a tenant sees its causes and counts only", async () => {
    const mine = await page({}, { us: [shop] });
    expect(tagsOf(mine)).toEqual(["c"]);
    expect(mine.classes[0]).toEqual({ reasonClass: "receiver", causes: 1, entries: 1 });
    const foreign = await groupIdOf(regions.us.pool, UNREADABLE);
    const read = readDeadLetterGroup({ us: [shop] }, [VIEWER], { region: "us", id: foreign });
    await expect(read).rejects.toMatchObject({ code: "not_found" });
    expect(tagsOf(await page({ tenant: "bank" }, { us: [shop] }))).toEqual([]);
  });

  it("a region outside does not exist", async () => {
    await expect(listDeadLetterGroups({ us: null }, { region: "eu", limit: 5 })).rejects.toMatchObject({
      status: 404,
    });
    await expect(
      readDeadLetterGroup({ us: null }, [VIEWER], { region: "eu", id: `dlg_${"0".repeat(32)}` }),
    ).rejects.toMatchObject({
      status: 404,
    });
  });

  it("a cause of several tenants shows each its own part, no note, and lets nobody with less than the region decide", async () => {
    const { pool } = regions.us;
    const fingerprint = "rejected:400:shared";
    await addDeaths(pool, { tenantId: bank, destinationId: at.ledger, fingerprint, count: 5, agoMs: 60_000 });
    await addDeaths(pool, { tenantId: shop, destinationId: at.shop, fingerprint, count: 2, agoMs: 50_000 });
    await pool.query("UPDATE sluice.dead_letter_group SET note = 'about bank' WHERE fingerprint = $1", [
      fingerprint,
    ]);
    const id = await groupIdOf(pool, fingerprint);
    const support = (tenantIds: readonly string[] | null): Grant => ({
      ...VIEWER,
      role: "support",
      tenantIds,
    });
    const narrow = await readDeadLetterGroup({ us: [shop] }, [support([shop])], { region: "us", id });
    expect(narrow).toMatchObject({
      data: {
        count: 2,
        tenants: 1,
        note: null,
        noteHidden: true,
        permit: { dead_letter_triage: { allowed: false } },
      },
    });
    // Of the last hour the bank's destination has taken three requests of four.
    await pool.query(
      `INSERT INTO sluice.attempt (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, lease_token,
                                   due_at, started_at, duration_ms, outcome, decision)
       SELECT gen_random_uuid(), 'us', gen_random_uuid(), $1, $2, 'routine', 'first', 1, 'http', 1, gen_random_uuid(), m.at, m.at, 40,
              CASE WHEN n = 1 THEN 'rejected' ELSE 'delivered' END, CASE WHEN n = 1 THEN 'dead' ELSE 'delivered' END
         FROM (SELECT clock_timestamp() AS at) m, generate_series(1, 4) n`,
      [bank, at.ledger],
    );
    await rollUpSeries(pool, 0);
    const wide = await readDeadLetterGroup({ us: null }, [support(null)], { region: "us", id });
    expect(wide).toMatchObject({
      data: {
        count: 7,
        tenants: 2,
        note: "about bank",
        noteHidden: false,
        permit: { dead_letter_triage: { allowed: true } },
      },
    });
    const viewer = await readDeadLetterGroup({ us: null }, [VIEWER], { region: "us", id });
    expect(viewer).toMatchObject({ data: { permit: { will_not_replay: { allowed: false } } } });
    if (wide.status !== "ok") throw new Error(wide.detail);
    expect(wide.data.shares.map(({ tenant, entries, lastHour }) => [tenant.slug, entries, lastHour])).toEqual(
      [
        ["bank", 5, { requests: 4, delivered: 3 }],
        ["shop", 2, { requests: 0, delivered: 0 }],
      ],
    );
    expect(wide.data.samples).toHaveLength(7);
    await pool.query("DELETE FROM sluice.dead_letter WHERE fingerprint = $1", [fingerprint]);
  });
});

describe("DLQ-2 resolved and regressed", () => {
  it.each([
    ["nothing came after it", 2 * HOUR_MS, null, "resolved"],
    ["an entry came within a day", 2 * HOUR_MS, HOUR_MS, "regressed"],
    ["the first entry came later than a day after", 40 * HOUR_MS, HOUR_MS, "new"],
  ] as const)("resolved, and %s: it is %s", async (_, resolvedAgoMs, diedAgoMs, shown: GroupState) => {
    const { pool } = regions.us;
    const fingerprint = `expired:429:${shown}`;
    await addDeaths(pool, {
      tenantId: shop,
      destinationId: at.shop,
      fingerprint,
      reason: "expired",
      agoMs: 50 * HOUR_MS,
    });
    await pool.query(
      `UPDATE sluice.dead_letter_group SET state = 'resolved', resolved_at = clock_timestamp() - $2::float8 * interval '1 millisecond'
        WHERE fingerprint = $1`,
      [fingerprint, resolvedAgoMs],
    );
    if (diedAgoMs !== null) {
      await addDeaths(pool, {
        tenantId: shop,
        destinationId: at.shop,
        fingerprint,
        reason: "expired",
        agoMs: diedAgoMs,
      });
    }
    const { rows } = await page({ status: shown, reason: "expired" });
    expect(rows.map(({ tag }) => tag)).toEqual([fingerprint.slice(-6)]);
    await pool.query("DELETE FROM sluice.dead_letter WHERE fingerprint = $1", [fingerprint]);
  });
});

describe("entries", () => {
  it("of one cause, with the state of their payload, and whether they will be replayed", async () => {
    const { pool } = regions.us;
    const group = await groupIdOf(pool, DOWN);
    const read = async (filter: { marked?: "yes" | "no"; range?: "1h" | "24h" }) => {
      const answer = await listDeadLetters(EVERYWHERE, { region: "us", group, limit: 100, ...filter });
      if (answer.status !== "ok") throw new Error(answer.detail);
      return answer.data.rows;
    };
    expect(await read({})).toHaveLength(40);
    expect(await read({ range: "1h" })).toHaveLength(0);
    expect(await read({ range: "24h", marked: "no" })).toHaveLength(40);
    expect(await read({ marked: "yes" })).toHaveLength(0);
    expect((await read({}))[0]).toMatchObject({
      groupId: group,
      payload: "missing",
      replays: 0,
      willNotReplay: false,
    });
  });
});

/**
 * Rows of the table that this transaction has read. Only a difference of two means anything: what a session has not yet
 * handed to the statistics, which it does once a second, is among them.
 */
async function rowReads(client: PoolClient): Promise<{ seq: number; fetched: number }> {
  const { rows } = await client.query<{ seq: string; fetched: string }>(
    `SELECT seq_tup_read AS seq, idx_tup_fetch AS fetched FROM pg_stat_xact_user_tables
      WHERE schemaname = 'sluice' AND relname = 'dead_letter'`,
  );
  return { seq: Number(rows[0]?.seq), fetched: Number(rows[0]?.fetched) };
}

describe("at size", () => {
  const CAUSES = 50;
  const EACH = 200;

  it("every one of 50 causes is on one page once, newest first, whatever the size of the page", async () => {
    const { pool } = regions.us;
    await addCauses(pool, {
      tenantId: shop,
      destinationId: at.shop,
      prefix: "rejected:422:size",
      causes: CAUSES,
      each: EACH,
    });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { rows, next } = await page({ tenant: "shop", limit: 7, cursor });
      for (const row of rows) if (row.count === EACH) seen.push(row.tag);
      cursor = next ?? undefined;
    } while (cursor !== undefined);
    expect(seen).toEqual(
      Array.from({ length: CAUSES }, (_, index) => `e-${String(CAUSES - index).padStart(4, "0")}`),
    );
  });

  it.each([["the whole region", null] as const, ["one tenant", "shop"] as const])(
    "10,000 dead letters in 50 causes are read by index alone, each entry at most three times: %s",
    async (_, tenant) => {
      const { pool } = regions.us;
      await pool.query("VACUUM ANALYZE sluice.dead_letter");
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const sql: Reader = async (text, values) =>
          (await client.query(text, values ? [...values] : [])).rows;
        const scope = tenant === null ? null : [shop];
        const base = await rowReads(client);
        const { causes } = await walkCauses(sql, scope, undefined);
        expect(causes.length).toBeGreaterThanOrEqual(CAUSES);
        const walked = await rowReads(client);
        expect(walked.seq - base.seq).toBe(0);
        // One step a cause and what was met around it: never the entries.
        expect(walked.fetched - base.fetched).toBeLessThan(20 * causes.length);
        await countCauses(sql, causes, scope, new Date(), 2_000);
        const counted = await rowReads(client);
        expect(counted.seq - base.seq).toBe(0);
        expect(counted.fetched - base.fetched).toBeLessThan(3 * 12_000);
      } finally {
        await client.query("ROLLBACK");
        client.release();
      }
    },
  );
});
