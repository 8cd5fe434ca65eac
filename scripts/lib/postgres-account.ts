/**
 * Who runs Postgres. Postgres refuses root, so root hands it to an account without rights; everybody else runs it
 * themselves. Also finds a place that this account can reach when the clone lies in a closed directory.
 * It never changes the rights of anything outside the directories that it made.
 */
import { createHash } from "node:crypto";
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** The account for the server's processes; `null` means the current one. */
export type Account = { uid: number; gid: number; name: string } | null;

const CANDIDATES = ["postgres", "nobody"] as const;
const EXECUTE_OTHER = 0o001;
const EXECUTE_GROUP = 0o010;
const EXECUTE_OWNER = 0o100;

/**
 * The account that Postgres must run as.
 * @throws Error when this is root and the machine has neither a `postgres` nor a `nobody` account.
 */
export function postgresAccount(): Account {
  if (process.getuid?.() !== 0) return null;
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of CANDIDATES) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(":");
    const [uid, gid] = [Number(fields?.[2]), Number(fields?.[3])];
    if (fields && Number.isInteger(uid) && Number.isInteger(gid) && uid !== 0) return { uid, gid, name };
  }
  throw new Error(
    'Postgres does not run as root, and there is no "postgres" or "nobody" account to run it as.',
  );
}

/** True when the account may pass through every directory on the way to `target`. */
export function canReach(account: Account, target: string): boolean {
  if (account === null) return true;
  let directory = path.resolve(target);
  for (;;) {
    if (existsSync(directory)) {
      const stats = statSync(directory);
      if (stats.isDirectory() && !mayPass(account, stats)) return false;
    }
    const parent = path.dirname(directory);
    if (parent === directory) return true;
    directory = parent;
  }
}

/** Makes a directory of mode 700 that belongs to the account. Its parents stay as they are. */
export function makePrivateDirectory(account: Account, directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account) chownSync(directory, account.uid, account.gid);
}

/**
 * A directory for a clone whose own path the account cannot reach: `/var/tmp/sluice-<hash of the clone's path>`.
 * @throws Error when somebody else made a directory of that name.
 */
export function outsideDirectory(clone: string): string {
  const directory = path.join(
    "/var/tmp",
    `sluice-${createHash("sha256").update(clone).digest("hex").slice(0, 12)}`,
  );
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const stats = lstatSync(directory);
  if (!stats.isDirectory() || stats.uid !== process.getuid?.()) {
    throw new Error(
      `${directory} belongs to somebody else: remove it, or move the clone out of a closed directory.`,
    );
  }
  return directory;
}

/**
 * The server's programs where the account can run them: `nativeDir` itself, or a copy below `outside`.
 * @returns a directory with bin, lib and share.
 */
export function reachablePrograms(account: Account, nativeDir: string, outside: () => string): string {
  if (canReach(account, nativeDir)) return nativeDir;
  const copy = path.join(outside(), `programs-${fingerprint(nativeDir)}`);
  const done = path.join(copy, ".complete");
  if (!existsSync(done)) {
    cpSync(nativeDir, copy, { recursive: true, verbatimSymlinks: true, force: true });
    mkdirSync(done);
  }
  return copy;
}

function fingerprint(nativeDir: string): string {
  const manifest = readFileSync(path.join(nativeDir, "..", "package.json"));
  return createHash("sha256").update(manifest).digest("hex").slice(0, 12);
}

function mayPass(account: NonNullable<Account>, stats: { uid: number; gid: number; mode: number }): boolean {
  if (stats.uid === account.uid) return (stats.mode & EXECUTE_OWNER) !== 0;
  if (stats.gid === account.gid) return (stats.mode & EXECUTE_GROUP) !== 0;
  return (stats.mode & EXECUTE_OTHER) !== 0;
}
