/**
 * `npm test` after the install: style, types, unit, database, worker and browser tests. The last line it prints is
 * "N passed, N failed". `npm test -- unit db` runs some groups, `npm test -- domain/x.test.ts` some files.
 * It must stop every server and process that it started, also after Ctrl-C.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { findBrowser } from "./lib/browser.ts";
import { findFreePort } from "./lib/embedded-postgres.ts";
import { ensureBuilt } from "./lib/next-build.ts";
import { runNode, stopSteps } from "./lib/run-step.ts";
import { createMigrated, openScratchServers, type ScratchServers } from "./lib/scratch-databases.ts";
import { type Counts, readPlaywrightReport, readVitestReport } from "./lib/test-report.ts";
import { hasTestServer } from "./lib/test-server.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const REPORTS = path.join(ROOT, ".sluice", `test-${process.pid}`);
/** A folder of its own: a running `npm start` keeps the one that it serves. */
const TEST_DIST = ".sluice/next-test";
const VITEST_GROUPS = ["unit", "db", "db15", "worker"] as const;
const GROUPS = ["lint", "types", ...VITEST_GROUPS, "e2e"] as const;
const EXIT_USAGE = 2;
const EXIT_INTERRUPTED = 130;

type Group = (typeof GROUPS)[number];

interface Selection {
  groups: ReadonlySet<Group>;
  files: readonly string[];
}

interface StepResult extends Counts {
  name: string;
  seconds: number;
}

/** Groups by name; anything with a slash or a dot is a file for Vitest or Playwright. */
function readSelection(args: readonly string[]): Selection | null {
  const names = args.filter((arg) => (GROUPS as readonly string[]).includes(arg)) as Group[];
  const files = args.filter((arg) => /[./]/.test(arg));
  if (names.length + files.length !== args.length) return null;
  if (names.length > 0) return { groups: new Set(names), files };
  if (files.length === 0) return { groups: new Set(GROUPS), files };
  const isE2e = files.some((file) => file.startsWith("e2e/"));
  return { groups: new Set(isE2e ? ["e2e"] : VITEST_GROUPS), files };
}

async function measured(name: string, work: () => Promise<Counts>): Promise<StepResult> {
  const startedAt = performance.now();
  console.log(`\n--- ${name}`);
  const counts = await work().catch((error: unknown): Counts => {
    console.error(error instanceof Error ? error.message : error);
    return { passed: 0, failed: 1, skipped: 0 };
  });
  return { name, ...counts, seconds: (performance.now() - startedAt) / 1_000 };
}

function oneCheck(exitCode: number): Counts {
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
}

function bin(...parts: string[]): string {
  return path.join(ROOT, "node_modules", ...parts);
}

async function lint(): Promise<Counts> {
  const args = [bin("@biomejs", "biome", "bin", "biome"), "check", "--error-on-warnings", "."];
  return oneCheck(await runNode(args, { cwd: ROOT }));
}

async function types(): Promise<Counts> {
  return oneCheck(await runNode([bin("typescript", "bin", "tsc"), "--noEmit"], { cwd: ROOT }));
}

async function vitest(groups: readonly string[], files: readonly string[]): Promise<Counts> {
  const report = path.join(REPORTS, "vitest.json");
  const args = [
    bin("vitest", "vitest.mjs"),
    "run",
    ...files,
    ...groups.flatMap((group) => ["--project", group]),
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  const exitCode = await runNode(args, { cwd: ROOT });
  return readVitestReport(report, exitCode);
}

async function build(): Promise<Counts> {
  const { built } = await ensureBuilt({ root: ROOT, distDir: TEST_DIST });
  console.log(built ? "console built" : "console is up to date");
  return { passed: 1, failed: 0, skipped: 0 };
}

/** The browser tests get two migrated databases, the built console and free ports, all by the environment. */
async function e2e(files: readonly string[]): Promise<Counts> {
  const servers = await openScratchServers(18);
  try {
    const us = await createMigrated(servers, "us", "e2e");
    const eu = await createMigrated(servers, "eu", "e2e");
    const worlds = files.length === 1 ? {} : await moreWorlds(servers);
    const report = path.join(REPORTS, "playwright.json");
    const args = [bin("@playwright", "test", "cli.js"), "test", ...files, "--reporter=list,json"];
    const exitCode = await runNode(args, {
      cwd: ROOT,
      env: {
        DATABASE_URL_US: us.url,
        DATABASE_URL_EU: eu.url,
        ...worlds,
        SLUICE_NEXT_DIST: TEST_DIST,
        SLUICE_CONSOLE_PORT: String(await findFreePort()),
        SLUICE_BROWSER: findBrowser().executablePath,
        PLAYWRIGHT_JSON_OUTPUT_NAME: report,
      },
    });
    return readPlaywrightReport(report, exitCode);
  } finally {
    await servers.stop();
  }
}

/** A second world beside the first: browser tests wait for what a page polls, and one works while the other waits. */
async function moreWorlds(servers: ScratchServers): Promise<Record<string, string>> {
  const us = await createMigrated(servers, "us", "e2e2");
  const eu = await createMigrated(servers, "eu", "e2e2");
  return { SLUICE_E2E_WORLD_2: JSON.stringify({ us: us.url, eu: eu.url }) };
}

async function runSteps({ groups, files }: Selection): Promise<StepResult[]> {
  const results: StepResult[] = [];
  if (groups.has("lint")) results.push(await measured("lint", lint));
  if (groups.has("types")) results.push(await measured("types", types));
  const chosen = VITEST_GROUPS.filter(
    (group) => groups.has(group) && (group !== "db15" || hasTestServer(15)),
  );
  if (chosen.length > 0) results.push(await measured(chosen.join(", "), () => vitest(chosen, files)));
  if (groups.has("e2e") && existsSync(path.join(ROOT, "playwright.config.ts"))) {
    const built = await measured("build", build);
    results.push(built);
    if (built.failed === 0) results.push(await measured("e2e", () => e2e(files)));
  }
  return results;
}

/** Prints the table and the closing line, and returns the exit code. */
function conclude(results: readonly StepResult[]): number {
  console.log("");
  for (const { name, failures } of results) {
    for (const failure of failures ?? []) console.log(`failed: ${name}: ${failure}`);
  }
  for (const { name, passed, failed, skipped, seconds } of results) {
    const skips = skipped > 0 ? `, ${skipped} skipped` : "";
    console.log(`${name.padEnd(24)} ${passed} passed, ${failed} failed${skips} (${seconds.toFixed(1)} s)`);
  }
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

let interrupted = false;

/** The terminal's Ctrl-C may come twice at once, through npm. */
async function onSignal(): Promise<void> {
  if (interrupted) return;
  interrupted = true;
  await stopSteps();
  rmSync(REPORTS, { recursive: true, force: true });
  console.log("interrupted");
  process.exit(EXIT_INTERRUPTED);
}

async function main(): Promise<number> {
  const selection = readSelection(process.argv.slice(2));
  if (!selection) {
    console.error(`npm test: groups are ${GROUPS.join(", ")}; a file has a slash or a dot in its name`);
    return EXIT_USAGE;
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void onSignal());
  mkdirSync(REPORTS, { recursive: true });
  try {
    return conclude(await runSteps(selection));
  } finally {
    rmSync(REPORTS, { recursive: true, force: true });
  }
}

process.exitCode = await main();
