/**
 * Runs the programs of a test run, one process group each, so that all of a step's processes can be ended together.
 * It must leave none of them behind.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface StepOptions {
  cwd: string;
  env?: Readonly<Record<string, string>>;
}

const GRACE_MS = 10_000;
const running = new Set<ChildProcess>();

/** Runs a Node script with its output on the terminal and returns the exit code (1 for a signal). */
export function runNode(args: readonly string[], options: StepOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "inherit", "inherit"],
      detached: true,
    });
    running.add(child);
    child.once("error", reject);
    child.once("exit", (code) => {
      killGroup(child, "SIGKILL");
      running.delete(child);
      resolve(code ?? 1);
    });
  });
}

/** Asks what runs to stop, then kills what is left after 10 s. */
export async function stopSteps(): Promise<void> {
  await Promise.all(
    [...running].map(async (child) => {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      killGroup(child, "SIGINT");
      const late = setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS);
      await ended;
      clearTimeout(late);
    }),
  );
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}
