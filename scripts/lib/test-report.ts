/** Reads how many tests passed and failed from the reports that Vitest and Playwright write as JSON. */
import { existsSync, readFileSync } from "node:fs";

export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number };
  errors: unknown[];
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
    { passed: expected, failed: unexpected + flaky + report.errors.length, skipped },
    exitCode,
  );
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
