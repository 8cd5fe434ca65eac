/**
 * Workers for a bench: in this process where rates and CPU of all contenders are compared, in a process of its own where
 * the worker's memory or CPU alone is the number. Whoever starts one stops it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { LOCAL_SENDING_RULES } from "#db/sending-rules-config.ts";
import { ALL_ON, type WorkerSettings } from "#worker/config.ts";
import { WORKER_NODE_FLAGS } from "#worker/node-flags.ts";
import { type RunningWorker, startWorker } from "#worker/start-worker.ts";
import { BENCH_KEYRING } from "./sql.ts";

const DRAIN_MS = 10_000;
/** The product's own default. */
const PROBE_MS = 250;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 30_000;
/** What a bench worker's process is asked (worker-main.ts). */
export const WATCH_LOOP = "watch loop";
export const READ_LOOP = "read loop";

/** The settings of every bench worker: the product's defaults, without a health page and without info lines. */
export function benchWorkerSettings(url: string, slots: number, probeMs = PROBE_MS): WorkerSettings {
  return {
    region: "us",
    connectionString: url,
    directConnectionString: url,
    keyring: BENCH_KEYRING,
    sendingRules: LOCAL_SENDING_RULES,
    slots,
    drainMs: DRAIN_MS,
    probeMs,
    healthPort: null,
    logLevel: "warn",
    switches: ALL_ON,
  };
}

/** A worker in this process. */
export function startBenchWorker(url: string, slots: number, probeMs = PROBE_MS): Promise<RunningWorker> {
  return startWorker(benchWorkerSettings(url, slots, probeMs));
}

/** The event loop of a worker's process since it was asked to watch. */
export interface LoopReport {
  /** The part of the time in which it had something to do. */
  readonly busyShare: number;
  /** How late a timer of 10 ms was. */
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface SpawnedBenchWorker {
  readonly pid: number;
  /** From now on its event loop is watched, at some hundred wake-ups a second. */
  watchLoop(): Promise<void>;
  /** @throws Error when it does not answer */
  readLoop(): Promise<LoopReport>;
  /** @throws Error when it had already ended by itself */
  stop(): Promise<void>;
}

/** The same worker as a process of its own, with the product's options for Node. It ends with this one. */
export async function spawnBenchWorker(
  url: string,
  slots: number,
  probeMs = PROBE_MS,
): Promise<SpawnedBenchWorker> {
  const main = fileURLToPath(new URL("./worker-main.ts", import.meta.url));
  const child = fork(main, [url, String(slots), String(probeMs)], {
    execArgv: [...process.execArgv, ...WORKER_NODE_FLAGS],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  try {
    await ready(child, exited);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    watchLoop: async () => {
      await ask(child, WATCH_LOOP);
    },
    readLoop: () => ask(child, READ_LOOP),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the worker process ended by itself with ${child.signalCode ?? child.exitCode}`);
      }
      const late = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      child.kill("SIGTERM");
      await exited;
      clearTimeout(late);
    },
  };
}

/** Its next message is the answer: one question at a time. */
async function ask(child: ChildProcess, question: string): Promise<LoopReport> {
  child.send(question);
  const [answer] = await once(child, "message", { signal: AbortSignal.timeout(START_TIMEOUT_MS) });
  return answer as LoopReport;
}

async function ready(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("the worker process did not start")), START_TIMEOUT_MS);
  });
  const ended = exited.then(() => {
    throw new Error("the worker process ended at its start");
  });
  ended.catch(() => undefined);
  try {
    await Promise.race([once(child, "message"), ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
