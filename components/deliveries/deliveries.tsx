"use client";
/** The list of deliveries of one region: filters, table or cards, selection, side panel, paging, and every state of a list. */
import { type ReactNode, useRef } from "react";
import { DeliveryPanel } from "#components/delivery/delivery-panel.tsx";
import { exportPath, useDeliveries } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { useListKeys } from "#components/shell/use-list-keys.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { ListPanel, type ListPanelProps } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { DeliveryPage, DeliveryRow } from "#db/console/list-deliveries.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DeliveriesTable } from "./deliveries-table.tsx";
import { DeliveryCards } from "./delivery-cards.tsx";
import { DeliveryFilterBar } from "./delivery-filter-bar.tsx";
import { orderWords, totalWords } from "./list-words.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { DELIVERY_PARAMETERS, type DeliveryFilters, useDeliveryFilters } from "./use-delivery-filters.ts";
import { type Selection, useSelection } from "./use-selection.ts";

const NO_ROWS: readonly DeliveryRow[] = [];
const keyOf = (row: DeliveryRow) => row.id;

/** Filters come from the address, rows from the API. `traceUrl`: where a trace id leads to, or null. */
export function DeliveriesPage({ traceUrl }: { traceUrl: string | null }) {
  const list = useDeliveryFilters();
  const query = useDeliveries(list.filters);
  const page = query.data?.status === "ok" ? query.data : null;
  const { panel, selection, settled } = useRows(list, page?.data.rows ?? NO_ROWS, query.isPlaceholderData);
  const { rows, added, release, hold } = settled;
  const paging = usePaging({
    list: "deliveries",
    filters: list.filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: list.page,
  });
  // Pages and new rows are the list panel's keys.
  useListKeys({ onEscape: selection.clear, rows: panel });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DeliveryFilterBar {...list} />
      <DroppedChips known={DELIVERY_PARAMETERS} />
      {page?.data.window.byDefault ? <DefaultWindow window={page.data.window} asOf={page.asOf} /> : null}
      <div ref={panel} {...hold}>
        <LivePanel
          title={`Deliveries in ${list.region.toUpperCase()}`}
          note={page ? <ListNote page={page.data} asOf={page.asOf} /> : undefined}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          {...paging}
        >
          <SelectionBar selection={selection} region={list.region} rows={rows} />
          {standIn(query.error, query.data, list, () => void query.refetch()) ?? (
            <Rows
              rows={page ? rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
              order={page?.data.order}
              list={list}
              selection={selection}
            />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-4 py-1.5 text-faint text-table">
            Export this list
            <ExportLinks path={exportPath(list.filters)} what="deliveries" />
          </div>
        </LivePanel>
      </div>
      <DeliveryPanel id={list.panel} onClose={() => list.openPanel(null)} traceUrl={traceUrl} />
    </div>
  );
}

/** Looks at the freshness by itself: the age of a stale answer changes each second, and the rows need not be drawn for it. */
function LivePanel(props: Omit<ListPanelProps, "stale">) {
  return <ListPanel {...props} stale={useBehind()} />;
}

/** Rows that stay where they are while one is pointed at, ticked or open, and the ticks themselves. */
function useRows(list: DeliveryFilters, latest: readonly DeliveryRow[], isPlaceholder: boolean) {
  const panel = useRef<HTMLDivElement>(null);
  const scope = JSON.stringify(list.filters);
  const selection = useSelection(scope);
  const pinned = selection.ids.size > 0 || list.panel !== null;
  const settled = useSettledRows(latest, keyOf, isPlaceholder ? "before" : scope, pinned);
  return { panel, selection, settled };
}

interface RowsProps {
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
  order: DeliveryPage["order"] | undefined;
  list: DeliveryFilters;
  selection: Selection;
}

function Rows({ rows, asOf, busy, order, list, selection }: RowsProps) {
  const caption = `Deliveries, ${orderWords(order)}`;
  if (useNarrow()) return <DeliveryCards rows={rows} asOf={asOf} busy={busy} caption={caption} />;
  return (
    <DeliveriesTable
      rows={rows}
      asOf={asOf}
      busy={busy}
      caption={caption}
      region={list.region}
      said={{ tenant: Boolean(list.filters.tenant) }}
      selection={selection}
      open={list.panel}
      onPeek={(id) => list.openPanel(list.panel === id ? null : id)}
    />
  );
}

function ListNote({ page, asOf }: { page: DeliveryPage; asOf: string }) {
  return (
    <>
      {page.total === null ? null : `${totalWords(page.total)}, `}
      {orderWords(page.order)}, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

/** A list that looks at one day only must say so. */
function DefaultWindow({ window, asOf }: { window: DeliveryPage["window"]; asOf: string }) {
  return (
    <p role="status" className="text-muted text-table">
      This filter looks at one day of accepted deliveries:{" "}
      {window.from === null ? null : <Timestamp iso={window.from} named />} to{" "}
      <Timestamp iso={window.to ?? asOf} named />. Choose an acceptance time for another one.
    </p>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DeliveryPage> | undefined,
  { narrowed, clear }: DeliveryFilters,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`}>
        {answer.detail} Its deliveries are not shown, which does not mean that there are none. The other
        region can be read as usual; this page asks again every 5 s.
      </Notice>
    );
  }
  if (answer.data.rows.length > 0) return null;
  if (narrowed) {
    return (
      <Notice
        kind="no-match"
        title="No delivery matches"
        actions={<Button onClick={clear}>Clear filters</Button>}
      >
        Ids and keys are compared exactly. A delivery of the other region is not shown here.
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No delivery yet">
      A row appears here in the moment in which a business transaction that enqueued a delivery commits.
    </Notice>
  );
}
