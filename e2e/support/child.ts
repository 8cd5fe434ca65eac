/** One process of ours for the browser tests: started, waited for, its output kept, and ended with the tests. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { waitFor } from "#tests/support/wait-for.ts";
import { childEnvironment } from "../config.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const KEPT_OUTPUT_CHARS = 20_000;

export interface Child {
  /** Output so far, the latest part. */
  output(): string;
  /** SIGTERM, then SIGKILL if it does not end. */
  stop(): Promise<void>;
}

export interface ChildOptions {
  name: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Asked again and again until it is true. */
  ready: (output: string) => boolean | Promise<boolean>;
}

const running = new Set<ChildProcess>();
// A test runner that is stopped in the middle must not leave processes behind.
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts Node with the given arguments. @throws Error with the process's own words when it does not become ready. */
export async function startChild({ name, args, env, ready }: ChildOptions): Promise<Child> {
  const child = spawn(process.execPath, [...args], {
    cwd: ROOT,
    env: childEnvironment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-KEPT_OUTPUT_CHARS);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  child.once("close", () => running.delete(child));
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const stop = () => stopChild(child);
  try {
    await waitFor(async () => ended() || (await ready(output)), {
      timeoutMs: READY_TIMEOUT_MS,
      intervalMs: 100,
      what: name,
    });
    if (ended()) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
  } catch (cause) {
    await stop();
    throw new Error(`${name} did not start: ${output}`, { cause });
  }
  return { output: () => output, stop };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}

/** True when something answers there with success. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(3_000) })).ok;
  } catch {
    return false;
  }
}
