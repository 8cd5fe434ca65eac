/**
 * `npm run bench [-- <scenario>] [--json]`: runs one scenario or all, and prints a table or one JSON object a line.
 * Timings belong here and never into a test. Run it on a machine that does nothing else.
 */
import { type BenchOptions, readOptions } from "./config.ts";
import { drain } from "./scenarios/drain.ts";
import { latency } from "./scenarios/latency.ts";

const SCENARIOS: Readonly<Record<string, (options: BenchOptions) => Promise<Record<string, unknown>>>> = {
  drain,
  latency,
};

async function main(): Promise<number> {
  let options: BenchOptions;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  const names = options.scenario === "all" ? Object.keys(SCENARIOS) : [options.scenario];
  for (const name of names) {
    const scenario = Object.hasOwn(SCENARIOS, name) ? SCENARIOS[name] : undefined;
    if (scenario === undefined) {
      console.error(`bench: no scenario "${name}"; there are ${Object.keys(SCENARIOS).join(", ")}`);
      return 2;
    }
    const result = await scenario(options);
    if (options.json) console.log(JSON.stringify(result));
    else console.table(Object.fromEntries(Object.entries(result).filter(([key]) => key !== "each")));
  }
  return 0;
}

process.exitCode = await main();
