/**
 * Reads the migration folders: `<stamp>_<name>/migration.sql`, in order of name, with Prisma's checksum.
 * It only reads files; running them is migrate.ts.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

export interface MigrationFile {
  /** Folder name, which is also the name in Prisma's bookkeeping. */
  name: string;
  sql: string;
  /** SHA-256 of the file's bytes as lower-case hex, as Prisma stores it. */
  checksum: string;
}

/** The project's own migrations. */
export const MIGRATIONS_DIR = fileURLToPath(new URL("./migrations", import.meta.url));

const FOLDER_NAME = /^\d{14}_[a-z0-9_]+$/;

/** SHA-256 of a text as lower-case hex. */
export function checksumOf(sql: string): string {
  return createHash("sha256").update(sql, "utf8").digest("hex");
}

/**
 * Reads all migrations below `directory`, oldest first.
 * @throws Error when a folder is misnamed or has no migration.sql, or when there is none at all.
 */
export async function readMigrationFiles(directory: string): Promise<MigrationFile[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  if (names.length === 0) throw new Error(`No migrations in ${directory}.`);
  const files: MigrationFile[] = [];
  for (const name of names) {
    if (!FOLDER_NAME.test(name)) {
      throw new Error(`Migration folder "${name}" must be named <14-digit stamp>_<lower_case_name>.`);
    }
    const sql = await readFile(path.join(directory, name, "migration.sql"), "utf8");
    files.push({ name, sql, checksum: checksumOf(sql) });
  }
  return files;
}
