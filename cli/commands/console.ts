/** `sluice console`: serves the built console on loopback. */
import { parseArgs } from "node:util";
import { UsageError } from "../command.ts";
import { childEnvironment, readCommandUrls, readUpConfig } from "../config.ts";
import { ownConsoleEnvironment } from "../console-config.ts";
import { runScript } from "../run-script.ts";
import { bothUrls } from "../up/children.ts";

export const help = `Usage: sluice console [--port <port>]

Serves the console on 127.0.0.1; "npm start" builds it. Default port: SLUICE_CONSOLE_PORT, 3000.
Reads DATABASE_URL_US and DATABASE_URL_EU, or the databases of the running "sluice up". How people sign in:
docs/access.md.`;

/** Runs until it is stopped. */
export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { port: { type: "string" } } });
  const port = values.port ?? String(readUpConfig().ports.console);
  if (!/^\d{1,5}$/.test(port)) throw new UsageError("--port must be a port number");
  const env = childEnvironment({ ...bothUrls(readCommandUrls()), ...ownConsoleEnvironment(Number(port)) });
  return runScript("node_modules/next/dist/bin/next", ["start", "-H", "127.0.0.1", "-p", port], env);
}
