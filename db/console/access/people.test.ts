/** Grants as administrators give and take them, on a real server: nothing reaches further than the giver's own. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toPublicId } from "#domain/ids.ts";
import { type AccessScope, EVERYWHERE, scopeOf } from "#domain/permissions.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import type { AuditedChange } from "./audit.ts";
import { addGrant, createAccount, type NewGrant, readGrants, revokeGrants } from "./grants.ts";
import {
  givePersonGrant,
  listPeople,
  MAX_GRANTS_PER_PERSON,
  type NewPersonGrant,
  takePersonGrant,
} from "./people.ts";

let database: TestDatabase;
const NOW_MS = Date.now();
const DAY_MS = 86_400_000;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function by(): AuditedChange {
  return { actor: "user:test", role: "admin", reason: "a test of grants", correlationId: randomUUID() };
}

interface TestPerson {
  uuid: string;
  id: string;
  email: string;
}

async function newPerson(grant: Partial<NewGrant> | null = null): Promise<TestPerson> {
  const email = `${randomUUID()}@example.test`;
  const uuid = await createAccount(database.pool, { email, name: "Ann", passwordHash: null }, by());
  if (grant !== null) {
    const whole = { role: "admin", regions: ["us", "eu"], tenantIds: null, canReveal: false } as const;
    await addGrant(database.pool, email, { ...whole, ...grant }, by());
  }
  return { uuid, id: toPublicId("usr", uuid), email };
}

async function giverOf({ uuid, email }: TestPerson): Promise<{ email: string; scope: AccessScope }> {
  return { email, scope: scopeOf((await readGrants(database.pool, uuid)) ?? [], "access") };
}

async function give(from: TestPerson, to: TestPerson, part: Partial<NewPersonGrant> = {}, change = by()) {
  const grant = {
    role: "support",
    regions: ["us"],
    tenantIds: null,
    canReveal: false,
    days: null,
    ...part,
  } as const;
  return givePersonGrant(database.pool, await giverOf(from), to.id, grant, change, NOW_MS);
}

describe("giving", () => {
  it("a grant counts at once and is in the audit of its own transaction", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson()];
    const change = by();
    const { id, expiresAt } = await give(admin, ann, { days: 7 }, change);
    expect(Date.parse(expiresAt ?? "")).toBe(NOW_MS + 7 * DAY_MS);
    expect(await readGrants(database.pool, ann.uuid)).toMatchObject([{ role: "support", regions: ["us"] }]);
    const { rows } = await database.pool.query(
      "SELECT action, target_id, reason, after ->> 'grant' AS grant FROM sluice.operator_action WHERE correlation_id = $1",
      [change.correlationId],
    );
    expect(rows).toEqual([{ action: "grant.add", target_id: ann.id, reason: "a test of grants", grant: id }]);
  });

  it("reaches no further than the giver's own, and leaves nothing behind when it is refused", async () => {
    const tenant = randomUUID();
    const ann = await newPerson();
    const usAdmin = await newPerson({ regions: ["us"] });
    const tenantAdmin = await newPerson({ regions: ["us"], tenantIds: [tenant] });
    const operator = await newPerson({ role: "operator" });
    for (const [giver, grant] of [
      [usAdmin, { regions: ["eu"] }],
      [usAdmin, { regions: ["us", "eu"] }],
      [usAdmin, { canReveal: true }],
      [tenantAdmin, {}],
      [tenantAdmin, { tenantIds: [randomUUID()] }],
      [operator, {}],
    ] as const) {
      await expect(give(giver, ann, grant)).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await readGrants(database.pool, ann.uuid)).toEqual([]);
    await give(tenantAdmin, ann, { tenantIds: [tenant] });
    expect(await readGrants(database.pool, ann.uuid)).toMatchObject([{ tenantIds: [tenant] }]);
  });

  it("ends no later than the giver's own grant", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson()];
    await database.pool.query(
      "UPDATE sluice.console_grant SET expires_at = clock_timestamp() + interval '3 days' WHERE user_id = $1",
      [admin.uuid],
    );
    const endless = await give(admin, ann);
    const long = await give(admin, ann, { days: 30 });
    const short = await give(admin, ann, { days: 1 });
    for (const { expiresAt } of [endless, long]) {
      expect(Math.abs(Date.parse(expiresAt ?? "") - NOW_MS - 3 * DAY_MS)).toBeLessThan(10 * 60_000);
    }
    expect(Date.parse(short.expiresAt ?? "")).toBe(NOW_MS + DAY_MS);
  });

  it("a grant that was taken a moment ago gives nothing, whatever the request began with", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson()];
    const giver = await giverOf(admin);
    await revokeGrants(database.pool, admin.email, { disable: false }, by());
    const grant = { role: "viewer", regions: ["us"], tenantIds: null, canReveal: false, days: null } as const;
    const late = givePersonGrant(database.pool, giver, ann.id, grant, by(), NOW_MS);
    await expect(late).rejects.toMatchObject({ code: "forbidden" });
  });

  it("a person has at most 50 living grants", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson()];
    await database.pool.query(
      `INSERT INTO sluice.console_grant (id, user_id, role, regions, granted_by)
       SELECT gen_random_uuid(), $1, 'viewer', ARRAY['us'], 'cli:test' FROM generate_series(1, $2::integer)`,
      [ann.uuid, MAX_GRANTS_PER_PERSON],
    );
    await expect(give(admin, ann)).rejects.toMatchObject({ code: "state_conflict" });
  });

  it("nobody who does not exist is given anything", async () => {
    const admin = await newPerson({});
    const nobody = { uuid: randomUUID(), id: toPublicId("usr", randomUUID()), email: "x" };
    await expect(give(admin, nobody)).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("taking", () => {
  const take = async (from: TestPerson, person: TestPerson, grantId: string) =>
    takePersonGrant(database.pool, await giverOf(from), person.id, grantId, by());

  it("takes that one grant and leaves the others", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson({ role: "viewer" })];
    const { id } = await give(admin, ann);
    await take(admin, ann, id);
    expect(await readGrants(database.pool, ann.uuid)).toMatchObject([{ role: "viewer" }]);
    await expect(take(admin, ann, id)).rejects.toMatchObject({ code: "not_found" });
  });

  it("a grant that reaches further does not exist for the taker, and somebody else's id does not help", async () => {
    const [admin, usAdmin, ann] = [
      await newPerson({}),
      await newPerson({ regions: ["us"] }),
      await newPerson(),
    ];
    const { id } = await give(admin, ann, { regions: ["us", "eu"] });
    await expect(take(usAdmin, ann, id)).rejects.toMatchObject({ code: "not_found" });
    await expect(take(admin, usAdmin, id)).rejects.toMatchObject({ code: "not_found" });
    expect(await readGrants(database.pool, ann.uuid)).toHaveLength(1);
  });

  it("nobody takes their own, so that one administrator always stays", async () => {
    const admin = await newPerson({});
    const [own] = (await listPeople(database.pool, EVERYWHERE)).people.filter(({ id }) => id === admin.id);
    await expect(take(admin, admin, own?.grants[0]?.id ?? "")).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("the list", () => {
  it("shows grants in scope, and of the others not even that there are some", async () => {
    const admin = await newPerson({});
    const [both, euOnly, none] = [
      await newPerson(),
      await newPerson({ role: "viewer", regions: ["eu"] }),
      await newPerson(),
    ];
    await give(admin, both, { regions: ["us"] });
    await give(admin, both, { regions: ["eu"] });
    const listed = async (scope: AccessScope) => {
      const { people } = await listPeople(database.pool, scope);
      return [both, euOnly, none].map(({ id }) => people.find((person) => person.id === id)?.grants.length);
    };
    expect(await listed(EVERYWHERE)).toEqual([2, 1, 0]);
    expect(await listed({ us: null })).toEqual([1, undefined, 0]);
    expect(await listed({ us: [randomUUID()] })).toEqual([undefined, undefined, undefined]);
  });

  it("a grant that has ended is not among them", async () => {
    const [admin, ann] = [await newPerson({}), await newPerson()];
    await give(admin, ann);
    await database.pool.query(
      "UPDATE sluice.console_grant SET expires_at = clock_timestamp() WHERE user_id = $1",
      [ann.uuid],
    );
    const { people } = await listPeople(database.pool, EVERYWHERE);
    expect(people.find(({ id }) => id === ann.id)?.grants).toEqual([]);
  });
});
