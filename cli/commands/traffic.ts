/** `sluice traffic`: demo business in both regions. */
import { runScript } from "../run-script.ts";

export const help = `Usage: sluice traffic

Keeps making business (card holds, captures, invoices) in both regions until it is stopped, and tells the receiver the
signing secrets. Needs migrated and seeded databases and SLUICE_SECRET_KEYS.

Settings: SLUICE_DEMO_RATE (deliveries per second and region, 25), SLUICE_DEMO_MAX_WAITING (300), SLUICE_RECEIVER_URL.`;

/** Runs until it is stopped. */
export async function run(args: string[]): Promise<number> {
  return runScript("demo/traffic/main.ts", args);
}
