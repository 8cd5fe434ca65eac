/**
 * `npm run simulate`: many seeds, or one with its log. Prints a report, or one JSON object with --json, and exits with 1
 * when an invariant broke. It decides nothing: the runs do.
 */
import { parseArgs } from "node:util";
import { BUGS } from "./bugs.ts";
import { INVARIANTS } from "./check/violations.ts";
import { runSeed, type SeedOptions } from "./run-seed.ts";
import { explain, runSeeds, TEST_SEEDS, TEST_STEPS } from "./run-seeds.ts";

const USAGE = `npm run simulate -- [options]
  --seeds N   how many seeds (default ${TEST_SEEDS})
  --from S    the first of them (default 1)
  --steps K   events with faults in each, before the calm (default ${TEST_STEPS})
  --seed S    one seed, with its log
  --bug NAME  with a bug on purpose: ${BUGS.map(({ name }) => name).join(", ")}
  --json      one JSON object on standard output`;
const EVERY_MS = 5_000;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string" },
      from: { type: "string" },
      steps: { type: "string" },
      seed: { type: "string" },
      bug: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const options = { steps: wholeNumber(values.steps, TEST_STEPS, "steps"), ...bugOf(values.bug) };
  return values.seed === undefined
    ? many(
        wholeNumber(values.from, 1, "from"),
        wholeNumber(values.seeds, TEST_SEEDS, "seeds"),
        options,
        values.json,
      )
    : one(wholeNumber(values.seed, 1, "seed"), options, values.json);
}

async function many(from: number, count: number, options: SeedOptions, json: boolean): Promise<number> {
  let toldAt = performance.now();
  const summary = await runSeeds(from, count, options, (seed) => {
    if (performance.now() - toldAt < EVERY_MS) return;
    toldAt = performance.now();
    process.stderr.write(`${seed - from + 1} of ${count} seeds\n`);
  });
  if (json) process.stdout.write(`${JSON.stringify(summary)}\n`);
  else {
    const { seeds, steps, deliveries, requests, violations, failures, met } = summary;
    for (const failure of failures) process.stdout.write(`${explain(failure)}\n`);
    const situations = Object.entries(met).map(([name, times]) => `${name} ${times}`);
    process.stdout.write(
      `${seeds} seeds, ${steps} steps, ${deliveries} deliveries, ${requests} requests: ${violations} seeds with violations\nmet: ${situations.join(", ")}\n`,
    );
  }
  return summary.violations === 0 ? 0 : 1;
}

async function one(seed: number, options: SeedOptions, json: boolean): Promise<number> {
  const log = json ? undefined : (line: string) => process.stdout.write(`${line}\n`);
  const { violations, ...result } = await runSeed(seed, {
    ...options,
    ...(log === undefined ? {} : { log }),
  });
  if (json) {
    const summary = {
      seeds: 1,
      ...result,
      violations: violations.length,
      ...(violations.length === 0 ? {} : { firstFailingSeed: seed }),
      failures: violations,
    };
    process.stdout.write(`${JSON.stringify(summary)}\n`);
  } else {
    for (const { invariant, detail, step } of violations) {
      process.stdout.write(`step ${step}: ${invariant} (${INVARIANTS[invariant]}): ${detail}\n`);
    }
    process.stdout.write(
      `seed ${seed}: ${result.steps} steps, ${result.deliveries} deliveries, ${result.requests} requests, ${violations.length} violations\n`,
    );
  }
  return violations.length === 0 ? 0 : 1;
}

function bugOf(name: string | undefined): Partial<SeedOptions> {
  if (name === undefined) return {};
  const bug = BUGS.find((each) => each.name === name);
  if (bug === undefined) throw new Error(`there is no bug "${name}"\n${USAGE}`);
  return { bug };
}

function wholeNumber(text: string | undefined, otherwise: number, name: string): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} is a whole number of at least 1\n${USAGE}`);
  return value;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
