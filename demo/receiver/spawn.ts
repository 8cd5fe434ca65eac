/**
 * Starts the receiver as a process of its own, for bench and chaos, which must not share its event loop.
 * Must leave no process behind: the child also ends by itself when this process is gone.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createReceiverClient, type ReceiverClient } from "./client.ts";

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const READY_LINE = /^receiver ready (http:\/\/\S+)$/m;
const MAX_OUTPUT_CHARS = 10_000;

export type ReceiverProcess = {
  readonly url: string;
  readonly pid: number;
  readonly client: ReceiverClient;
  /** SIGTERM, then SIGKILL if it has not ended after 10 s; resolves with the exit code, null after a signal. */
  stop(): Promise<number | null>;
};

function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string) => reject(new Error(`receiver process ${why}: ${output.trim()}`));
    const timer = setTimeout(() => fail(`not ready after ${READY_TIMEOUT_MS} ms`), READY_TIMEOUT_MS);
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-MAX_OUTPUT_CHARS);
      const url = READY_LINE.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? code}`);
    });
  });
}

/**
 * @param args arguments of main.ts, such as `["--records", "50000"]`; the port is free unless one is given
 * @throws Error with the process's own words when it does not become ready
 */
export async function spawnReceiver(args: readonly string[] = []): Promise<ReceiverProcess> {
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const child = fork(main, [...args], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [] });
  let url: string;
  try {
    url = await readyUrl(child);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  const client = createReceiverClient(url);
  return {
    url,
    pid: child.pid ?? 0,
    client,
    async stop() {
      await client.close();
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      child.kill("SIGTERM");
      const code = await exitOf(child);
      clearTimeout(timer);
      return code;
    },
  };
}
