/**
 * `sluice up`: the whole system on this machine with one command, until Ctrl-C.
 * It must leave nothing running when it ends, whether it was asked to or failed half-way.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { RegionUrls } from "#db/config.ts";
import { isSluiceError, SluiceError } from "#domain/errors.ts";
import { REGIONS } from "#domain/region.ts";
import { migrate } from "#prisma/migrate.ts";
import { ensureBuilt } from "#scripts/lib/next-build.ts";
import { childEnvironment, notedUrlsFile, ROOT, readUpConfig, type UpConfig } from "../config.ts";
import { consoleUrlOf, hasOwnConsoleDatabase } from "../console-config.ts";
import { bothUrls, demoEnvironment, startChildren } from "../up/children.ts";
import { type Databases, openDatabases, startEmbedded } from "../up/database.ts";
import { accountLine, type DemoSignIn, ensureDemoAccounts } from "../up/demo-accounts.ts";
import { type Claim, claimClone } from "../up/only-one.ts";
import { requireFreePorts } from "../up/ports.ts";
import { createProgress, formatDuration, type Progress } from "../up/progress.ts";
import { createSupervisor, type Supervisor } from "../up/supervisor.ts";

export const help = `Usage: sluice up [--fresh] [--verbose]

Starts an embedded Postgres with one database per region (or uses DATABASE_URL_US and DATABASE_URL_EU), migrates and
seeds it, builds the console, and runs console, workers, receiver and demo traffic until Ctrl-C. Data stays for next time.

  --fresh     drop the embedded databases first
  --verbose   show every line of the processes, not only warnings

Settings: SLUICE_CONSOLE_PORT, SLUICE_RECEIVER_PORT, SLUICE_POSTGRES_PORT, SLUICE_WORKER_US_HEALTH_PORT,
SLUICE_WORKER_EU_HEALTH_PORT, SLUICE_DATA_DIR.`;

const STEPS = 6;
/** Children of a killed supervisor stop by themselves; a worker may take its 20 s. */
const LEFTOVER_GRACE_MS = 25_000;
/** npm repeats the terminal's Ctrl-C to us within milliseconds: that is one request, not two. */
const SAME_REQUEST_MS = 500;
const EXIT_INTERRUPTED = 130;
const SEED_OUTPUT_KEPT_CHARS = 8_000;

/** Runs until a signal has stopped everything. Returns 0 after an orderly stop. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { fresh: { type: "boolean", default: false }, verbose: { type: "boolean", default: false } },
  });
  const startedAt = performance.now();
  const config = readUpConfig();
  const claim = claimDataDirectory(config.dataDir);
  const supervisor = createSupervisor(say);
  const stopRequested = listenForStop(supervisor);
  try {
    const started = start(config, values, supervisor, claim, stopRequested.signal);
    const signIn = await Promise.race([started, stopRequested.promise]);
    if (!stopRequested.signal.aborted && signIn) {
      announce(config, startedAt - (config.installMs ?? 0), signIn);
      await stopRequested.promise;
    }
    say("stopping: traffic, workers, console, receiver, database");
    await started.catch(() => {});
    return 0;
  } catch (error) {
    console.error(`sluice: ${oneLine(error)}`);
    return 1;
  } finally {
    await supervisor.stop();
    rmSync(notedUrlsFile(config.dataDir), { force: true });
    claim.release();
    stopRequested.close();
    if (stopRequested.signal.aborted) say("stopped; the data stays for next time");
  }
}

/** The steps in order. Stops between two of them when the person no longer wants to start. */
async function start(
  config: UpConfig,
  options: { fresh: boolean; verbose: boolean },
  supervisor: Supervisor,
  claim: Claim,
  signal: AbortSignal,
): Promise<DemoSignIn> {
  const progress = createProgress(2, STEPS, say);
  const { postgres: _postgres, ...ports } = config.ports;
  await requireFreePorts(ports, claim.previousWasKilled ? LEFTOVER_GRACE_MS : 0);
  const databases = await openStep(progress, config, options.fresh, supervisor);
  writeFileSync(notedUrlsFile(config.dataDir), JSON.stringify(databases.urls), { mode: 0o600 });
  signal.throwIfAborted();
  await migrateStep(progress, databases.urls);
  signal.throwIfAborted();
  await progress.step("seed", "writing demo tenants and destinations", async () => {
    await runSeed(databases.urls, config, signal);
    return { value: null, done: "demo tenants and destinations are there" };
  });
  const signIn = await ensureDemoAccounts(consoleUrlOf(databases.urls), config.dataDir);
  await progress.step("build", "building the console, about a minute after a change", async () => {
    const { built } = await ensureBuilt({ root: ROOT, distDir: ".next", signal }).catch((error: unknown) => {
      throw explainBuild(error, config.dataDir);
    });
    return { value: null, done: built ? "console built" : "console is up to date" };
  });
  signal.throwIfAborted();
  await progress.step("processes", "starting console, workers, receiver and traffic", async () => {
    const logDir = path.join(config.dataDir, "logs");
    await startChildren({ config, urls: databases.urls, logDir, showAll: options.verbose, say }, supervisor);
    return { value: null, done: "console, 2 workers, receiver and traffic are up" };
  });
  return signIn;
}

