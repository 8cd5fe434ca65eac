/**
 * Worker processes for tests whose promise is about processes: the command line as people start it, its output kept.
 * Whoever spawns one must end it: `endWorkers` in afterEach or afterAll.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Region } from "#domain/region.ts";
import { TEST_SECRET_KEYS } from "./factories.ts";
import { waitFor } from "./wait-for.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY_TIMEOUT_MS = 30_000;
const NOWHERE = path.join(ROOT, "node_modules", ".sluice-test-nowhere");

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the spawn. */
  readonly afterMs: number;
}

export interface SpawnedWorker {
  readonly pid: number;
  /** Standard output and standard error so far. */
  output(): string;
  errors(): string;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<WorkerExit>;
  isRunning(): boolean;
}

export interface SpawnOptions {
  readonly region?: string;
  /** The URL for each region that the process is to know. */
  readonly urls: Partial<Record<Region, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments in place of `--region <region> --health-port 0`. */
  readonly args?: readonly string[];
  /** Modules for `node --import`. */
  readonly imports?: readonly string[];
}

const running = new Set<ChildProcess>();

/** Starts `sluice worker` and returns at once. */
export function spawnWorker(options: SpawnOptions): SpawnedWorker {
  const args = options.args ?? ["--region", options.region ?? "us", "--health-port", "0"];
  const imports = (options.imports ?? []).flatMap((module) => ["--import", module]);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...imports, path.join(ROOT, "cli", "sluice.ts"), "worker", ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(options),
  });
  running.add(child);
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString("utf8");
  });
  const exited = once(child, "close").then(([code, signal]): WorkerExit => {
    running.delete(child);
    return { code, signal, afterMs: performance.now() - startedAt };
  });
  return {
    pid: child.pid ?? 0,
    output: () => out + err,
    errors: () => err,
    kill: (signal) => child.kill(signal),
    exited,
    isRunning: () => child.exitCode === null && child.signalCode === null,
  };
}

/** Starts a worker and waits until it says that it has started. */
export async function spawnReadyWorker(options: SpawnOptions): Promise<SpawnedWorker> {
  const worker = spawnWorker(options);
  await waitFor(
    () => {
      if (worker.output().includes('"event":"started"')) return true;
      if (!worker.isRunning()) return true;
      return false;
    },
    { timeoutMs: READY_TIMEOUT_MS, what: "a worker process to start" },
  );
  if (!worker.isRunning()) throw new Error(`the worker process ended: ${worker.output()}`);
  return worker;
}

/** Kills what is still running and waits for its end. */
export async function endWorkers(): Promise<void> {
  const children = [...running];
  await Promise.all(
    children.map(async (child) => {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }),
  );
}

function environment({ urls, env }: SpawnOptions): NodeJS.ProcessEnv {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, ...rest } = process.env;
  return {
    ...rest,
    SLUICE_SECRET_KEYS: TEST_SECRET_KEYS,
    // No running system of this clone may lend its databases to a test.
    SLUICE_DATA_DIR: NOWHERE,
    ...(urls.us === undefined ? {} : { DATABASE_URL_US: urls.us }),
    ...(urls.eu === undefined ? {} : { DATABASE_URL_EU: urls.eu }),
    ...env,
  };
}
