/**
 * Worker processes for tests whose promise is about processes: the command line as people start it, its output kept.
 * Whoever spawns one must end it: `endWorkers` in afterEach or afterAll.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { LOCAL_SENDING_SETTINGS } from "#db/sending-rules-config.ts";
import type { Region } from "#domain/region.ts";
import { TEST_SECRET_KEYS } from "./factories.ts";
import { waitFor } from "./wait-for.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY_TIMEOUT_MS = 120_000;
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
  /** Ends the channel to this process, as if it were gone. Only with `ipc`. */
  disconnect(): void;
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
  /** Gives it a channel to this process, as a supervisor does. */
  readonly ipc?: boolean;
}

/** What still runs, with the promise of its end. */
const running = new Map<ChildProcess, Promise<WorkerExit>>();

/** Starts `sluice worker` and returns at once. */
export function spawnWorker(options: SpawnOptions): SpawnedWorker {
  const args = options.args ?? ["--region", options.region ?? "us", "--health-port", "0"];
  const imports = (options.imports ?? []).flatMap((module) => ["--import", module]);
  const child = spawn(
    process.execPath,
    [...imports, path.join(ROOT, "cli", "sluice.ts"), "worker", ...args],
    {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe", ...(options.ipc ? (["ipc"] as const) : [])],
      env: environment(options),
    },
  );
  const out = collect(child.stdout);
  const err = collect(child.stderr);
  const exited = endOf(child, [out.ended, err.ended]);
  running.set(child, exited);
  return {
    pid: child.pid ?? 0,
    output: () => out.text() + err.text(),
    errors: () => err.text(),
    kill: (signal) => child.kill(signal),
    exited,
    disconnect: () => child.disconnect(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
  };
}

function collect(stream: Readable | null): { text(): string; ended: Promise<unknown> } {
  if (stream === null) throw new Error("the worker's output is not piped");
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  return { text: () => text, ended: once(stream, "end") };
}

/** Not by the event "close": it does not come for a child whose channel this side has ended. */
async function endOf(child: ChildProcess, outputs: readonly Promise<unknown>[]): Promise<WorkerExit> {
  const startedAt = performance.now();
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  await Promise.all(outputs);
  running.delete(child);
  return { code, signal, afterMs: performance.now() - startedAt };
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
  await Promise.all(
    [...running].map(([child, exited]) => {
      child.kill("SIGKILL");
      return exited;
    }),
  );
}

function environment({ urls, env }: SpawnOptions): NodeJS.ProcessEnv {
  const { DATABASE_URL_US: _us, DATABASE_URL_EU: _eu, ...rest } = process.env;
  return {
    ...rest,
    SLUICE_SECRET_KEYS: TEST_SECRET_KEYS,
    ...LOCAL_SENDING_SETTINGS,
    // No running system of this clone may lend its databases to a test.
    SLUICE_DATA_DIR: NOWHERE,
    ...(urls.us === undefined ? {} : { DATABASE_URL_US: urls.us }),
    ...(urls.eu === undefined ? {} : { DATABASE_URL_EU: urls.eu }),
    ...env,
  };
}
