"use client";
/** The causes of one region's dead letters: what is there by class, the table or cards, paging, and every state of a list. */
import type { ReactNode } from "react";
import { deadLetterExportPath, useDeadLetterGroups } from "#components/queries/dead-letters.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { formatCount, plural } from "#components/ui/format.ts";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { DeadLetterGroupPage, DeadLetterGroupRow } from "#db/console/list-dead-letter-groups.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { CauseCards } from "./cause-cards.tsx";
import { CauseTable } from "./cause-table.tsx";
import { ClassStrip } from "./class-strip.tsx";
import { NoDeadLetters, RegionSilent } from "./notices.tsx";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

const NO_ROWS: readonly DeadLetterGroupRow[] = [];
const keyOf = (row: DeadLetterGroupRow) => row.id;

export function CauseList({ list }: { list: DeadLetterFilters }) {
  const query = useDeadLetterGroups(list.filters, true);
  const stale = useBehind();
  const page = query.data?.status === "ok" ? query.data : null;
  const settled = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
  );
  const paging = usePaging({
    list: "causes",
    filters: list.filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: list.page,
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <ClassStrip
        page={page?.data ?? (query.data === undefined && query.error === null ? "reading" : null)}
        chosen={list.filters.cause ?? null}
        onChoose={(cause) => list.set({ cause })}
      />
      <div {...settled.hold}>
        <ListPanel
          title={`Causes in ${list.region.toUpperCase()}`}
          note={page ? <ListNote page={page.data} asOf={page.asOf} /> : undefined}
          stale={stale}
          added={query.isPlaceholderData ? 0 : settled.added}
          onShowAdded={settled.release}
          {...paging}
        >
          {page?.data.truncated ? <Truncated page={page.data} /> : null}
          {standIn(query.error, query.data, list, () => void query.refetch()) ?? (
            <Rows
              rows={page ? settled.rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
              list={list}
            />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-4 py-1.5 text-faint text-table">
            Export this list
            <ExportLinks path={deadLetterExportPath("dead-letter-groups", list.filters)} what="causes" />
          </div>
        </ListPanel>
      </div>
    </div>
  );
}

export interface CauseRowsProps {
  /** Null while nothing has been read. */
  rows: readonly DeadLetterGroupRow[] | null;
  asOf: string | null;
  busy: boolean;
  list: DeadLetterFilters;
}

function Rows(props: CauseRowsProps) {
  return useNarrow() ? <CauseCards {...props} /> : <CauseTable {...props} />;
}

function ListNote({ page, asOf }: { page: DeadLetterGroupPage; asOf: string }) {
  return (
    <>
      {plural(page.causes, "cause")}, newest entry first, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

function Truncated({ page }: { page: DeadLetterGroupPage }) {
  return (
    <p role="status" className="border-line border-b px-4 py-2 text-muted text-table">
      There are more than {formatCount(page.causesLimit)} causes. Those with the newest entries are shown;
      narrow the filter to see the others.
    </p>
  );
}

/** What stands in the place of the rows, or null when there are some or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DeadLetterGroupPage> | undefined,
  list: DeadLetterFilters,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") return <RegionSilent answer={answer} />;
  if (answer.data.rows.length > 0) return null;
  return (
    <NoDeadLetters
      narrowed={list.narrowed}
      latestDiedAt={answer.data.latestDiedAt}
      asOf={answer.asOf}
      action={<Button onClick={list.clear}>Clear filters</Button>}
    />
  );
}
