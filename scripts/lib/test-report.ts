/**
 * Reads how many tests passed and failed, and which failed, from the reports that Vitest and Playwright write as JSON. It must
 * never call a broken run green.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** The tests that failed, as "file: name", at most NAMES_LIMIT of them: a log cut at its start still tells them. */
  failures?: string[];
}

const NAMES_LIMIT = 40;
const MESSAGE_CHARS = 300;

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: {
    name?: string;
    status: string;
    message?: string;
    assertionResults: { status: string; fullName?: string; failureMessages?: string[] }[];
  }[];
}

interface PlaywrightSuite {
  file?: string;
  suites?: PlaywrightSuite[];
  specs?: { title: string; ok: boolean }[];
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  errors: unknown[];
  suites?: PlaywrightSuite[];
}

/** A file that could not even be loaded has no failed test, and counts as one. */
export function readVitestReport(file: string, exitCode: number): Counts {
  const report = readJson<VitestReport>(file);
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  const broken = report.testResults.filter(
    (result) =>
      result.status === "failed" && !result.assertionResults.some(({ status }) => status === "failed"),
  ).length;
  return atLeastOneFailure(
    {
      passed: report.numPassedTests,
      failed: report.numFailedTests + broken,
      skipped: report.numPendingTests,
      ...named(vitestFailures(report)),
    },
    exitCode,
  );
}

/** A test that passed only on a second try counts as failed: a promise is kept always or not at all. */
export function readPlaywrightReport(file: string, exitCode: number): Counts {
  const report = readJson<PlaywrightReport>(file);
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  const { expected, unexpected, flaky, skipped } = report.stats;
  return atLeastOneFailure(
    {
      passed: expected,
      failed: unexpected + flaky + report.errors.length,
      skipped,
      ...named((report.suites ?? []).flatMap(playwrightFailures)),
    },
    exitCode,
  );
}

/** What failed in Vitest, each with the first line of why. */
function vitestFailures(report: VitestReport): string[] {
  return report.testResults.flatMap((result) => {
    const file = path.relative(process.cwd(), result.name ?? "");
    const failed = result.assertionResults.filter(({ status }) => status === "failed");
    if (failed.length === 0)
      return result.status === "failed" ? [`${file}: ${firstLine(result.message)}`] : [];
    return failed.map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}

function playwrightFailures(suite: PlaywrightSuite): string[] {
  const own = (suite.specs ?? []).filter(({ ok }) => !ok).map(({ title }) => `${suite.file}: ${title}`);
  return [...own, ...(suite.suites ?? []).flatMap(playwrightFailures)];
}

function firstLine(message: string | undefined): string {
  return (message ?? "").split("\n", 1)[0]?.slice(0, MESSAGE_CHARS) ?? "";
}

function named(failures: string[]): { failures?: string[] } {
  return failures.length > 0 ? { failures: failures.slice(0, NAMES_LIMIT) } : {};
}

/** A runner that ended badly without a failed test has failed all the same. */
function atLeastOneFailure(counts: Counts, exitCode: number): Counts {
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

function readJson<T>(file: string): T | null {
  if (!existsSync(file)) return null;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch {
    return null;
  }
}
