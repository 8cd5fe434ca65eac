/**
 * A Redis of the bench's own, when the machine has the program: on a loopback port, in a temporary directory, with the
 * append-only file that its documentation recommends for queues. It must never touch another Redis.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { findFreePort } from "#scripts/lib/embedded-postgres.ts";
import { searchPath } from "../config.ts";
import { untilTrue } from "./wait.ts";

const START_TIMEOUT_MS = 10_000;
const POLL_MS = 25;

export interface BenchRedis {
  readonly port: number;
  readonly pid: number;
  close(): Promise<void>;
}

/** The program, or null when the machine has none. */
export function findRedis(): string | null {
  for (const directory of searchPath().split(path.delimiter)) {
    const program = path.join(directory, "redis-server");
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Not here.
    }
  }
  return null;
}

/** @throws Error when it does not come up */
export async function openRedis(program: string): Promise<BenchRedis> {
  const directory = mkdtempSync(path.join(tmpdir(), "sluice-bench-redis-"));
  const port = await findFreePort();
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir: directory,
    appendonly: "yes",
    appendfsync: "everysec",
    save: "",
    "maxmemory-policy": "noeviction",
  };
  const child = spawn(
    program,
    Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    { stdio: "ignore" },
  );
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
    await exited;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await untilTrue(() => answers(child, port), "redis-server to start", START_TIMEOUT_MS, POLL_MS);
  } catch (error) {
    await close();
    throw error;
  }
  return { port, pid: child.pid ?? 0, close };
}

function answers(child: ChildProcess, port: number): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
