/** `sluice traffic`: demo business in both regions. */
import { runScript } from "../run-script.ts";

export const help = `Usage: sluice traffic [options of demo/traffic/main.ts]

Keeps creating card holds in both regions until it is stopped. Needs migrated and seeded databases.`;

/** Runs until it is stopped. */
export async function run(args: string[]): Promise<number> {
  return runScript("demo/traffic/main.ts", args);
}
