/** Accounts, grants, service tokens and the throttle of sign-ins, on a real server. */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { REGIONS } from "#domain/region.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { addTenant } from "../test-rows.ts";
import type { AuditedChange } from "./audit.ts";
import {
  addGrant,
  createAccount,
  findTenantIds,
  hasNoAccounts,
  listAccounts,
  readGrants,
  revokeGrants,
} from "./grants.ts";
import { countAttempt, forgetAttempts } from "./login-throttle.ts";
import {
  createServiceToken,
  listServiceTokens,
  type NewToken,
  readServiceToken,
  revokeServiceToken,
} from "./service-tokens.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

function by(reason = "a test of accounts"): AuditedChange {
  return { actor: "cli:test", role: "admin", reason, correlationId: randomUUID() };
}

async function newPerson(): Promise<{ id: string; email: string }> {
  const email = `${randomUUID()}@example.test`;
  return {
    id: await createAccount(database.pool, { email, name: "Ann", passwordHash: "hash" }, by()),
    email,
  };
}

const EVERYTHING = { regions: REGIONS, tenantIds: null, canReveal: false } as const;

describe("accounts and grants", () => {
  it("a database without accounts says so, and each address has one account whatever its case", async () => {
    expect(await hasNoAccounts(database.pool)).toBe(true);
    const { email } = await newPerson();
    expect(await hasNoAccounts(database.pool)).toBe(false);
    const again = createAccount(
      database.pool,
      { email: email.toUpperCase(), name: "B", passwordHash: null },
      by(),
    );
    await expect(again).rejects.toMatchObject({ code: "account_exists", status: 409 });
  });

  it("gives what was granted, until it is revoked, ends or the account is disabled", async () => {
    const { pool } = database;
    const { id, email } = await newPerson();
    expect(await readGrants(pool, id)).toEqual([]);
    const tenantIds = [randomUUID()];
    await addGrant(pool, email, { role: "operator", regions: ["us"], tenantIds, canReveal: true }, by());
    await addGrant(pool, email, { role: "viewer", ...EVERYTHING }, by());
    expect(await readGrants(pool, id)).toEqual([
      { role: "operator", regions: ["us"], tenantIds, canReveal: true, actions: null },
      { role: "viewer", regions: ["us", "eu"], tenantIds: null, canReveal: false, actions: null },
    ]);
    await pool.query(
      "UPDATE sluice.console_grant SET expires_at = clock_timestamp() WHERE user_id = $1 AND role = 'operator'",
      [id],
    );
    expect((await readGrants(pool, id))?.map(({ role }) => role)).toEqual(["viewer"]);
    expect(await revokeGrants(pool, email, { disable: false }, by())).toBe(2);
    expect(await readGrants(pool, id)).toEqual([]);
    await addGrant(pool, email, { role: "admin", ...EVERYTHING }, by());
    await revokeGrants(pool, email, { disable: true }, by());
    await addGrant(pool, email, { role: "admin", ...EVERYTHING }, by());
    expect(await readGrants(pool, id)).toBeNull();
    const listed = (await listAccounts(pool)).find((account) => account.email === email);
    expect(listed).toMatchObject({ id: toPublicId("usr", id), disabled: true, grants: [{ role: "admin" }] });
  });

  it("a person who does not exist has no grants and gets none", async () => {
    expect(await readGrants(database.pool, randomUUID())).toBeNull();
    const grant = addGrant(database.pool, "nobody@example.test", { role: "viewer", ...EVERYTHING }, by());
    await expect(grant).rejects.toMatchObject({ code: "not_found" });
  });

  it("a viewer's grant that reveals bodies, an empty scope and an unknown role are refused by the database", async () => {
    const { email } = await newPerson();
    const { pool } = database;
    for (const wrong of [
      { role: "viewer", ...EVERYTHING, canReveal: true },
      { role: "operator", ...EVERYTHING, regions: [] },
      { role: "operator", ...EVERYTHING, tenantIds: [] },
      { role: "root" as "admin", ...EVERYTHING },
    ] as const) {
      await expect(addGrant(pool, email, wrong, by())).rejects.toMatchObject({ code: "23514" });
    }
  });

  it("every change is in the audit of its own transaction", async () => {
    const { id, email } = await newPerson();
    const change = by("asked for in a ticket");
    await addGrant(database.pool, email, { role: "support", ...EVERYTHING }, change);
    const { rows } = await database.pool.query(
      "SELECT actor, actor_role, action, target_kind, target_id, reason, result FROM sluice.operator_action WHERE correlation_id = $1",
      [change.correlationId],
    );
    expect(rows).toEqual([
      {
        actor: "cli:test",
        actor_role: "admin",
        action: "grant.add",
        target_kind: "user",
        target_id: toPublicId("usr", id),
        reason: "asked for in a ticket",
        result: "done",
      },
    ]);
    const failed = by();
    await createAccount(database.pool, { email, name: "Ann", passwordHash: null }, failed).catch(() => {});
    const none = await database.pool.query("SELECT 1 FROM sluice.operator_action WHERE correlation_id = $1", [
      failed.correlationId,
    ]);
    expect(none.rows).toEqual([]);
  });

  it("tenants are found by slug and by id, and others are not", async () => {
    const slug = `find-${randomUUID().slice(0, 8)}`;
    const id = await addTenant(database.pool, "us", slug);
    const found = await findTenantIds(database.pool, [slug, toPublicId("ten", id), "no-such-tenant"]);
    expect([found.get(slug), found.get(toPublicId("ten", id)), found.get("no-such-tenant")]).toEqual([
      id,
      id,
      undefined,
    ]);
  });
});

