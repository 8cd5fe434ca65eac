/** The columns of a batch's exported entries and of its report. Words, ids and numbers only: no body, no header, no path of a URL. */
import type { ReplayItemView, ReplayReport } from "#db/console/replay/replay-views.ts";
import { REPLAY_ITEM_STATES, type ReplayCounts } from "#domain/replay.ts";
import type { ExportColumn } from "./export.ts";

export const REPLAY_ITEM_COLUMNS: readonly ExportColumn<ReplayItemView>[] = [
  { name: "id", value: (row) => row.id },
  { name: "tenant_id", value: (row) => row.tenantId },
  { name: "destination_id", value: (row) => row.destinationId },
  { name: "reason", value: (row) => row.reason },
  { name: "state", value: (row) => row.state },
  { name: "why", value: (row) => row.why },
  { name: "canary", value: (row) => row.canary },
  { name: "seq", value: (row) => row.seq },
  { name: "recalls", value: (row) => row.recalls },
  { name: "attempts", value: (row) => row.attempts },
  { name: "last_outcome", value: (row) => row.lastOutcome },
  { name: "last_status", value: (row) => row.lastStatus },
  { name: "died_at", value: (row) => row.diedAt },
  { name: "released_at", value: (row) => row.releasedAt },
  { name: "ended_at", value: (row) => row.endedAt },
];

/** A line of the report: the whole batch, one destination of it, one reason of it, or something that happened. */
export interface ReportLine {
  readonly part: "batch" | "destination" | "reason" | "event";
  readonly name: string;
  readonly detail: string | null;
  readonly at: string | null;
  readonly by: string | null;
  readonly counts: ReplayCounts | null;
}

export const REPORT_COLUMNS: readonly ExportColumn<ReportLine>[] = [
  { name: "part", value: ({ part }) => part },
  { name: "name", value: ({ name }) => name },
  { name: "detail", value: ({ detail }) => detail },
  { name: "at", value: ({ at }) => at },
  { name: "by", value: ({ by }) => by },
  {
    name: "items",
    value: ({ counts }) => (counts === null ? null : Object.values(counts).reduce((sum, n) => sum + n, 0)),
  },
  ...REPLAY_ITEM_STATES.map((state) => ({
    name: state,
    value: ({ counts }: ReportLine) => counts?.[state] ?? null,
  })),
];

/** The report as lines, whose counts add up to those of the batch in each part. */
export function reportLines(report: ReplayReport): ReportLine[] {
  const { people, timings } = report;
  const by = people.approvedBy ?? people.breakGlassBy;
  const batch = (name: string, detail: string | number | null, more: Partial<ReportLine> = {}) => ({
    part: "batch" as const,
    name,
    detail: detail === null ? null : String(detail),
    at: null,
    by: null,
    counts: null,
    ...more,
  });
  return [
    batch(report.id, report.name, { counts: report.counts, by: people.requestedBy, at: report.createdAt }),
    batch("state", report.state, { at: report.endedAt }),
    batch("cause", report.cause),
    batch("reason", report.reason),
    batch("ticket", report.ticket),
    batch("root_cause", report.rootCause),
    batch("fix_url", report.fixUrl),
    batch("follows", report.parentId),
    batch("sha256", report.sha256),
    batch("policy_version", report.policyVersion),
    batch("submitted", null, { at: timings.submittedAt }),
    batch(people.breakGlassBy === null ? "approved" : "break_glass", null, { at: timings.approvedAt, by }),
    batch("started", null, { at: timings.startedAt }),
    batch("canary_ended", null, { at: timings.canaryEndedAt }),
    batch("duration_ms", report.durationMs),
    batch("requests", report.requests),
    batch("amplification", report.amplification),
    batch("left_as_dead_letters", report.left),
    ...report.byDestination.map(({ destinationId, destinationName, stopText, counts }) => ({
      ...batch(destinationId, stopText ?? destinationName),
      part: "destination" as const,
      counts,
    })),
    ...report.byReason.map(({ reason, counts }) => ({
      ...batch(reason, null),
      part: "reason" as const,
      counts,
    })),
    ...report.stops.map(({ at, kind, actor, detail }) => ({
      ...batch(kind, detail, { at, by: actor }),
      part: "event" as const,
    })),
  ];
}
