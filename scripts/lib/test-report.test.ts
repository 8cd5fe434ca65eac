/** The closing line of `npm test` must never call a broken run green. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPlaywrightReport, readVitestReport } from "./test-report.ts";

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "sluice-report-"));
});

afterAll(() => rmSync(directory, { recursive: true }));

function written(report: unknown): string {
  const file = path.join(directory, "report.json");
  writeFileSync(file, typeof report === "string" ? report : JSON.stringify(report));
  return file;
}

const passing = { status: "passed", assertionResults: [{ status: "passed" }] };
const unloadable = { status: "failed", assertionResults: [] };
const base = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0 };

describe("readVitestReport", () => {
  it("takes the numbers as they are", () => {
    const file = written({ ...base, numFailedTests: 2, testResults: [passing] });
    expect(readVitestReport(file, 1)).toEqual({ passed: 5, failed: 2, skipped: 0 });
    expect(readVitestReport(written({ ...base, testResults: [passing] }), 0)).toMatchObject({
      passed: 5,
      failed: 0,
    });
  });

  it("names what failed with its reason, for a log that is cut at its start", () => {
    const name = path.resolve("domain", "x.test.ts");
    const test = { status: "failed", fullName: "caps hold", failureMessages: ["AssertionError: 4\n at x"] };
    const results = [
      { name, status: "failed", assertionResults: [test] },
      { name, status: "failed", message: "SyntaxError: no\nat y", assertionResults: [] },
    ];
    const { failures } = readVitestReport(written({ ...base, numFailedTests: 1, testResults: results }), 1);
    const file = path.join("domain", "x.test.ts");
    expect(failures).toEqual([`${file}: caps hold: AssertionError: 4`, `${file}: SyntaxError: no`]);
  });

  it("counts a file that could not be loaded", () => {
    expect(readVitestReport(written({ ...base, testResults: [passing, unloadable] }), 1).failed).toBe(1);
  });

  it("counts a run that ended badly, wrote nothing, or wrote half a report", () => {
    expect(readVitestReport(written({ ...base, testResults: [passing] }), 1).failed).toBe(1);
    expect(readVitestReport(path.join(directory, "none.json"), 0)).toEqual({
      passed: 0,
      failed: 1,
      skipped: 0,
    });
    expect(readVitestReport(written('{"numPassedTests": 5'), 0).failed).toBe(1);
  });
});

describe("readPlaywrightReport", () => {
  it("counts a flaky test and an error outside a test as failed", () => {
    const stats = { expected: 3, unexpected: 1, flaky: 1, skipped: 2 };
    expect(readPlaywrightReport(written({ stats, errors: [{}] }), 1)).toEqual({
      passed: 3,
      failed: 3,
      skipped: 2,
    });
  });

  it("names the tests that failed in every suite of a file", () => {
    const specs = [
      { title: "signs in", ok: true },
      { title: "signs out", ok: false },
    ];
    const suites = [{ file: "a.spec.ts", specs, suites: [{ file: "a.spec.ts", specs }] }];
    const stats = { expected: 2, unexpected: 2, flaky: 0, skipped: 0 };
    expect(readPlaywrightReport(written({ stats, errors: [], suites }), 1).failures).toEqual([
      "a.spec.ts: signs out",
      "a.spec.ts: signs out",
    ]);
  });
});
