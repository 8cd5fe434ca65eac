/** `sluice receiver`: the demo's receiving endpoint as a process. */
import { readUpConfig } from "../config.ts";
import { runScript } from "../run-script.ts";

export const help = `Usage: sluice receiver [--port <port>] [options of demo/receiver/main.ts]

Runs the deterministic receiver on 127.0.0.1. Default port: SLUICE_RECEIVER_PORT, 4400.`;

/** Runs until it is stopped. */
export async function run(args: string[]): Promise<number> {
  const hasPort = args.some((arg) => arg === "--port" || arg.startsWith("--port="));
  const port = hasPort ? [] : ["--port", String(readUpConfig().ports.receiver)];
  return runScript("demo/receiver/main.ts", [...port, ...args]);
}
