/**
 * `npm run bench [-- <scenario>] [--json]`: prints the table, or one row as one JSON object. Without a name, or with
 * `all`, each scenario runs in a process of its own, so that one that fails or leaves heat behind cannot touch the
 * next, and a JSON line for each goes into a file. Standard output holds results only; progress goes to standard error.
 * Timings belong here and never into a test. Run it on a machine that does nothing else.
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BenchCommand, optionsFor, readCommand } from "./config.ts";
import { closeLater, closeOnTrouble, isEnding } from "./lib/cleanup.ts";
import { progress } from "./lib/progress.ts";
import type { Scenario } from "./lib/scenario.ts";
import { jsonRow, type PrintedRow, printedRows } from "./lib/table.ts";
import { EXTRA_SCENARIOS, SCENARIOS } from "./scenarios/index.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DEFAULT_OUT = path.join(ROOT, ".sluice", "bench.jsonl");
const BAD_ARGUMENTS = 2;
const COULD_NOT_RUN = 1;
const MAX_LINE_BYTES = 16 * 1024 * 1024;

interface JsonGoal {
  what: string;
  goal: string;
  measured: number | null;
  met: boolean | null;
  skipped?: string;
}

async function main(): Promise<number> {
  let command: BenchCommand;
  try {
    command = readCommand(process.argv.slice(2));
  } catch (error) {
    return fail(message(error), BAD_ARGUMENTS);
  }
  if (command.scenario === "all") return await runAll(command);
  const known = [...SCENARIOS, ...EXTRA_SCENARIOS];
  const scenario = known.find(({ name }) => name === command.scenario);
  if (scenario === undefined) {
    const names = known.map(({ name }) => name).join(", ");
    return fail(`no scenario "${command.scenario}"; there are ${names}`, BAD_ARGUMENTS);
  }
  return await runOne(scenario, command);
}

async function runOne(scenario: Scenario, command: BenchCommand): Promise<number> {
  try {
    progress(`${scenario.name}: ${scenario.title}`);
    const result = await scenario.run(optionsFor(scenario.defaults, command.given));
    const row = JSON.stringify(jsonRow(scenario.name, result, new Date().toISOString()));
    if (command.out !== null) append(command.out, row);
    if (command.json) console.log(row);
    else printTable(printedRows(scenario.name, result));
    return 0;
  } catch (error) {
    return fail(`${scenario.name}: ${message(error)}`, COULD_NOT_RUN);
  }
}

async function runAll(command: BenchCommand): Promise<number> {
  const out = command.out ?? DEFAULT_OUT;
  const rows: PrintedRow[] = [];
  let code = 0;
  for (const { name } of SCENARIOS) {
    if (isEnding()) break;
    const line = await runChild(name, command);
    if (line === null) {
      code = COULD_NOT_RUN;
      rows.push({ scenario: name, what: "did not run", goal: "", measured: "", met: "NO" });
      continue;
    }
    append(out, line);
    if (command.json) console.log(line);
    rows.push(...rowsOf(name, line));
  }
  if (!command.json) printTable(rows);
  progress(`every row is also in ${path.relative(ROOT, out)}`);
  return code;
}

/** The JSON line that the child printed, or null when it failed; it has said why on standard error. */
function runChild(name: string, command: BenchCommand): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(import.meta.url), name, "--json", ...command.givenArgs],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    // A signal to this process alone must reach the one that has servers open.
    const ended = new Promise<void>((done) => child.once("exit", () => done()));
    closeLater(async () => {
      child.kill("SIGTERM");
      await ended;
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString("utf8")).slice(-MAX_LINE_BYTES);
    });
    child.once("error", () => resolve(null));
    child.once("close", (exitCode) => resolve(exitCode === 0 ? text.trim() : null));
  });
}

function rowsOf(scenario: string, line: string): PrintedRow[] {
  const { goals } = JSON.parse(line) as { goals: JsonGoal[] };
  return goals.map(({ what, goal, measured, met, skipped }) => ({
    scenario,
    what,
    goal,
    measured: measured === null ? `skipped: ${skipped ?? "no number"}` : String(measured),
    met: met === null ? "-" : met ? "yes" : "NO",
  }));
}

function append(file: string, line: string): void {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  appendFileSync(file, `${line}\n`);
}

function printTable(rows: readonly PrintedRow[]): void {
  console.table(rows);
}

function fail(why: string, code: number): number {
  console.error(`bench: ${why}`);
  return code;
}

function message(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0] ?? text;
}

closeOnTrouble((why) => console.error(`bench: ${why}`));
const code = await main();
// A contender's library may keep timers or sockets after a failure; results have been written, nothing is left to do.
process.stdout.write("", () => process.exit(code));
