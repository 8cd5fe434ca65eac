"use client";
/** A few deliveries of one tenant or destination, in the words of the whole list. */
import Link from "next/link";
import { AttemptsCell, NextCell, StateCell } from "#components/deliveries/delivery-cells.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { formatAge } from "#domain/queue-age.ts";

const SKELETON_ROWS = 8;
const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "event", label: "Event type" },
  { key: "destination", label: "Destination" },
  { key: "state", label: "State" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "result", label: "Last result" },
  { key: "age", label: "Age", align: "right" },
  { key: "next", label: "Next attempt", align: "right" },
];

export interface RecentDeliveriesTableProps {
  caption: string;
  /** Null while nothing has been read. */
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
}

export function RecentDeliveriesTable({ caption, rows, asOf, busy }: RecentDeliveriesTableProps) {
  return (
    <Table pinned caption={caption} columns={COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <Line key={row.id} row={row} asOf={asOf} />)
      )}
    </Table>
  );
}

function Line({ row, asOf }: { row: DeliveryRow; asOf: string }) {
  return (
    <Row className="group">
      <HeadCell>
        <span className="inline-flex items-center gap-1">
          <Link
            href={`/deliveries/${row.id}`}
            prefetch={false}
            className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
          >
            <ShortId id={row.id} />
          </Link>
          <QuietCopy id={row.id} what="delivery id" />
        </span>
      </HeadCell>
      <Cell className="text-muted">{row.eventType}</Cell>
      <Cell>{row.destination.name}</Cell>
      <Cell>
        <StateCell row={row} asOf={asOf} />
      </Cell>
      <Cell align="right">
        <AttemptsCell row={row} />
      </Cell>
      <Cell className="text-muted">{resultText(row.lastOutcome, row.lastStatus)}</Cell>
      <Cell align="right">{formatAge(ageAt(row.createdAt, asOf))}</Cell>
      <Cell align="right">
        <NextCell row={row} asOf={asOf} />
      </Cell>
    </Row>
  );
}
