"use client";
/** The dead letters of one region one by one, latest death first: table, paging, and every state of a list. */
import type { ReactNode } from "react";
import { useSelection } from "#components/deliveries/use-selection.ts";
import { deadLetterExportPath, useDeadLetterEntries } from "#components/queries/dead-letters.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { Chip } from "#components/ui/chip.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { DeadLetterPage, DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DeadLettersTable, type DeadLettersTableProps } from "./dead-letters-table.tsx";
import { EntryCards } from "./entry-cards.tsx";
import { EntryDrafting } from "./entry-drafting.tsx";
import { NoDeadLetters, RegionSilent } from "./notices.tsx";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

const NO_ROWS: readonly DeadLetterRow[] = [];
const keyOf = (row: DeadLetterRow) => row.id;

export function EntryList({ list }: { list: DeadLetterFilters }) {
  const query = useDeadLetterEntries(list.filters, true);
  const stale = useBehind();
  const page = query.data?.status === "ok" ? query.data : null;
  const selection = useSelection(JSON.stringify(list.filters));
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
    selection.ids.size > 0,
  );
  const paging = usePaging({
    list: "dead letters",
    filters: list.filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: list.page,
  });
  const ticked = rows.filter(({ id }) => selection.ids.has(id)).map(({ id }) => id);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      {list.group === null ? null : <OneCause group={list.group} list={list} />}
      <div {...hold}>
        <ListPanel
          title={`Dead letters in ${list.region.toUpperCase()}`}
          note={page ? <ListNote asOf={page.asOf} /> : undefined}
          stale={stale}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          {...paging}
        >
          {page && page.data.rows.length > 0 ? (
            <EntryDrafting list={list} asOf={page.asOf} ticked={ticked} />
          ) : null}
          {standIn(query.error, query.data, list, () => void query.refetch()) ?? (
            <Entries
              caption="Dead letters, latest first"
              region={list.region}
              rows={page ? rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
              selection={selection}
            />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-4 py-1.5 text-faint text-table">
            Export this list
            <ExportLinks path={deadLetterExportPath("dead-letters", list.filters)} what="dead letters" />
          </div>
        </ListPanel>
      </div>
    </div>
  );
}

function Entries(props: DeadLettersTableProps) {
  return useNarrow() ? <EntryCards {...props} /> : <DeadLettersTable {...props} />;
}

function ListNote({ asOf }: { asOf: string }) {
  return (
    <>
      latest first, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

/** The filter by one cause has no select: it comes from the cause's panel. */
function OneCause({ group, list }: { group: string; list: DeadLetterFilters }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-muted text-table">
      Only entries of one cause
      <Chip
        label={`…${group.slice(-6)}`}
        action="Show entries of every cause"
        onRemove={() => list.set({ group: null })}
      />
      <Button variant="quiet" onClick={() => list.show("groups", group)}>
        Open the cause
      </Button>
    </p>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DeadLetterPage> | undefined,
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
