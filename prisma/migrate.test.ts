/** Promises of the migration runner, on a real server. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from "#tests/support/database.ts";
import { migrate } from "./migrate.ts";
import { checksumOf } from "./migration-files.ts";

const FIRST = "20260101000000_first";
const SECOND = "20260102000000_second";
const REGION_SQL = `
  CREATE TABLE sluice.region_control (region text NOT NULL);
  DO $$ BEGIN
    EXECUTE format('ALTER TABLE sluice.region_control ADD CHECK (region = %L)', current_setting('sluice.region'));
    INSERT INTO sluice.region_control VALUES (current_setting('sluice.region'));
  END $$;`;

let directory: string;
let database: TestDatabase;
const opened: TestDatabase[] = [];

async function writeMigration(name: string, sql: string): Promise<void> {
  await mkdir(path.join(directory, name), { recursive: true });
  await writeFile(path.join(directory, name, "migration.sql"), sql);
}

function run(region = "us", warnings: string[] = []) {
  return migrate({
    connectionString: database.connectionString,
    region,
    migrationsDir: directory,
    onWarning: (message) => warnings.push(message),
  });
}

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "sluice-migrations-"));
  database = await createEmptyDatabase();
  opened.push(database);
  await writeMigration(FIRST, REGION_SQL);
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

afterAll(async () => {
  for (const each of opened) await each.drop();
});

describe("migrate", () => {
  it("applies each file once and keeps Prisma's bookkeeping", async () => {
    expect(await run()).toEqual({ applied: [FIRST] });
    await writeMigration(SECOND, "CREATE TABLE sluice.second (id int);");
    expect(await run()).toEqual({ applied: [SECOND] });
    expect(await run()).toEqual({ applied: [] });
    const { rows } = await database.pool.query(
      `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished, applied_steps_count, rolled_back_at
       FROM sluice._prisma_migrations ORDER BY migration_name`,
    );
    expect(rows).toEqual([
      expect.objectContaining({ migration_name: FIRST, checksum: checksumOf(REGION_SQL), finished: true }),
      expect.objectContaining({ migration_name: SECOND, applied_steps_count: 1, rolled_back_at: null }),
    ]);
  });

  it("REG-1 the same file gives each database its own literal region", async () => {
    await run("EU");
    const { rows } = await database.pool.query("SELECT region FROM sluice.region_control");
    expect(rows).toEqual([{ region: "eu" }]);
    const insert = database.pool.query("INSERT INTO sluice.region_control VALUES ('us')");
    await expect(insert).rejects.toMatchObject({ code: "23514" });
  });

  it("REG-2 refuses to give a database a second region", async () => {
    await run("us");
    await expect(run("eu")).rejects.toMatchObject({
      code: "region_mismatch",
      data: { expected: "eu", actual: "us" },
    });
  });

  it("REG-2 keeps the region of a database whose first migration failed", async () => {
    await writeMigration(FIRST, "SELECT broken;");
    await expect(run("us")).rejects.toMatchObject({ code: "migration_failed" });
    await expect(run("eu")).rejects.toMatchObject({ code: "region_mismatch" });
  });

  it("refuses an unknown region before it connects", async () => {
    await expect(run("asia")).rejects.toMatchObject({ code: "bad_region" });
  });

  it("leaves nothing of a file that fails, and goes on after the repair", async () => {
    await run();
    await writeMigration(SECOND, "CREATE TABLE sluice.half (id int); SELECT 1/0;");
    await expect(run()).rejects.toThrow(/20260102000000_second: division by zero/);
    const { rows } = await database.pool.query("SELECT to_regclass('sluice.half') AS half");
    expect(rows).toEqual([{ half: null }]);
    await writeMigration(SECOND, "CREATE TABLE sluice.half (id int);");
    expect(await run()).toEqual({ applied: [SECOND] });
  });

  it("refuses a file that ends the transaction itself", async () => {
    await writeMigration(SECOND, "CREATE TABLE sluice.half (id int); COMMIT; SELECT 1;");
    await expect(run()).rejects.toMatchObject({ code: "migration_failed", data: { migration: SECOND } });
  });

  it("refuses an edited and a missing applied migration", async () => {
    await run();
    await writeMigration(FIRST, `${REGION_SQL}\n-- one more line`);
    await expect(run()).rejects.toMatchObject({ code: "migration_edited" });
    await rm(path.join(directory, FIRST), { recursive: true });
    await writeMigration(SECOND, "SELECT 1;");
    await expect(run()).rejects.toMatchObject({ code: "migration_edited" });
  });

  it("takes a checkout with other line ends as the same migration", async () => {
    await run();
    await writeMigration(FIRST, REGION_SQL.replaceAll("\n", "\r\n"));
    expect(await run()).toEqual({ applied: [] });
  });

  it("refuses to go past a migration that failed earlier in Prisma's own runner", async () => {
    await run();
    await database.pool.query(
      "UPDATE sluice._prisma_migrations SET finished_at = NULL, logs = 'syntax error'",
    );
    await expect(run()).rejects.toThrow(/20260101000000_first failed here earlier \(syntax error\)/);
  });

  it("CTL-3 an older version runs on a newer schema, with a warning", async () => {
    await writeMigration(SECOND, "SELECT 1;");
    await run();
    await rm(path.join(directory, SECOND), { recursive: true });
    const warnings: string[] = [];
    expect(await run("us", warnings)).toEqual({ applied: [] });
    expect(warnings).toEqual([expect.stringContaining(SECOND)]);
  });

  it("lets two runners start at once: each file is applied once and both succeed", async () => {
    await writeMigration(SECOND, "CREATE TABLE sluice.slow (id int); SELECT pg_sleep(0.2);");
    const [one, two] = await Promise.all([run(), run()]);
    expect([...one.applied, ...two.applied].sort()).toEqual([FIRST, SECOND]);
  });
});

describe("the project's own migrations", () => {
  it("REG-1 mark a cloned database with its region", async () => {
    const eu = await createTestDatabase({ region: "eu" });
    opened.push(eu);
    const { rows } = await eu.pool.query(
      "SELECT current_setting('sluice.region') AS setting, (SELECT region FROM sluice.region_control) AS region",
    );
    expect(rows).toEqual([{ setting: "eu", region: "eu" }]);
  });
});
