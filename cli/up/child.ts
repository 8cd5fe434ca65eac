/**
 * One supervised process: started, started again with growing pauses when it dies, stopped on request.
 * It has a process group of its own, so that the terminal's Ctrl-C reaches the supervisor only.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { childEnvironment, ROOT } from "../config.ts";
import type { ChildOutput } from "./output.ts";
import { formatDuration } from "./progress.ts";

export interface ChildSpec {
  /** Shown in front of its lines. */
  name: string;
  /** Arguments for Node: a script and its own arguments. */
  args: readonly string[];
  /** What it gets beside the supervisor's environment, database URLs included. */
  env: Readonly<Record<string, string>>;
  /** Longest wait between SIGTERM and SIGKILL. */
  stopTimeoutMs: number;
}

export interface ManagedChild {
  readonly name: string;
  start(): void;
  /** Asks it to stop, waits, and kills it when it takes longer than its time-out. Never starts it again. */
  stop(): Promise<void>;
  /** Kills it and all that it started, at once. */
  kill(): void;
  /** Rejects when it dies twice before `ready` was called: then it will not come up by itself. */
  readonly failed: Promise<never>;
  /** Tells that it has come up, so that a later death is a restart and not a failure of the start. */
  ready(): void;
}

const FOLLOW_PARENT = fileURLToPath(new URL("./follow-parent.ts", import.meta.url));
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A child that ran this long starts over with the shortest pause. */
const HEALTHY_MS = 60_000;
const DEATHS_BEFORE_READY = 2;

/** Pause before the n-th restart in a row: 1 s, 2 s, 4 s ... 30 s. */
export function restartPauseMs(deathsInARow: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(deathsInARow - 1, 10));
}

/** Makes a child; nothing runs before `start`. */
export function manageChild(spec: ChildSpec, output: ChildOutput, say: (line: string) => void): ManagedChild {
  let running: ChildProcess | null = null;
  let ended: Promise<void> = Promise.resolve();
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  let isReady = false;
  let deaths = 0;
  const failure = Promise.withResolvers<never>();
  // Nobody may be listening any more once the start is over.
  failure.promise.catch(() => {});

  const start = () => {
    const startedAt = performance.now();
    const child = launch(spec, output);
    running = child;
    ended = new Promise((resolve) => {
      const onEnd = (how: string) => {
        if (running !== child) return;
        running = null;
        resolve();
        if (!stopping) onDeath(how, performance.now() - startedAt);
      };
      child.once("error", (error) => onEnd(error.message));
      child.once("exit", (code, signal) => onEnd(signal ? `signal ${signal}` : `exit code ${code}`));
    });
  };

  const onDeath = (how: string, livedMs: number) => {
    deaths = livedMs > HEALTHY_MS ? 1 : deaths + 1;
    if (!isReady && deaths >= DEATHS_BEFORE_READY) {
      failure.reject(
        new Error(`${spec.name} does not start (${how}): ${output.lastLines().at(-1) ?? "no output"}`),
      );
      return;
    }
    const pauseMs = restartPauseMs(deaths);
    say(`${spec.name} ended (${how}); starting it again in ${formatDuration(pauseMs)}`);
    restart = setTimeout(start, pauseMs);
  };

  return {
    name: spec.name,
    start,
    failed: failure.promise,
    ready: () => {
      isReady = true;
    },
    kill: () => {
      stopping = true;
      clearTimeout(restart);
      killGroup(running);
    },
    stop: async () => {
      stopping = true;
      clearTimeout(restart);
      const child = running;
      if (!child) return;
      child.kill("SIGTERM");
      const late = setTimeout(() => {
        say(`${spec.name} did not stop within ${formatDuration(spec.stopTimeoutMs)} and was killed`);
        killGroup(child);
      }, spec.stopTimeoutMs);
      await ended;
      clearTimeout(late);
      // What it may have started itself must not stay behind.
      killGroup(child);
    },
  };
}

function launch(spec: ChildSpec, output: ChildOutput): ChildProcess {
  const child = spawn(process.execPath, ["--import", FOLLOW_PARENT, ...spec.args], {
    cwd: ROOT,
    detached: true,
    env: childEnvironment(spec.env),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  if (child.stdout) output.attach(child.stdout, "stdout");
  if (child.stderr) output.attach(child.stderr, "stderr");
  return child;
}

function killGroup(child: ChildProcess | null): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing of the group is left.
  }
}