async function openStep(
  progress: Progress,
  config: UpConfig,
  fresh: boolean,
  supervisor: Supervisor,
): Promise<Databases> {
  return progress.step("database", config.givenUrls ? "connecting" : "starting Postgres", async () => {
    const value = await openDatabases(config, fresh);
    const { embedded } = value;
    if (embedded) supervisor.watchDatabase(embedded.server, () => startEmbedded(embedded.settings));
    return { value, done: value.description };
  });
}

async function migrateStep(progress: Progress, urls: RegionUrls): Promise<void> {
  await progress.step("migrate", "applying migrations", async () => {
    let count = 0;
    for (const region of REGIONS) {
      const { applied } = await migrate({ connectionString: urls[region], region, onWarning: say });
      count += applied.length;
    }
    if (hasOwnConsoleDatabase()) {
      const { applied } = await migrate({ connectionString: consoleUrlOf(urls), region: REGIONS[0] });
      count += applied.length;
    }
    return { value: null, done: count === 0 ? "schema is up to date" : `${count} migrations applied` };
  });
}

/** The seed runs as a process of its own, so that its connections end with it. */
function runSeed(urls: RegionUrls, config: UpConfig, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const child = spawn(process.execPath, ["cli/sluice.ts", "seed"], {
      cwd: ROOT,
      env: childEnvironment({ ...bothUrls(urls), ...demoEnvironment(config) }),
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-SEED_OUTPUT_KEPT_CHARS);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the seed failed: ${output.trim().split("\n").at(-1) ?? `exit code ${code}`}`));
    });
  });
}

/** Keeps the build's whole output in a file and names the place where it failed. */
function explainBuild(error: unknown, dataDir: string): Error {
  const lines = String(error instanceof Error ? error.message : error).split("\n");
  const file = path.join(dataDir, "logs", "build.log");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, lines.join("\n"));
  const place = lines.findIndex((line) => line.startsWith("./"));
  const words =
    place >= 0 ? lines.slice(place, place + 2).join(" ") : (lines.find((line) => /error/i.test(line)) ?? "");
  return new Error(`the console could not be built (${words.trim()}); ${file} has the whole output`);
}

function claimDataDirectory(dataDir: string): Claim {
  try {
    mkdirSync(dataDir, { recursive: true });
    return claimClone(dataDir);
  } catch (error) {
    if (isSluiceError(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SluiceError(
      "disk_full",
      `The folder ${dataDir} cannot be written (${reason}): set SLUICE_DATA_DIR to one that can.`,
    );
  }
}

interface StopRequest {
  promise: Promise<void>;
  signal: AbortSignal;
  close(): void;
}

/** The first signal asks for an orderly stop, a second one kills. A vanished parent counts as the first. */
function listenForStop(supervisor: Supervisor): StopRequest {
  const controller = new AbortController();
  const asked = Promise.withResolvers<void>();
  let askedAt = 0;
  const onStop = () => {
    const now = performance.now();
    if (!controller.signal.aborted) {
      askedAt = now;
      controller.abort();
      asked.resolve();
    } else if (now - askedAt > SAME_REQUEST_MS) {
      supervisor.kill();
      process.exit(EXIT_INTERRUPTED);
    }
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onStop);
  process.once("disconnect", onStop);
  return {
    promise: asked.promise,
    signal: controller.signal,
    close: () => {
      for (const signal of signals) process.off(signal, onStop);
      process.off("disconnect", onStop);
    },
  };
}

function announce(config: UpConfig, startedAt: number, signIn: DemoSignIn): void {
  const data = path.relative(ROOT, config.dataDir) || config.dataDir;
  say(`
  Sluice is running, after ${formatDuration(performance.now() - startedAt)}.

    Console    http://127.0.0.1:${config.ports.console}
    Receiver   http://127.0.0.1:${config.ports.receiver}
    Logs       ${data}/logs
    Stop       Ctrl-C (the data stays; "npm start -- --fresh" starts over)
    Sign in    ${signInWords(signIn)}
`);
}

/** The passwords, this once; later where they stand. */
function signInWords({ made, file }: DemoSignIn): string {
  const where = file === null ? null : path.relative(ROOT, file) || file;
  if (made.length === 0) {
    return where === null
      ? 'with your own account ("sluice users --help")'
      : `e-mails and passwords are in ${where}`;
  }
  const lines = made.map((account) => `               ${accountLine(account)}`);
  return `e-mail and password, printed this once (kept in ${where}):\n${lines.join("\n")}`;
}

function oneLine(error: unknown): string {
  if (isSluiceError(error)) return error.detail;
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").filter(Boolean).slice(-1)[0] ?? "failed without a reason";
}

function say(line: string): void {
  console.log(line);
}