describe("service tokens", () => {
  const wanted = (part: Partial<NewToken> = {}): NewToken => ({
    name: `t-${randomUUID()}`,
    role: "operator",
    scopes: ["read", "pause"],
    regions: ["us"],
    tenantIds: null,
    days: 7,
    ...part,
  });

  it("stands for its grant until it is revoked, and only its hash is stored", async () => {
    const { pool } = database;
    const token = wanted();
    const made = await createServiceToken(pool, token, by(), randomBytes);
    expect(await readServiceToken(pool, made.token)).toEqual({
      name: token.name,
      grant: {
        role: "operator",
        regions: ["us"],
        tenantIds: null,
        canReveal: false,
        actions: ["read", "pause"],
      },
    });
    const { rows } = await pool.query<{ text: string }>(
      "SELECT t::text AS text FROM sluice.console_service_token t WHERE id = $1",
      [fromPublicId("tok", made.id)],
    );
    expect(rows[0]?.text).not.toContain(made.token.slice(7, 20));
    expect(rows[0]?.text).not.toContain(Buffer.from(made.token).toString("hex"));
    await revokeServiceToken(pool, token.name, REGIONS, by());
    expect(await readServiceToken(pool, made.token)).toBeNull();
    await expect(revokeServiceToken(pool, made.id, REGIONS, by())).rejects.toMatchObject({
      code: "not_found",
    });
  });

  it("an ended one, a made-up one and nonsense are nobody", async () => {
    const { pool } = database;
    const made = await createServiceToken(pool, wanted(), by(), randomBytes);
    await pool.query(
      "UPDATE sluice.console_service_token SET created_at = created_at - interval '2 days', expires_at = clock_timestamp() - interval '1 day' WHERE id = $1",
      [fromPublicId("tok", made.id)],
    );
    for (const text of [made.token, `sluice_${"A".repeat(43)}`, "", "' OR true --", made.token.slice(1)]) {
      expect(await readServiceToken(pool, text), text).toBeNull();
    }
  });

  it("a living name is taken; a revoked one is free again", async () => {
    const { pool } = database;
    const token = wanted();
    await createServiceToken(pool, token, by(), randomBytes);
    await expect(createServiceToken(pool, token, by(), randomBytes)).rejects.toMatchObject({
      code: "token_exists",
    });
    await revokeServiceToken(pool, token.name, REGIONS, by());
    await createServiceToken(pool, token, by(), randomBytes);
  });

  it("who administers us neither sees nor ends a token that reaches into eu", async () => {
    const { pool } = database;
    const both = await createServiceToken(pool, wanted({ regions: REGIONS }), by(), randomBytes);
    const ids = (await listServiceTokens(pool, ["us"])).map(({ id }) => id);
    expect(ids).not.toContain(both.id);
    await expect(revokeServiceToken(pool, both.id, ["us"], by())).rejects.toMatchObject({
      code: "not_found",
    });
    expect((await listServiceTokens(pool, REGIONS)).map(({ id }) => id)).toContain(both.id);
  });
});

describe("the throttle of sign-ins", () => {
  const RULE = { max: 3, windowMs: 60_000 };

  it("lets exactly the allowed number pass, also when all come at once", async () => {
    const key = randomUUID();
    const waits = await Promise.all(Array.from({ length: 12 }, () => countAttempt(database.pool, key, RULE)));
    expect(waits.filter((wait) => wait === null)).toHaveLength(3);
    for (const wait of waits) if (wait !== null) expect(wait).toBeLessThanOrEqual(RULE.windowMs);
  });

  it("counts each key for itself, forgets after a success, and begins anew after its window", async () => {
    const { pool } = database;
    const [one, two] = [randomUUID(), randomUUID()];
    for (let index = 0; index < 4; index += 1) await countAttempt(pool, one, RULE);
    expect(await countAttempt(pool, one, RULE)).toBeGreaterThan(0);
    expect(await countAttempt(pool, two, RULE)).toBeNull();
    await forgetAttempts(pool, one);
    expect(await countAttempt(pool, one, RULE)).toBeNull();
    for (let index = 0; index < 4; index += 1) await countAttempt(pool, one, RULE);
    await pool.query("UPDATE sluice.console_login_throttle SET window_at = window_at - interval '1 minute'");
    expect(await countAttempt(pool, one, RULE)).toBeNull();
  });

  it("keeps no address in the clear, and clears old rows away", async () => {
    const { pool } = database;
    const key = `account:${randomUUID()}@example.test`;
    await countAttempt(pool, key, RULE);
    const { rows } = await pool.query<{ text: string }>(
      "SELECT t::text AS text FROM sluice.console_login_throttle t",
    );
    expect(rows.map(({ text }) => text).join()).not.toContain("example.test");
    await pool.query("UPDATE sluice.console_login_throttle SET window_at = window_at - interval '1 day'");
    await countAttempt(pool, randomUUID(), RULE);
    const left = await pool.query<{ n: number }>(
      "SELECT count(*)::integer AS n FROM sluice.console_login_throttle",
    );
    expect(left.rows[0]?.n).toBe(1);
  });
});
