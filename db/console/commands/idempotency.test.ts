/** An Idempotency-Key: one effect, one answer, whatever a client repeats, and whoever dies in between. On a real server. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contextOf, destinationId, REASON, readAudit, tenantId } from "#tests/support/command-rows/sql.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makeDestination, makeTenant, TEST_KEYRING } from "#tests/support/factories.ts";
import { pauseTenant } from "./pause-tenant.ts";
import { rotateSecret } from "./rotate-secret.ts";
import type { CommandContext } from "./run-command.ts";
import { setTenantLimits } from "./set-tenant-limits.ts";

let database: TestDatabase;
let id: string;
let uuid: string;
let keys = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  uuid = await makeTenant(database.pool);
  id = tenantId(uuid);
});
afterAll(() => database.drop());

function withKey(key: string, request: string, changes: Partial<CommandContext> = {}): CommandContext {
  const requestSha256 = createHash("sha256").update(request).digest();
  return contextOf(database, { idempotency: { key, requestSha256 }, ...changes });
}

function limit(context: CommandContext, version = 1, concurrencyLimit = 7) {
  return setTenantLimits(context, { tenantId: id, version, reason: REASON, concurrencyLimit });
}

async function stands(): Promise<{ version: number; limit: number | null }> {
  const { rows } = await database.pool.query<{ version: number; limit: number | null }>(
    "SELECT version, concurrency_limit AS limit FROM sluice.tenant WHERE id = $1",
    [uuid],
  );
  if (rows[0] === undefined) throw new Error("The tenant is gone.");
  return rows[0];
}

describe("the same key with the same request", () => {
  it("is done once and answered twice with the same answer, which says that it is a repeat", async () => {
    const key = `k-${++keys}`;
    const first = await limit(withKey(key, "a"));
    const again = await limit(withKey(key, "a"));
    expect(first.replayed).toBeUndefined();
    expect(again).toEqual({ ...first, replayed: true });
    expect(await stands()).toEqual({ version: 2, limit: 7 });
    expect(await readAudit(database, id)).toHaveLength(1);
  });

  it("twelve at once have one effect and one audit row", async () => {
    const key = `k-${++keys}`;
    const answers = await Promise.all(Array.from({ length: 12 }, () => limit(withKey(key, "a"))));
    expect(new Set(answers.map(({ auditId }) => auditId)).size).toBe(1);
    expect(answers.filter(({ replayed }) => replayed === undefined)).toHaveLength(1);
    expect(answers.every(({ applied }) => applied)).toBe(true);
    expect(await stands()).toEqual({ version: 2, limit: 7 });
    expect(await readAudit(database, id)).toHaveLength(1);
  });

  it("is told that it is still going on while the first one's transaction is open, and gets its answer after that", async () => {
    const key = `k-${++keys}`;
    const first = await database.pool.connect();
    try {
      await first.query("BEGIN");
      await first.query(
        `INSERT INTO sluice.api_idempotency (idempotency_key, actor, region, request_sha256) VALUES ($1, 'user:ann', 'us', sha256('a'))`,
        [key],
      );
      await expect(limit(withKey(key, "a"))).rejects.toMatchObject({
        code: "request_in_progress",
        status: 409,
        data: { retryAfterMs: expect.any(Number) },
      });
      // The first one dies: nothing of it stays, and the repeat is the one that does it.
      await first.query("ROLLBACK");
    } finally {
      first.release();
    }
    const answer = await limit(withKey(key, "a"));
    expect(answer.replayed).toBeUndefined();
    expect(await stands()).toEqual({ version: 2, limit: 7 });
  });

  it("that was refused is judged anew: a refusal has no effect to repeat", async () => {
    const key = `k-${++keys}`;
    await expect(limit(withKey(key, "a"), 9)).rejects.toMatchObject({ code: "version_conflict" });
    expect((await limit(withKey(key, "b"), 1)).replayed).toBeUndefined();
  });

  it("never repeats a secret", async () => {
    const destination = destinationId(await makeDestination(database.pool, uuid));
    const key = `k-${++keys}`;
    const rotate = () =>
      rotateSecret(
        { ...withKey(key, "rotate"), keyring: TEST_KEYRING },
        { destinationId: destination, version: 1, reason: REASON },
      );
    const first = await rotate();
    const again = await rotate();
    expect(first.secret).toMatch(/^whsec_/);
    expect(again).toMatchObject({ secret: null, previousUntil: first.previousUntil });
    expect(first.previousUntil).not.toBeNull();
    const { rows } = await database.pool.query<{ text: string }>(
      "SELECT answer::text AS text FROM sluice.api_idempotency WHERE idempotency_key = $1",
      [key],
    );
    expect(rows[0]?.text).toContain("aud_");
    expect(rows[0]?.text).not.toContain(String(first.secret));
  });
});

describe("the same key", () => {
  it("with another request is refused and changes nothing", async () => {
    const key = `k-${++keys}`;
    await limit(withKey(key, "a"));
    await expect(limit(withKey(key, "b"), 2, 9)).rejects.toMatchObject({
      code: "idempotency_mismatch",
      status: 422,
    });
    expect(await stands()).toEqual({ version: 2, limit: 7 });
  });

  it("of another person is another key", async () => {
    const key = `k-${++keys}`;
    await limit(withKey(key, "a"));
    const other = await limit(withKey(key, "a", { actor: "user:bob" }), 2, 9);
    expect(other.replayed).toBeUndefined();
    expect(await stands()).toEqual({ version: 3, limit: 9 });
  });
});

it("a denied attempt is filed under the row's tenant", async () => {
  const command = { tenantId: id, version: 1, reason: REASON, end: { forMs: 8 * 3_600_000 } };
  const context = contextOf(database, { role: "support", tenantId: uuid });
  await expect(pauseTenant(context, command)).rejects.toMatchObject({ code: "forbidden" });
  expect(await readAudit(database, id)).toEqual([
    expect.objectContaining({ result: "denied", tenant_id: uuid, action: "tenant.pause" }),
  ]);
});
