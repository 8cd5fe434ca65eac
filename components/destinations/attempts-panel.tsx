"use client";
/** The newest attempts at one destination. Response bodies are not here. */
import Link from "next/link";
import { useDestinationAttempts } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Nothing } from "#components/tenants/figures.tsx";
import { Missing } from "#components/tenants/missing.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import { outcomeWords } from "#components/ui/words.ts";
import type { DestinationAttempt } from "#db/console/read-destination-attempts.ts";
import type { Region } from "#domain/region.ts";

const SKELETON_ROWS = 12;
const NO_ROWS: readonly DestinationAttempt[] = [];
const keyOf = (row: DestinationAttempt) => row.id;
const COLUMNS: readonly Column[] = [
  { key: "at", label: "Started" },
  { key: "delivery", label: "Delivery" },
  { key: "number", label: "Attempt", align: "right" },
  { key: "lane", label: "Lane" },
  { key: "result", label: "Result" },
  { key: "ms", label: "Duration", align: "right" },
  { key: "retry", label: "Retry-After" },
  { key: "decision", label: "Then" },
];

export function AttemptsPanel({ region, destinationId }: { region: Region; destinationId: string }) {
  const query = useDestinationAttempts(region, destinationId);
  const stale = useBehind();
  const data = query.isPlaceholderData ? undefined : query.data;
  const page = data?.status === "ok" ? data : null;
  const settled = useSettledRows(page?.data.attempts ?? NO_ROWS, keyOf, destinationId);
  if (page === null && (query.error !== null || data !== undefined)) {
    return (
      <Missing
        what="destination"
        region={region}
        error={query.error}
        answer={data}
        onRetry={() => void query.refetch()}
      />
    );
  }
  return (
    <div {...settled.hold}>
      <ListPanel
        title="Newest attempts"
        note={page ? noteOf(page.data.attempts.length, page.data.more, page.data.days) : undefined}
        stale={stale}
        added={settled.added}
        onShowAdded={settled.release}
        onNext={null}
        onFirst={null}
      >
        {page !== null && page.data.attempts.length === 0 ? (
          <Notice kind="empty" title={`No attempt in ${plural(page.data.days, "day")}`} compact>
            Every request to this destination is listed here with its answer.
          </Notice>
        ) : (
          <Table pinned caption="Attempts, newest first" columns={COLUMNS}>
            {page === null ? (
              <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
            ) : (
              settled.rows.map((row) => <AttemptLine key={row.id} row={row} />)
            )}
          </Table>
        )}
      </ListPanel>
    </div>
  );
}

function noteOf(shown: number, more: boolean, days: number): string {
  return more
    ? `the newest ${shown}; older ones are on their deliveries`
    : `all of the last ${plural(days, "day")}`;
}

function AttemptLine({ row }: { row: DestinationAttempt }) {
  const words = outcomeWords(row.outcome);
  return (
    <Row>
      <HeadCell>
        <Timestamp iso={row.startedAt} plain />
      </HeadCell>
      <Cell>
        <Link
          href={`/deliveries/${row.deliveryId}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
        >
          <ShortId id={row.deliveryId} />
        </Link>
      </Cell>
      <Cell align="right">{row.number}</Cell>
      <Cell className="text-muted">{row.lane}</Cell>
      <Cell>
        <StatusText
          tone={words.tone}
          icon={words.icon}
          label={row.status === null ? words.label : `${row.status} ${words.label}`}
        />
        {row.errorCode === null ? null : <span className="text-muted"> {row.errorCode}</span>}
      </Cell>
      <Cell align="right">{row.kind === "http" ? `${formatCount(row.durationMs)} ms` : <NoRequest />}</Cell>
      <Cell>
        {row.retryAfterRaw === null ? (
          <Nothing label="none" />
        ) : (
          <code className="font-mono">{row.retryAfterRaw.slice(0, 40)}</code>
        )}
      </Cell>
      <Cell className="text-muted">
        {row.decision}
        {row.nextDueAt === null ? null : (
          <>
            {" until "}
            <Timestamp iso={row.nextDueAt} plain />
          </>
        )}
      </Cell>
    </Row>
  );
}

function NoRequest() {
  return <span className="text-faint">no request</span>;
}
