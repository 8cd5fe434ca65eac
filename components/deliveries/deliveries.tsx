"use client";
/** The list of deliveries of one region: filters, table, paging, and every state that a list can be in. */
import type { ReactNode } from "react";
import { useDeliveries } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { DeliveryPage, DeliveryRow } from "#db/console/list-deliveries.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { DeliveriesTable } from "./deliveries-table.tsx";
import { DeliveryFilterBar } from "./delivery-filter-bar.tsx";
import { DELIVERY_PARAMETERS, useDeliveryFilters } from "./use-delivery-filters.ts";

const NO_ROWS: readonly DeliveryRow[] = [];
const keyOf = (row: DeliveryRow) => row.id;

/** Filters come from the address, rows from the API. */
export function DeliveriesPage() {
  const list = useDeliveryFilters();
  const query = useDeliveries(list.filters);
  const stale = useBehind();
  const answer = query.data;
  const page = answer?.status === "ok" ? answer : null;
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
  );
  const next = page?.data.next ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <DeliveryFilterBar {...list} />
      <DroppedChips known={DELIVERY_PARAMETERS} />
      <div {...hold}>
        <ListPanel
          title={`Deliveries in ${list.region.toUpperCase()}`}
          note={page ? <ListNote asOf={page.asOf} /> : undefined}
          stale={stale}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          onNext={next === null ? null : () => list.page(next)}
          onFirst={list.filters.cursor ? () => list.page(null) : null}
        >
          {standIn(query.error, answer, list.narrowed, list.clear, () => void query.refetch()) ?? (
            <DeliveriesTable
              rows={page ? rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
            />
          )}
        </ListPanel>
      </div>
    </div>
  );
}

function ListNote({ asOf }: { asOf: string }) {
  return (
    <>
      newest first, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DeliveryPage> | undefined,
  narrowed: boolean,
  clear: () => void,
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
