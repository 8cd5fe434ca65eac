"use client";
/** What came of an ended batch. It never changes again; its numbers add up to what was frozen. */
import { Download } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { replayReportExportPath, useReplayReport } from "#components/queries/replays.ts";
import { ITEM_STATE_WORDS } from "#components/replays/replay-words.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { CardField, Cards, StackedCard } from "#components/ui/cards.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { reasonWords } from "#components/ui/words.ts";
import type { ReplayReport } from "#db/console/replay/replay-views.ts";
import { formatAge, NO_DATA } from "#domain/queue-age.ts";
import { type ReplayCounts, type ReplayItemState, totalCount } from "#domain/replay.ts";
import { EventList } from "./events.tsx";
import { laneName } from "./lane-name.ts";
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
        <Found report={answer.data} region={region} view={view} />
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

function Found({ report, region, view }: Pick<Seen, "region" | "view"> & { report: ReplayReport }) {
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
          name: laneName(lane),
          href: `/destinations/${lane.destinationId}?region=${region}`,
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
          <div className="mt-1">
            <EventList region={region} lanes={view.lanes} events={report.stops} />
          </div>
        </section>
      )}
    </div>
  );
}

function Facts({ report }: { report: ReplayReport }) {
  const { people, timings } = report;
  const changedBy = people.editors.filter((editor) => editor !== people.requestedBy);
  const second =
    people.breakGlassBy === null
      ? people.approvedBy === null
        ? "nobody"
        : actorWords(people.approvedBy)
      : `nobody: ${actorWords(people.breakGlassBy)} broke the glass`;
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
      <Fact label="Drafted by">{actorWords(people.requestedBy)}</Fact>
      {changedBy.length === 0 ? null : <Fact label="Changed by">{changedBy.map(actorWords).join(", ")}</Fact>}
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

interface CountRow {
  key: string;
  name: string;
  /** Absent: there is no page of it. */
  href?: string;
  counts: ReplayCounts;
  note: string | null;
}

interface CountTableProps {
  caption: string;
  first: string;
  rows: readonly CountRow[];
  /** What all rows add up to, as the report has it. */
  total: CountRow;
}

function CountTable({ caption, first, rows, total }: CountTableProps) {
  const narrow = useNarrow();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)]">
      <h3 className="font-medium text-table">{caption}</h3>
      {narrow ? (
        <Cards caption={caption} busy={false}>
          {[...rows, total].map((row) => (
            <CountCard key={row.key} row={row} />
          ))}
        </Cards>
      ) : (
        <Table caption={caption} columns={columnsOf(first)}>
          {[...rows, total].map((row) => (
            <CountLine key={row.key} row={row} isTotal={row.key === total.key} />
          ))}
        </Table>
      )}
    </div>
  );
}

function columnsOf(first: string): Column[] {
  return [
    { key: "name", label: first },
    ...ENDS.map((state) => ({ key: state, label: ITEM_STATE_WORDS[state].label, align: "right" as const })),
    { key: "all", label: "Frozen", align: "right" },
    { key: "note", label: "Stopped because" },
  ];
}

function CountLine({ row, isTotal }: { row: CountRow; isTotal: boolean }) {
  const { name, href, counts, note } = row;
  return (
    <Row className={isTotal ? "font-semibold" : ""}>
      <HeadCell>
        {href === undefined ? (
          name
        ) : (
          <Link
            href={href}
            prefetch={false}
            className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
          >
            {name}
          </Link>
        )}
      </HeadCell>
      {ENDS.map((state) => (
        <Cell key={state} align="right">
          {formatCount(counts[state])}
        </Cell>
      ))}
      <Cell align="right">{formatCount(totalCount(counts))}</Cell>
      <Cell wrap className="max-w-96">
        {note}
      </Cell>
    </Row>
  );
}

/** On a phone only the ends that entries came to: the rest are zero. */
function CountCard({ row: { name, href, counts, note } }: { row: CountRow }) {
  return (
    <StackedCard name={name} href={href}>
      {ENDS.filter((state) => counts[state] > 0).map((state) => (
        <CardField key={state} label={ITEM_STATE_WORDS[state].label}>
          {formatCount(counts[state])}
        </CardField>
      ))}
      <CardField label="Frozen">{formatCount(totalCount(counts))}</CardField>
      {note === null ? null : <CardField label="Stopped because">{note}</CardField>}
    </StackedCard>
  );
}
