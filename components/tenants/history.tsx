"use client";
/** What was done or tried, with reasons, newest first: from the audit, which nobody can change. */
import Link from "next/link";
import { useState } from "react";
import { actionText } from "#components/audit/audit-words.ts";
import { useAudit } from "#components/queries/audit.ts";
import type { Filters } from "#components/queries/deliveries.ts";
import { useBehind } from "#components/shell/freshness.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { ListPanel } from "#components/ui/list-panel.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import { usePaging } from "#components/ui/use-paging.ts";
import { useZone } from "#components/ui/zone.tsx";
import type { AuditResult, AuditRow } from "#db/console/list-audit.ts";
import type { Region } from "#domain/region.ts";
import { changeWords } from "./change-words.ts";

const ROWS = "25";
const SKELETON_ROWS = 6;
const COLUMNS: readonly Column[] = [
  { key: "at", label: "Time" },
  { key: "action", label: "Action" },
  { key: "change", label: "Change" },
  { key: "reason", label: "Reason" },
  { key: "actor", label: "By" },
  { key: "result", label: "Result" },
];
const RESULTS: Readonly<Record<AuditResult, { label: string; tone: Tone }>> = {
  ok: { label: "Done", tone: "ok" },
  denied: { label: "Denied", tone: "danger" },
  conflict: { label: "Conflict", tone: "warn" },
};

export interface HistoryProps {
  title: string;
  region: Region;
  /** `target`, `tenant`, `action`: as the audit takes them. */
  filters: Filters;
  /** When there is nothing; default for changes. */
  empty?: string;
}

export function History({ title, region, filters, empty = "Nothing was changed yet" }: HistoryProps) {
  const [cursor, setCursor] = useState<string | null>(null);
  const stale = useBehind();
  const asked = { region, limit: ROWS, ...filters, cursor };
  const query = useAudit(asked);
  const page = query.data?.status === "ok" ? query.data : null;
  const paging = usePaging({
    list: "history",
    filters: asked,
    next: page?.data.next ?? null,
    busy: query.isPlaceholderData,
    go: setCursor,
  });
  return (
    <ListPanel
      title={title}
      note="newest first, from the audit"
      stale={stale}
      added={0}
      onShowAdded={() => {}}
      {...paging}
    >
      {query.data === undefined && query.error !== null ? (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} compact />
      ) : query.data?.status === "unavailable" ? (
        <Notice kind="unavailable" title={`Region ${region.toUpperCase()} does not answer`} compact>
          {query.data.detail}
        </Notice>
      ) : page?.data.rows.length === 0 ? (
        <Notice kind="empty" title={empty} compact>
          Every change and every refused one is listed here, with its reason.
        </Notice>
      ) : (
        <Table pinned caption={`${title}, newest first`} columns={COLUMNS} busy={query.isPlaceholderData}>
          {page === null ? (
            <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
          ) : (
            page.data.rows.map((row) => <HistoryLine key={row.id} row={row} />)
          )}
        </Table>
      )}
    </ListPanel>
  );
}

function HistoryLine({ row }: { row: AuditRow }) {
  const result = RESULTS[row.result];
  const change = changeWords(row.before, row.after, useZone());
  const delivery = typeof row.after?.deliveryId === "string" ? row.after.deliveryId : null;
  return (
    <Row>
      <HeadCell className="text-muted">
        <Timestamp iso={row.at} plain />
      </HeadCell>
      <Cell>
        <Link
          href={`/audit?region=${row.region}&target=${encodeURIComponent(row.target)}`}
          prefetch={false}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
        >
          {actionText(row.action)}
        </Link>
      </Cell>
      <Cell wrap className="min-w-48 max-w-96">
        {change}
        {delivery === null ? null : (
          <>
            {" "}
            <Link
              href={`/deliveries/${delivery}`}
              prefetch={false}
              className="text-accent underline-offset-4 hover:underline"
            >
              Open the delivery
            </Link>
          </>
        )}
      </Cell>
      <Cell wrap className="min-w-48 max-w-96">
        {row.reason}
        {row.ticket === null ? null : <span className="text-muted"> ({row.ticket})</span>}
      </Cell>
      <Cell className="text-muted">
        {actorWords(row.actor)}, {row.role}
      </Cell>
      <Cell>
        <StatusText tone={result.tone} label={result.label} />
      </Cell>
    </Row>
  );
}
