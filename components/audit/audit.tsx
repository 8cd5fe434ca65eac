"use client";
/** The audit of one region: who did or tried what, when and why. It can be read and exported; nothing here changes it. */
import type { ReactNode } from "react";
import { auditExportPath, useAudit } from "#components/queries/audit.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { Button } from "#components/ui/button.tsx";
import { DroppedChips } from "#components/ui/dropped-chips.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ExportLinks } from "#components/ui/export-links.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SidePanel } from "#components/ui/side-panel.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { useNarrow } from "#components/ui/use-narrow.ts";
import { usePaging } from "#components/ui/use-paging.ts";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { AuditPage, AuditRow } from "#db/console/list-audit.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { AuditCards } from "./audit-cards.tsx";
import { AuditDetail } from "./audit-detail.tsx";
import { AuditFilterBar } from "./audit-filter-bar.tsx";
import { AuditTable, type AuditTableProps } from "./audit-table.tsx";
import { actionText } from "./audit-words.ts";
import { AUDIT_PARAMETERS, type AuditFilters, useAuditFilters } from "./use-audit-filters.ts";

const NO_ROWS: readonly AuditRow[] = [];
const keyOf = (row: AuditRow) => row.id;

/** Filters come from the address, rows from the API. */
export function AuditPageView() {
  const list = useAuditFilters();
  const query = useAudit(list.filters);
  const stale = useBehind();
  const page = query.data?.status === "ok" ? query.data : null;
  const { rows, added, release, hold } = useSettledRows(
    page?.data.rows ?? NO_ROWS,
    keyOf,
    query.isPlaceholderData ? "before" : JSON.stringify(list.filters),
  );
  const paging = usePaging({
    list: "audit",
    filters: list.filters,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: list.page,
  });
  const open = rows.find((row) => row.id === list.panel) ?? null;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <AuditFilterBar key={JSON.stringify(list.filters)} list={list} />
      <DroppedChips known={AUDIT_PARAMETERS} />
      <div {...hold}>
        <ListPanel
          title={`Audit of ${list.region.toUpperCase()}`}
          note={page ? <ListNote asOf={page.asOf} /> : undefined}
          stale={stale}
          added={query.isPlaceholderData ? 0 : added}
          onShowAdded={release}
          {...paging}
        >
          {standIn(query.error, query.data, list, () => void query.refetch()) ?? (
            <Rows
              rows={page ? rows : null}
              asOf={page?.asOf ?? null}
              busy={query.isPlaceholderData}
              open={list.panel}
              onOpen={list.open}
            />
          )}
          <div className="flex flex-wrap items-center justify-end gap-2 border-line border-t px-4 py-1.5 text-faint text-table">
            Export this list
            <ExportLinks path={auditExportPath(list.filters)} what="audit" />
          </div>
        </ListPanel>
      </div>
      <SidePanel
        open={open !== null}
        onClose={() => list.open(null)}
        title={open === null ? "" : `Audit: ${actionText(open.action)}`}
      >
        {open === null ? null : <AuditDetail row={open} onSameTrail={(change) => list.set(change)} />}
      </SidePanel>
    </div>
  );
}

function Rows(props: AuditTableProps) {
  return useNarrow() ? <AuditCards {...props} /> : <AuditTable {...props} />;
}

function ListNote({ asOf }: { asOf: string }) {
  return (
    <>
      newest first, only ever added to, as of <Timestamp iso={asOf} form="clock" named />
    </>
  );
}

/** What stands in the place of the table, or null when there are rows or they are being read. */
function standIn(
  error: Error | null,
  answer: RegionAnswer<AuditPage> | undefined,
  list: AuditFilters,
  retry: () => void,
): ReactNode {
  if (answer === undefined) return error === null ? null : <ErrorNotice error={error} onRetry={retry} />;
  if (answer.status === "unavailable") {
    return (
      <Notice kind="unavailable" title={`Region ${answer.region.toUpperCase()} does not answer`}>
        {answer.detail} Its audit is not shown, which does not mean that it is empty. The other region can be
        read as usual; this page asks again every 5 s.
      </Notice>
    );
  }
  if (answer.data.rows.length > 0) return null;
  if (list.narrowed) {
    return (
      <Notice
        kind="no-match"
        title="Nothing in the audit matches"
        actions={<Button onClick={list.clear}>Clear filters</Button>}
      >
        Actors, targets and actions are compared exactly.
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="Nothing in the audit yet">
      A row appears here with every control, in the same transaction as the change itself. Tries that were
      denied or came too late stand here too.
    </Notice>
  );
}
