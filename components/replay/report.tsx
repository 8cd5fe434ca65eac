"use client";
/** What came of an ended batch. It never changes again; its numbers add up to what was frozen. */
import { Download } from "lucide-react";
import type { ReactNode } from "react";
import { replayReportExportPath, useReplayReport } from "#components/queries/replays.ts";
import { ITEM_STATE_WORDS } from "#components/replays/replay-words.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Cell, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { reasonWords } from "#components/ui/words.ts";
import type { ReplayReport } from "#db/console/replay/replay-views.ts";
import { formatAge, NO_DATA } from "#domain/queue-age.ts";
import type { ReplayCounts, ReplayItemState } from "#domain/replay.ts";
import type { Seen } from "./seen.ts";

const FORMATS = [
  { format: "csv", label: "CSV" },
  { format: "json", label: "JSON" },
] as const;
const ENDS: readonly ReplayItemState[] = ["delivered", "dead_again", "skipped", "recalled", "not_released"];

export function Report({ region, view }: Seen) {
  const query = useReplayReport(region, view.id);
  const answer = query.data;
  return (
    <Panel
      title="Report"
      note="it never changes again"
      actions={
        <span className="flex items-center gap-1">
          {FORMATS.map(({ format, label }) => (
            <a
              key={format}
              href={`${replayReportExportPath(region, view.id)}&format=${format}`}
              download
              aria-label={`Export the report as ${label}`}
              className="inline-flex h-8 items-center gap-1 rounded-md px-2 font-medium text-muted text-table hover:bg-hover hover:text-fg max-md:h-11"
            >
              <Download aria-hidden="true" className="size-3.5" />
              {label}
            </a>
          ))}
        </span>
      }
    >
      {answer?.status === "ok" ? (
        <Found report={answer.data} />
      ) : answer?.status === "unavailable" ? (
        <p className="text-muted">{answer.detail}</p>
      ) : query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-64 w-full" />
      )}
    </Panel>
  );
}

function Found({ report }: { report: ReplayReport }) {
  const total = { key: "all", name: "All", counts: report.counts, note: null };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <p className="font-semibold text-figure tracking-tight">
        {formatCount(report.counts.delivered)} of {plural(report.total, "entry", "entries")} delivered
      </p>
      <Facts report={report} />
      <CountTable
        total={total}
        caption="By destination"
        first="Destination"
        rows={report.byDestination.map((lane) => ({
          key: lane.destinationId,
          name: lane.destinationName ?? `…${lane.destinationId.slice(-6)}`,
          counts: lane.counts,
          note: lane.stopText,
        }))}
      />
      <CountTable
        total={total}
        caption="By reason"
        first="Died of"
        rows={report.byReason.map(({ reason, counts }) => ({
          key: reason,
          name: reasonWords(reason),
          counts,
          note: null,
        }))}
      />
      {report.stops.length === 0 ? null : (
        <section aria-label="Pauses and stops" className="text-table">
          <h3 className="font-medium">Pauses and stops</h3>
          <ol className="mt-1 grid gap-1">
            {report.stops.map((event) => (
              <li key={`${event.at}${event.kind}${event.detail}`} className="break-words">
                <Timestamp iso={event.at} named plain /> · {event.actor} · {event.kind.replaceAll("_", " ")}
                {event.detail === null ? null : <span className="block text-muted">{event.detail}</span>}
              </li>
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}

function sumOf(counts: ReplayCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function Facts({ report }: { report: ReplayReport }) {
  const { people, timings } = report;
  const changedBy = people.editors.filter((editor) => editor !== people.requestedBy);
  const second =
    people.breakGlassBy === null
      ? (people.approvedBy ?? "nobody")
      : `nobody: ${people.breakGlassBy} broke the glass`;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-table">
      <Fact label="Took">{report.durationMs === null ? NO_DATA : formatAge(report.durationMs)}</Fact>
      <Fact label="Requests">
        {formatCount(report.requests)}
        {report.amplification === null
          ? ""
          : `, ${report.amplification.toFixed(2)} for each delivery that was sent`}
      </Fact>
      <Fact label="Left untouched">{plural(report.left, "dead letter")}</Fact>
      <Fact label="Root cause">{report.rootCause ?? "not named"}</Fact>
      <Fact label="Drafted by">{people.requestedBy}</Fact>
      {changedBy.length === 0 ? null : <Fact label="Changed by">{changedBy.join(", ")}</Fact>}
      <Fact label="Second person">{second}</Fact>
      {Object.entries(TIMING_WORDS).map(([name, label]) => {
        const at = timings[name as keyof typeof timings];
        return at === null ? null : (
          <Fact key={name} label={label}>
            <Timestamp iso={at} named />
          </Fact>
        );
      })}
      <Fact label="Policy">
        {report.policyVersion === 0 ? "built-in" : `version ${report.policyVersion}`}
      </Fact>
      {report.sha256 === null ? null : (
        <Fact label="SHA-256">
          <code className="break-all font-mono">{report.sha256}</code>
        </Fact>
      )}
    </dl>
  );
}

const TIMING_WORDS: Readonly<Record<keyof ReplayReport["timings"], string>> = {
  createdAt: "Drafted",
  submittedAt: "Frozen",
  approvedAt: "Approved",
  startedAt: "Started",
  canaryEndedAt: "Canary ended",
  endedAt: "Ended",
};

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

interface CountTableProps {
  caption: string;
  first: string;
  rows: readonly CountRow[];
  /** What all rows add up to, as the report has it. */
  total: CountRow;
}

interface CountRow {
  key: string;
  name: string;
  counts: ReplayCounts;
  note: string | null;
}

function CountTable({ caption, first, rows, total }: CountTableProps) {
  const columns = [
    { key: "name", label: first },
    ...ENDS.map((state) => ({ key: state, label: ITEM_STATE_WORDS[state].label, align: "right" as const })),
    { key: "all", label: "Frozen", align: "right" as const },
    { key: "note", label: "Stopped because" },
  ];
  return (
    <Table caption={caption} columns={columns}>
      {[...rows, total].map(({ key, name, counts, note }) => (
        <Row key={key} className={key === total.key ? "font-semibold" : ""}>
          <HeadCell>{name}</HeadCell>
          {ENDS.map((state) => (
            <Cell key={state} align="right">
              {formatCount(counts[state])}
            </Cell>
          ))}
          <Cell align="right">{formatCount(sumOf(counts))}</Cell>
          <Cell className="max-w-96 whitespace-normal break-words">{note ?? ""}</Cell>
        </Row>
      ))}
    </Table>
  );
}
