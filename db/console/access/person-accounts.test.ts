/** People as administrators add, disable and enable them, on a real server: never further than they administer. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromPublicId, toPublicId } from "#domain/ids.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import type { AuditedChange } from "./audit.ts";
import { addGrant, createAccount, type NewGrant, readGrants, revokeGrants } from "./grants.ts";
import { addPerson, disablePerson, enablePerson, type NewPerson } from "./person-accounts.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function by(): AuditedChange {
  return { actor: "user:test", role: "admin", reason: "a test of people", correlationId: randomUUID() };
}

interface TestPerson {
  uuid: string;
  id: string;
  email: string;
}

async function person(...grants: Partial<NewGrant>[]): Promise<TestPerson> {
  const email = `${randomUUID()}@example.test`;
  const uuid = await createAccount(database.pool, { email, name: "Ann", passwordHash: null }, by());
  const whole = { role: "admin", regions: ["us", "eu"], tenantIds: null, canReveal: false } as const;
  for (const grant of grants) await addGrant(database.pool, email, { ...whole, ...grant }, by());
  return { uuid, id: toPublicId("usr", uuid), email };
}

async function startSession({ uuid }: TestPerson): Promise<void> {
  await database.pool.query(
    `INSERT INTO sluice.console_session (id, user_id, token, expires_at)
     VALUES (gen_random_uuid(), $1, $2, clock_timestamp() + interval '1 hour')`,
    [uuid, randomUUID()],
  );
}

async function sessionsOf({ uuid }: TestPerson): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    "SELECT count(*)::integer AS count FROM sluice.console_session WHERE user_id = $1",
    [uuid],
  );
  return rows[0]?.count ?? -1;
}

async function auditOf(id: string) {
  const { rows } = await database.pool.query(
    "SELECT action, actor, reason, after FROM sluice.operator_action WHERE target_id = $1 ORDER BY at, id",
    [id],
  );
  return rows;
}

const disable = (from: TestPerson, whom: TestPerson) =>
  disablePerson(database.pool, from.email, whom.id, by());
const enable = (from: TestPerson, whom: TestPerson) => enablePerson(database.pool, from.email, whom.id, by());

describe("adding a person", () => {
  const wanted = (part: Partial<NewPerson> = {}): NewPerson => ({
    email: `${randomUUID()}@Example.test`,
    name: "Bob",
    way: "invite",
    passwordHash: null,
    ...part,
  });

  it("an invitation has no password and no grant, and its address joins the identity provider's account", async () => {
    const admin = await person({ regions: ["us"] });
    const invited = wanted();
    const { id } = await addPerson(database.pool, admin.email, invited, by());
    const uuid = fromPublicId("usr", id);
    const { rows } = await database.pool.query(
      `SELECT u.email, u.email_verified, (SELECT count(*)::integer FROM sluice.console_account a WHERE a.user_id = u.id) AS ways
         FROM sluice.console_user u WHERE u.id = $1`,
      [uuid],
    );
    expect(rows).toEqual([{ email: invited.email.toLowerCase(), email_verified: true, ways: 0 }]);
    expect(await readGrants(database.pool, uuid)).toEqual([]);
    expect(await auditOf(id)).toMatchObject([
      {
        action: "account.create",
        actor: "user:test",
        reason: "a test of people",
        after: { email: invited.email.toLowerCase(), way: "invite" },
      },
    ]);
  });

  it("a local account keeps the hash that it was given, which is in no audit row", async () => {
    const admin = await person({});
    const { id } = await addPerson(
      database.pool,
      admin.email,
      wanted({ way: "local", passwordHash: "salt:hash-of-it" }),
      by(),
    );
    const { rows } = await database.pool.query(
      "SELECT provider_id, password FROM sluice.console_account WHERE user_id = $1",
      [fromPublicId("usr", id)],
    );
    expect(rows).toEqual([{ provider_id: "credential", password: "salt:hash-of-it" }]);
    expect(JSON.stringify(await auditOf(id))).not.toContain("hash-of-it");
  });

  it("is for administrators of a whole region, and an address has one person", async () => {
    const ended = await person({});
    await revokeGrants(database.pool, ended.email, { disable: false }, by());
    for (const giver of [
      ended,
      await person({ role: "operator" }),
      await person({ tenantIds: [randomUUID()] }),
    ]) {
      const refused = addPerson(database.pool, giver.email, wanted(), by());
      await expect(refused).rejects.toMatchObject({ code: "forbidden" });
    }
    const admin = await person({});
    const twice = wanted();
    await addPerson(database.pool, admin.email, twice, by());
    const again = addPerson(database.pool, admin.email, { ...twice, email: twice.email.toUpperCase() }, by());
    await expect(again).rejects.toMatchObject({ code: "account_exists" });
  });
});

describe("disabling and enabling", () => {
  it("ends sessions and grants with the next request, and gives the grants back", async () => {
    const [admin, ann] = [await person({}), await person({ role: "support", regions: ["us"] })];
    await startSession(ann);
    await startSession(ann);
    await disable(admin, ann);
    expect(await sessionsOf(ann)).toBe(0);
    expect(await readGrants(database.pool, ann.uuid)).toBeNull();
    await expect(disable(admin, ann)).rejects.toMatchObject({ code: "state_conflict" });
    await enable(admin, ann);
    expect(await readGrants(database.pool, ann.uuid)).toMatchObject([{ role: "support", regions: ["us"] }]);
    await expect(enable(admin, ann)).rejects.toMatchObject({ code: "state_conflict" });
    const changes = (await auditOf(ann.id)).filter(({ action }) => /able$/.test(action));
    expect(changes).toMatchObject([
      { action: "account.disable", after: { sessionsEnded: 2 } },
      { action: "account.enable", after: { grants: 1 } },
    ]);
  });

  it("reaches only people whose every grant the giver administers", async () => {
    const usAdmin = await person({ regions: ["us"] });
    const tenantAdmin = await person({ regions: ["us"], tenantIds: [randomUUID()] });
    const both = await person({ role: "viewer", regions: ["us"] }, { role: "viewer", regions: ["eu"] });
    const euOnly = await person({ role: "viewer", regions: ["eu"] });
    const without = await person();
    await startSession(both);
    await expect(disable(usAdmin, both)).rejects.toMatchObject({ code: "forbidden" });
    await expect(disable(usAdmin, euOnly)).rejects.toMatchObject({ code: "not_found" });
    await expect(disable(tenantAdmin, without)).rejects.toMatchObject({ code: "not_found" });
    await expect(disable(await person({ role: "operator" }), euOnly)).rejects.toMatchObject({
      code: "forbidden",
    });
    expect(await sessionsOf(both)).toBe(1);
    await disable(usAdmin, without);
    expect(await readGrants(database.pool, without.uuid)).toBeNull();
  });

  it("who may not show bodies does not enable somebody who then sees them", async () => {
    const [admin, revealing] = [await person({}), await person({ canReveal: true })];
    const ann = await person({ role: "support", canReveal: true });
    await disable(admin, ann);
    await expect(enable(admin, ann)).rejects.toMatchObject({ code: "forbidden" });
    await enable(revealing, ann);
    expect(await readGrants(database.pool, ann.uuid)).toHaveLength(1);
  });

  it("nobody disables themselves, and of two who disable each other one stays", async () => {
    const [one, two] = [await person({}), await person({})];
    await expect(disable(one, one)).rejects.toMatchObject({ code: "forbidden" });
    const ends = await Promise.allSettled([disable(one, two), disable(two, one)]);
    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(ends.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "forbidden" } });
    const left = await Promise.all([one, two].map(({ uuid }) => readGrants(database.pool, uuid)));
    expect(left.filter((grants) => grants !== null)).toHaveLength(1);
  });
});
