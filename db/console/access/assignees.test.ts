/** Who can be named for a cause of dead letters, on a real server: who may see it, and nobody else. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { listAssignees, MAX_ASSIGNEES, requireAssignee } from "./assignees.ts";
import type { AuditedChange } from "./audit.ts";
import { addGrant, createAccount, type NewGrant, revokeGrants } from "./grants.ts";

let database: TestDatabase;
const TENANT = randomUUID();

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

function by(): AuditedChange {
  return { actor: "user:test", role: "admin", reason: "a test of assignees", correlationId: randomUUID() };
}

async function person(name: string, grant: Partial<NewGrant> | null): Promise<string> {
  const email = `${name}@assignees.test`;
  await createAccount(database.pool, { email, name, passwordHash: null }, by());
  const whole = { role: "support", regions: ["us"], tenantIds: null, canReveal: false } as const;
  if (grant !== null) await addGrant(database.pool, email, { ...whole, ...grant }, by());
  return email;
}

describe("DLQ-4 the assignee of a cause", () => {
  it("is one of those who may see it: region, tenant, living grant, account that is not disabled", async () => {
    const [whole, limited] = [await person("whole", {}), await person("limited", { tenantIds: [TENANT] })];
    const elsewhere = await person("elsewhere", { regions: ["eu"] });
    const other = await person("other", { tenantIds: [randomUUID()] });
    const nothing = await person("nothing", null);
    const [gone, ended] = [await person("gone", {}), await person("ended", {})];
    await revokeGrants(database.pool, gone, { disable: true }, by());
    await database.pool.query(
      `UPDATE sluice.console_grant SET expires_at = clock_timestamp()
        WHERE user_id = (SELECT id FROM sluice.console_user WHERE email = $1)`,
      [ended],
    );
    const emails = async (tenantId: string | null) =>
      (await listAssignees(database.pool, { region: "us", tenantId })).assignees.map(({ email }) => email);
    expect(await emails(TENANT)).toEqual([limited, whole]);
    expect(await emails(null)).toEqual([whole]);

    const ask = (email: string, tenantId: string | null = TENANT) =>
      requireAssignee(database.pool, { region: "us", tenantId }, email);
    await expect(ask(whole)).resolves.toBeUndefined();
    await expect(ask(limited)).resolves.toBeUndefined();
    await expect(ask(limited, null)).rejects.toMatchObject({ code: "invalid_body" });
    const refusals = [];
    for (const email of [elsewhere, other, nothing, gone, ended, "nobody@assignees.test", "Ann"]) {
      refusals.push(await ask(email).catch((error: unknown) => (error as Error).message));
    }
    // One and the same text: nobody learns by asking who has an account.
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toMatch(/assignee must be the e-mail address/);
  });

  it("the list is bounded and says so; who is not on it can still be named", async () => {
    await database.pool.query(
      `WITH people AS (INSERT INTO sluice.console_user (id, name, email, email_verified)
                       SELECT gen_random_uuid(), 'Many', 'many-' || n || '@assignees.test', true
                         FROM generate_series(1, $1::integer) n RETURNING id)
       INSERT INTO sluice.console_grant (id, user_id, role, regions, granted_by)
       SELECT gen_random_uuid(), id, 'viewer', ARRAY['eu'], 'cli:test' FROM people`,
      [MAX_ASSIGNEES + 1],
    );
    const listed = await listAssignees(database.pool, { region: "eu", tenantId: null });
    expect(listed.assignees).toHaveLength(MAX_ASSIGNEES);
    expect(listed.truncated).toBe(true);
    const named = requireAssignee(database.pool, { region: "eu", tenantId: null }, "many-99@assignees.test");
    await expect(named).resolves.toBeUndefined();
  });
});
