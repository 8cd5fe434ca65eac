/**
 * Applies the SQL migrations to one region's database, with Prisma's own bookkeeping (table, checksums and advisory
 * lock), so that `prisma migrate deploy` stays usable where its engine can be downloaded.
 * It must never apply half a file, run an edited file, or give a database a second region.
 */
import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { databaseName, hasCode, storeDatabaseRegion, withClient } from "#db/admin.ts";
import { SluiceError } from "#domain/errors.ts";
import { parseRegion } from "#domain/region.ts";
import { checksumOf, MIGRATIONS_DIR, type MigrationFile, readMigrationFiles } from "./migration-files.ts";

export interface MigrateOptions {
  connectionString: string;
  /** "us" or "eu"; becomes the database's own region, for good. */
  region: string;
  /** Default: the project's own migrations. */
  migrationsDir?: string;
  /** Hears what does not stop the run, such as a database that is newer than the files. */
  onWarning?: (message: string) => void;
}

export interface MigrateResult {
  /** Names of the migrations that this run applied, oldest first. */
  applied: string[];
}

interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
  logs: string | null;
}

/** The key that Prisma's own engine locks, in the one-bigint form, so that the two never run together. */
const MIGRATION_LOCK_KEY = 72_707_369;
/** Longest wait for another runner. */
const RUNNER_LOCK_TIMEOUT_MS = 120_000;
/** Longest wait of one statement for a table lock: behind it every other query of that table would queue. */
const TABLE_LOCK_TIMEOUT_MS = 15_000;
const INSUFFICIENT_PRIVILEGE = "42501";

const BOOKKEEPING = `
  CREATE TABLE IF NOT EXISTS sluice._prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/**
 * Brings the database to the newest migration, one transaction per file. Two runs at once both succeed: the second
 * waits and finds nothing to do.
 * @throws SluiceError `bad_region`, `region_mismatch` (the database has another region), `migration_edited` (an applied
 *   file was changed or is gone), `migration_failed` (now or earlier; nothing of a file that fails now stays).
 */
export async function migrate(options: MigrateOptions): Promise<MigrateResult> {
  const region = parseRegion(options.region);
  const warn = options.onWarning ?? (() => {});
  const files = await readMigrationFiles(options.migrationsDir ?? MIGRATIONS_DIR);
  return withClient(
    options.connectionString,
    async (client) => {
      await lockOutOtherRunners(client);
      await claimRegion(client, databaseName(options.connectionString), region, warn);
      await client.query(BOOKKEEPING);
      const pending = pendingFiles(files, await readApplied(client), warn);
      for (const file of pending) await applyFile(client, file);
      return { applied: pending.map((file) => file.name) };
    },
    "sluice-migrate",
  );
}

/** The lock belongs to the session and falls with it, also when this process is killed. */
async function lockOutOtherRunners(client: Client): Promise<void> {
  await client.query(`SET lock_timeout = ${RUNNER_LOCK_TIMEOUT_MS}`);
  await client.query("SELECT pg_advisory_lock($1::bigint)", [MIGRATION_LOCK_KEY]);
  await client.query(`SET lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
}

/** Gives a new database its region, or refuses one that has another. Makes the schema too. */
async function claimRegion(
  client: Client,
  database: string,
  region: string,
  warn: (message: string) => void,
): Promise<void> {
  const known = await readKnownRegion(client);
  if (known !== null && known !== region) {
    throw new SluiceError(
      "region_mismatch",
      `Database ${database} belongs to region ${known} and cannot become ${region}: check the database URL.`,
      { expected: region, actual: known },
    );
  }
  await client.query("CREATE SCHEMA IF NOT EXISTS sluice");
  await client.query("SET search_path = sluice, public");
  await client.query("SELECT set_config('sluice.region', $1, false)", [region]);
  try {
    await storeDatabaseRegion(client, database, region);
  } catch (error) {
    if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
    // Our own session carries the region, so the files work; only Prisma's own runner would miss it.
    warn(
      `This role may not store sluice.region on database ${database}; "prisma migrate deploy" will not work there.`,
    );
  }
}

/** The region that the database carries: in its one control row, else as its setting. */
async function readKnownRegion(client: Client): Promise<string | null> {
  const control = await client.query<{ found: boolean }>(
    "SELECT to_regclass('sluice.region_control') IS NOT NULL AS found",
  );
  if (control.rows[0]?.found) {
    const row = await client.query<{ region: string }>("SELECT region FROM sluice.region_control");
    if (row.rows[0]) return row.rows[0].region;
  }
  const setting = await client.query<{ region: string | null }>(
    "SELECT nullif(current_setting('sluice.region', true), '') AS region",
  );
  return setting.rows[0]?.region ?? null;
}

async function readApplied(client: Client): Promise<AppliedMigration[]> {
  const result = await client.query<AppliedMigration>(
    `SELECT migration_name, checksum, finished_at, logs FROM sluice._prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return result.rows;
}

/** Compares the files with what the database has. */
function pendingFiles(
  files: MigrationFile[],
  applied: AppliedMigration[],
  warn: (message: string) => void,
): MigrationFile[] {
  const filesByName = new Map(files.map((file) => [file.name, file]));
  const newestFile = files.at(-1)?.name ?? "";
  for (const row of applied) {
    if (row.finished_at === null) {
      throw new SluiceError(
        "migration_failed",
        `Migration ${row.migration_name} failed here earlier${row.logs ? ` (${firstLine(row.logs)})` : ""}. ` +
          "Repair the database, then set rolled_back_at on its row in sluice._prisma_migrations.",
      );
    }
    const file = filesByName.get(row.migration_name);
    if (file !== undefined) refuseEdited(file, row.checksum);
    else if (row.migration_name > newestFile) {
      warn(`The database already has ${row.migration_name}, which is newer than this version's migrations.`);
    } else {
      throw new SluiceError(
        "migration_edited",
        `The database has migration ${row.migration_name}, but its file is missing here: restore the file.`,
      );
    }
  }
  const names = new Set(applied.map((row) => row.migration_name));
  return files.filter((file) => !names.has(file.name));
}

function refuseEdited(file: MigrationFile, storedChecksum: string): void {
  // A checkout with CRLF line ends is the same migration.
  if (storedChecksum === file.checksum || storedChecksum === checksumOf(file.sql.replaceAll("\r\n", "\n")))
    return;
  throw new SluiceError(
    "migration_edited",
    `Migration ${file.name} was edited after it had been applied. Restore the file and write a new migration.`,
  );
}

/** Runs one file and its bookkeeping row in one transaction. */
async function applyFile(client: Client, file: MigrationFile): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SAVEPOINT whole_file");
    await client.query(file.sql);
    // Fails when the file ended our transaction itself, which would leave it half applied after an error.
    await client.query("RELEASE SAVEPOINT whole_file");
    await client.query(
      `INSERT INTO sluice._prisma_migrations
         (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), file.checksum, file.name],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new SluiceError(
      "migration_failed",
      `Migration ${file.name}: ${reason}`,
      { migration: file.name },
      { cause: error },
    );
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
