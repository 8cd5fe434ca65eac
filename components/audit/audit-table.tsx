"use client";
/** One page of the audit. The time opens a row's difference. */
import Link from "next/link";
import { ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, Clipped, type Column, HeadCell, Lines, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { AuditRow } from "#db/console/list-audit.ts";
import { actionText, RESULT_WORDS, scopeText, targetHref } from "./audit-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "time", label: "Time" },
  { key: "actor", label: "Actor", srLabel: " and role" },
  { key: "action", label: "Action" },
  { key: "result", label: "Result" },
  { key: "target", label: "Target", srLabel: " and scope" },
  { key: "reason", label: "Reason", srLabel: " and ticket" },
  { key: "correlation", label: "Correlation id" },
];

const SKELETON_ROWS = 12;
const PUBLIC_ID = /^[a-z]{3}_[0-9a-f]{32}$/;

export interface AuditTableProps {
  /** Null while nothing has been read. */
  rows: readonly AuditRow[] | null;
  asOf: string | null;
  busy: boolean;
  /** The row that is open. */
  open: string | null;
  onOpen: (id: string) => void;
}

export function AuditTable({ rows, asOf, busy, open, onOpen }: AuditTableProps) {
  return (
    <Table pinned caption="Audit, newest first" columns={COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => (
          <AuditLine
            key={row.id}
            row={row}
            asOf={asOf}
            expanded={open === row.id}
            onOpen={() => onOpen(row.id)}
          />
        ))
      )}
    </Table>
  );
}

interface AuditLineProps {
  row: AuditRow;
  asOf: string;
  expanded: boolean;
  onOpen: () => void;
}

function AuditLine({ row, asOf, expanded, onOpen }: AuditLineProps) {
  const result = RESULT_WORDS[row.result];
  return (
    <Row>
      <HeadCell>
        <button
          type="button"
          aria-expanded={expanded}
          onClick={onOpen}
          className="inline-flex min-h-6 items-center underline-offset-4 hover:underline max-md:min-h-11"
        >
          <NearTimestamp iso={row.at} asOf={asOf} />
          <span className="sr-only">
            , open {actionText(row.action)} of {row.actor}
          </span>
        </button>
      </HeadCell>
      <Cell>
        <Lines under={row.role}>
          <Clipped wide text={row.actor} />
        </Lines>
      </Cell>
      <Cell>{actionText(row.action)}</Cell>
      <Cell>
        <StatusText tone={result.tone} label={result.label} />
      </Cell>
      <Cell>
        <Lines under={scopeText(row)}>
          <Target row={row} />
        </Lines>
      </Cell>
      <Cell>
        <Lines under={row.ticket}>
          <Clipped wide text={row.reason} />
        </Lines>
      </Cell>
      <Cell className="text-faint">
        <span className="block max-w-24 truncate font-mono text-axis" title={row.correlationId}>
          {row.correlationId}
        </span>
      </Cell>
    </Row>
  );
}

export function Target({ row }: { row: AuditRow }) {
  const href = targetHref(row);
  const name = PUBLIC_ID.test(row.target) ? <ShortId id={row.target} /> : <Clipped text={row.target} />;
  if (href === null) return name;
  return (
    <Link
      href={href}
      prefetch={false}
      className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
    >
      {name}
    </Link>
  );
}
