/**
 * `npm run chaos -- [--faults n] [--seconds n] [--seed n] [--kinds a,b] [--evidence file] [--json]`: prints the summary of a run, with
 * --json as one JSON object on standard output. Exit code 0 when nothing is wrong, 1 with the reasons on standard
 * error otherwise, 2 for bad arguments. What happens meanwhile goes to standard error.
 */
import { writeFileSync } from "node:fs";
import { type ChaosResult, runChaos } from "./chaos.ts";
import { type ChaosOptions, readOptions } from "./config.ts";
import { summarise } from "./summary.ts";

const FAILED = 1;
const BAD_ARGUMENTS = 2;

async function main(): Promise<number> {
  let options: ChaosOptions;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`chaos: ${messageOf(error)}`);
    return BAD_ARGUMENTS;
  }
  const isTold = options.verbose || !options.json;
  try {
    const result = await runChaos(options, (line) => {
      if (isTold) console.error(`chaos: ${line}`);
    });
    const { summary, problems } = summarise(result);
    if (options.evidenceFile !== null) keepEvidence(options.evidenceFile, result);
    if (options.json) console.log(JSON.stringify(summary));
    else printTable(summary);
    for (const problem of problems) console.error(`chaos: ${problem}`);
    return problems.length === 0 ? 0 : FAILED;
  } catch (error) {
    console.error(`chaos: the run could not be finished (seed ${options.seed}): ${messageOf(error)}`);
    return FAILED;
  }
}

function keepEvidence(file: string, { evidence, words }: ChaosResult): void {
  writeFileSync(file, JSON.stringify({ ...evidence, words }));
}

function printTable(summary: object): void {
  for (const [name, value] of Object.entries(summary)) {
    if (typeof value !== "object") console.log(`${name.padEnd(20)} ${value}`);
    else for (const [each, count] of Object.entries(value)) console.log(`${name}.${each}`.padEnd(44), count);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Leaves by "exit", which takes the server along; workers and receiver end when we are gone.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(FAILED));

process.exitCode = await main();
