"use client";
/** All tenants in scope: filters, table, paging, and every state that a list over several regions can be in. */
import type { ReactNode } from "react";
import { useTenants } from "#components/queries/tenants.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { TenantList, TenantRow } from "#db/console/list-tenants.ts";
import { formatAge } from "#domain/queue-age.ts";
import { TenantCards } from "./tenant-cards.tsx";
import { TenantFilterBar } from "./tenant-filter-bar.tsx";
import { TenantsTable, type TenantsTableProps } from "./tenants-table.tsx";
import { TENANT_PARAMETERS, type TenantFilters, useTenantFilters } from "./use-tenant-filters.ts";

const NO_ROWS: readonly TenantRow[] = [];
const keyOf = (row: TenantRow) => `${row.region}:${row.id}`;

/** Filters come from the address, rows from the API. */
export function TenantsPage() {
  const view = useTenantFilters();
  const query = useTenants(view.filters);
  const stale = useBehind();
  const list = query.data ?? null;
  const { rows, waiting, added, release, hold } = useSettledRows(
    list?.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(view.filters),
  );
  const paging = usePaging({
    list: "tenants",
    filters: view.filters,
    next: list?.next ?? null,
    busy: query.isPlaceholderData,
    go: view.page,
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <TenantFilterBar {...view} />
      <DroppedChips known={TENANT_PARAMETERS} />
      {list === null ? null : <SilentRegions list={list} />}
      <div {...hold}>
        <ListPanel
          title="Tenants"
          note={list ? <OrderNote list={list} byName={view.filters.sort === "name"} /> : undefined}
          stale={stale}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          {...paging}
        >
          {standIn(query.error, list, view, () => void query.refetch()) ?? (
            <Rows rows={list ? rows : null} list={list} busy={query.isPlaceholderData} />
          )}
          {waiting && added === 0 && list !== null ? <NewOrder onShow={release} /> : null}
        </ListPanel>
      </div>
    </div>
  );
}

function Rows(props: TenantsTableProps) {
  return useNarrow() ? <TenantCards {...props} /> : <TenantsTable {...props} />;
}

function NewOrder({ onShow }: { onShow: () => void }) {
  return (
    <p className="flex items-center gap-3 border-line border-t px-4 py-2 text-muted text-table">
      The order has changed since you pointed at the table.
      <Button onClick={onShow}>Show the new order</Button>
    </p>
  );
}

/** What the order is of: ages are live, places are those of the newest sample. */
function OrderNote({ list, byName }: { list: TenantList; byName: boolean }) {
  const [first] = list.regions.flatMap((answer) => (answer.status === "ok" ? [answer] : []));
  if (first === undefined) return null;
  const sampled = list.regions.flatMap((answer) =>
    answer.status === "ok" && answer.data.sampledAt !== null
      ? [{ at: answer.data.sampledAt, asOf: answer.asOf }]
      : [],
  );
  const oldestMs = Math.max(0, ...sampled.map(({ at, asOf }) => ageAt(at, asOf)));
  return (
    <>
      {byName
        ? "by name"
        : sampled.length === 0
          ? "by name: no sample says who is worst"
          : `worst age first by the sample of ${formatAge(oldestMs)} ago`}
      , numbers as of <Timestamp iso={first.asOf} form="clock" named />
    </>
  );
}

/** A region that did not answer is named; its tenants are unknown, not gone. */
function SilentRegions({ list }: { list: TenantList }) {
  const silent = list.regions.flatMap((answer) => (answer.status === "unavailable" ? [answer] : []));
  if (silent.length === 0 || silent.length === list.regions.length) return null;
  return (
    <p role="status" className="rounded-lg border border-line border-dashed px-4 py-2.5 text-table text-warn">
      {silent.map(({ region, detail }) => `${region.toUpperCase()} did not answer: ${detail}`).join(" ")} Its
      tenants are not in this list, which does not mean that there are none.
    </p>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  list: TenantList | null,
  view: TenantFilters,
  retry: () => void,
): ReactNode {
  if (list === null) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (list.rows.length > 0) return null;
  const silent = list.regions.flatMap((answer) => (answer.status === "unavailable" ? [answer] : []));
  if (silent.length === list.regions.length && silent.length > 0) {
    return (
      <Notice kind="unavailable" title="No region answers">
        {silent.map(({ region, detail }) => `${region.toUpperCase()}: ${detail}`).join(" ")} Workers go on
        without the console; this page asks again every 5 s.
      </Notice>
    );
  }
  if (view.narrowed) {
    return (
      <Notice
        kind="no-match"
        title="No tenant matches"
        actions={<Button onClick={view.clear}>Clear filters</Button>}
      >
        The class comes from the newest sample: a tenant without live work has none.
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No tenant yet">
      A tenant is created over the API: POST /api/v1/tenants.
    </Notice>
  );
}
