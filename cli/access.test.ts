/** `sluice users`, `sluice token` and the demo's accounts: what is printed once, what is stored, what is refused. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { verifyPassword } from "better-auth/crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listAccounts } from "#db/console/access/grants.ts";
import { readServiceToken } from "#db/console/access/service-tokens.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { makePlace } from "#tests/support/queue-rows/sql.ts";
import { ROOT } from "./config.ts";
import { ensureDemoAccounts } from "./up/demo-accounts.ts";

let dataDir: string;
let us: TestDatabase;
let eu: TestDatabase;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), "sluice-access-"));
  [us, eu] = await Promise.all([createTestDatabase(), createTestDatabase({ region: "eu" })]);
});

afterAll(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await Promise.all([us.drop(), eu.drop()]);
});

function sluice(...args: string[]) {
  const result = spawnSync(process.execPath, ["cli/sluice.ts", ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      SLUICE_DATA_DIR: dataDir,
      DATABASE_URL_US: us.connectionString,
      DATABASE_URL_EU: eu.connectionString,
      CONSOLE_DATABASE_URL: "",
    },
    encoding: "utf8",
    timeout: 150_000,
  });
  return { code: result.status, out: result.stdout, errors: result.stderr.trim() };
}

async function passwordHashOf(email: string): Promise<string | null> {
  const { rows } = await us.pool.query<{ password: string | null }>(
    `SELECT a.password FROM sluice.console_account a JOIN sluice.console_user u ON u.id = a.user_id WHERE u.email = $1`,
    [email],
  );
  return rows[0]?.password ?? null;
}

describe("the demo's accounts", () => {
  it("are made once, one for each role, with passwords in a file that only this user can read", async () => {
    const { made, file } = await ensureDemoAccounts(us.connectionString, dataDir);
    expect(made).toHaveLength(5);
    const text = readFileSync(file ?? "", "utf8");
    expect(statSync(file ?? "").mode & 0o777).toBe(0o600);
    for (const { email, password } of made) {
      expect(text).toContain(password);
      const hash = (await passwordHashOf(email)) ?? "";
      expect(hash).not.toContain(password);
      expect(await verifyPassword({ hash, password })).toBe(true);
    }
    const grants = (await listAccounts(us.pool)).map((account) => account.grants);
    expect(
      grants.flatMap((list) => list.map(({ role, regions }) => `${role} ${regions.join()}`)).sort(),
    ).toEqual(["admin us,eu", "operator us", "operator us,eu", "support us,eu", "viewer us,eu"]);
    // A later start makes none and prints none, but says where they stand.
    expect(await ensureDemoAccounts(us.connectionString, dataDir)).toEqual({ made: [], file });
    expect(readFileSync(file ?? "", "utf8")).toBe(text);
  });
});

describe("sluice users", () => {
  it("adds, grants, lists and revokes; a password is printed once and stored hashed", async () => {
    const added = sluice(
      "users",
      "add",
      "Ann@Example.test",
      "--local",
      "--role",
      "support",
      "--region",
      "us",
    );
    expect(added).toMatchObject({ code: 0, errors: "" });
    const password = /this once: (\S{20})/.exec(added.out)?.[1] ?? "";
    expect(await verifyPassword({ hash: (await passwordHashOf("ann@example.test")) ?? "", password })).toBe(
      true,
    );
    expect(sluice("users", "grant", "ann@example.test", "--role", "operator", "--reveal").code).toBe(0);
    const list = sluice("users", "list").out;
    expect(list).toContain("ann@example.test  support in us; operator in us and eu, may see bodies");
    expect(list).not.toContain(password);
    expect(sluice("users", "revoke", "ann@example.test", "--disable").out).toContain("2 grants taken away");
    expect(sluice("users", "list").out).toContain("ann@example.test  disabled");
  });

  it("narrows a grant to tenants by name, and refuses a name that no region knows", async () => {
    const { tenantId, slug } = await namedTenant();
    expect(sluice("users", "add", "tess@example.test").code).toBe(0);
    const wrong = sluice("users", "grant", "tess@example.test", "--role", "viewer", "--tenant", "nope");
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(sluice("users", "grant", "tess@example.test", "--role", "viewer", "--tenant", slug).code).toBe(0);
    const tess = (await listAccounts(us.pool)).find(({ email }) => email === "tess@example.test");
    expect(tess?.grants).toMatchObject([{ tenantIds: [tenantId] }]);
    expect(await passwordHashOf("tess@example.test")).toBeNull();
  });

  it.each([
    [["users"], 2],
    [["users", "add", "nonsense"], 2],
    [["users", "grant", "ann@example.test", "--role", "root"], 2],
    [["users", "grant", "ann@example.test", "--role", "viewer", "--reveal"], 2],
    [["users", "grant", "ann@example.test", "--role", "viewer", "--region", "asia"], 2],
    [["users", "grant", "ann@example.test", "--role", "viewer", "--reason", "short"], 2],
    [["users", "grant", "stranger@example.test", "--role", "viewer"], 1],
    [["token", "create"], 2],
    [["token", "create", "Bad Name"], 2],
    [["token", "create", "x", "--scope", "everything"], 2],
    [["token", "create", "x", "--days", "4000"], 2],
    [["token", "revoke", "no-such-token"], 1],
  ])("answers %j with one line and exit code %i", (args, code) => {
    const result = sluice(...args);
    expect(result).toMatchObject({ code, out: "" });
    expect(result.errors.split("\n")).toHaveLength(1);
  });
});

describe("sluice token", () => {
  it("prints the token alone on standard output, this once, and ends it at once", async () => {
    const made = sluice(
      "token",
      "create",
      "deploy",
      "--role",
      "operator",
      "--scope",
      "read,pause",
      "--region",
      "eu",
    );
    expect(made.code).toBe(0);
    const token = made.out.trim();
    expect((await readServiceToken(us.pool, token))?.grant).toMatchObject({
      role: "operator",
      regions: ["eu"],
      actions: ["read", "pause"],
    });
    const list = sluice("token", "list").out;
    expect(list).toContain("deploy  operator in eu  read,pause");
    expect(list).not.toContain(token);
    expect(sluice("token", "revoke", "deploy").code).toBe(0);
    expect(await readServiceToken(us.pool, token)).toBeNull();
  });
});

async function namedTenant(): Promise<{ tenantId: string; slug: string }> {
  const { tenantId } = await makePlace(us.pool);
  const { rows } = await us.pool.query<{ slug: string }>("SELECT slug FROM sluice.tenant WHERE id = $1", [
    tenantId,
  ]);
  return { tenantId, slug: rows[0]?.slug ?? "" };
}
