/** The report as lines of a spreadsheet: every part adds up to the batch, and no text of a person becomes a formula. */
import { expect, test } from "vitest";
import type { ReplayReport } from "#db/console/replay/replay-views.ts";
import { csvLine } from "#domain/csv.ts";
import { countsOf } from "#domain/replay.ts";
import { REPORT_COLUMNS, reportLines } from "./replay-columns.ts";

const counts = countsOf([
  { state: "delivered", n: 5 },
  { state: "dead_again", n: 2 },
]);

const REPORT: ReplayReport = {
  id: `rpl_${"a".repeat(32)}`,
  name: '=HYPERLINK("http://x")',
  state: "stopped",
  sha256: "ff",
  total: 7,
  counts,
  byDestination: [
    { destinationId: "dst_1", destinationName: "ledger", counts, stopText: "5 in a row: server error 500" },
  ],
  byReason: [{ reason: "attempts_exhausted", counts }],
  amplification: 1,
  requests: 7,
  durationMs: 60_000,
  people: { requestedBy: "user:ann", editors: ["user:ann"], approvedBy: "user:bob", breakGlassBy: null },
  stops: [
    {
      at: "2026-12-01T00:00:00.000Z",
      kind: "stop",
      actor: "user:bob",
      from: "running",
      to: "stopping",
      detail: "+1 looks wrong",
      facts: {},
    },
  ],
  createdAt: "2026-12-01T00:00:00.000Z",
  startedAt: null,
  endedAt: null,
  cause: "@every lane has stopped",
  left: 0,
  reason: "-1 of them",
  ticket: null,
  rootCause: "their certificate",
  fixUrl: null,
  parentId: null,
  followUps: [],
  followUpItems: 2,
  policyVersion: 3,
  timings: {
    createdAt: "2026-12-01T00:00:00.000Z",
    submittedAt: null,
    approvedAt: "2026-12-01T01:00:00.000Z",
    startedAt: null,
    canaryEndedAt: null,
    endedAt: null,
  },
};

test("DLQ-4 each part of the exported report adds up to the frozen total", () => {
  const lines = reportLines(REPORT);
  for (const part of ["batch", "destination", "reason"] as const) {
    const items = lines
      .filter((line) => line.part === part)
      .flatMap(({ counts: found }) => (found === null ? [] : Object.values(found)));
    expect(
      items.reduce((sum, n) => sum + n, 0),
      part,
    ).toBe(REPORT.total);
  }
  expect(lines.find(({ name }) => name === "approved")).toMatchObject({ by: "user:bob" });
});

test("a name, a reason or a cause that begins like a formula is text in the file", () => {
  const text = reportLines(REPORT)
    .map((line) => csvLine(REPORT_COLUMNS.map(({ value }) => value(line))))
    .join("");
  for (const start of ["=HYPERLINK", "+1 looks", "@every", "-1 of"]) expect(text).toContain(`"'${start}`);
  expect(text).not.toMatch(/(^|,)"?[=+@-]/m);
  expect(REPORT_COLUMNS.map(({ name }) => name).slice(0, 6)).toEqual([
    "part",
    "name",
    "detail",
    "at",
    "by",
    "items",
  ]);
});
