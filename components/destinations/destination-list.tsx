"use client";
/** A paged list of destinations with every state that it can be in. Its filters are given; a tenant's page shows its own. */
import { type ReactNode, useState } from "react";
import type { Filters } from "#components/queries/deliveries.ts";
import { useDestinations } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { DestinationPage } from "#db/console/list-destinations.ts";
import type { DestinationHealth } from "#db/console/read-destination-health.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Region } from "#domain/region.ts";
import { DestinationCards } from "./destination-cards.tsx";
import { DestinationsTable, type DestinationsTableProps } from "./destinations-table.tsx";

const NO_ROWS: readonly DestinationHealth[] = [];
const keyOf = (row: DestinationHealth) => row.id;

export interface DestinationTableListProps {
  title: string;
  region: Region;
  /** What the API is asked for, region and cursor included. */
  filters: Filters;
  narrowed: boolean;
  onPage: (cursor: string | null) => void;
  onClear: () => void;
}

export function DestinationTableList(props: DestinationTableListProps) {
  const { title, region, filters, onPage } = props;
  const query = useDestinations(filters);
  const stale = useBehind();
  const answer = query.data;
  const page = answer?.status === "ok" ? answer : null;
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(filters),
  );
  const paging = usePaging({
    list: "destinations",
    filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: onPage,
  });
  return (
    <div {...hold}>
      <ListPanel
        title={title}
        note={page ? <ListNote asOf={page.asOf} byName={filters.sort === "name"} /> : undefined}
        stale={stale}
        added={query.isPlaceholderData ? 0 : added}
        onShowAdded={release}
        {...paging}
      >
        {standIn(query.error, answer, props, () => void query.refetch()) ?? (
          <Rows
            region={region}
            ofOneTenant={Boolean(filters.tenant)}
            rows={page ? rows : null}
            asOf={page?.asOf ?? null}
            busy={query.isPlaceholderData}
          />
        )}
      </ListPanel>
    </div>
  );
}

function Rows(props: DestinationsTableProps) {
  return useNarrow() ? <DestinationCards {...props} /> : <DestinationsTable {...props} />;
}

/** The destinations of one tenant, trouble first; its page has no filters of its own. */
export function DestinationList({
  region,
  tenant,
  title,
}: {
  region: Region;
  tenant: string;
  title: string;
}) {
  const [cursor, setCursor] = useState<string | null>(null);
  return (
    <DestinationTableList
      title={title}
      region={region}
      filters={{ region, tenant, cursor }}
      narrowed={false}
      onPage={setCursor}
      onClear={() => setCursor(null)}
    />
  );
}

function ListNote({ asOf, byName }: { asOf: string; byName: boolean }) {
  return (
    <>
      {byName ? "by name" : "trouble first"}, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<DestinationPage> | undefined,
  { narrowed, onClear }: DestinationTableListProps,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`}>
        {answer.detail} Its destinations are not shown, which does not mean that there are none. The other
        region can be read as usual; this page asks again every 5 s.
      </Notice>
    );
  }
  if (answer.data.rows.length > 0) return null;
  if (narrowed) {
    return (
      <Notice
        kind="no-match"
        title="No destination matches"
        actions={<Button onClick={onClear}>Clear filters</Button>}
      >
        Names and hosts are searched, never paths. A destination of the other region is not shown here.
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No destination yet">
      A destination is created over the API: POST /api/v1/destinations. Its signing secret is in that answer
      and nowhere else.
    </Notice>
  );
}
