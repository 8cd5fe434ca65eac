"use client";
/** One page of deliveries. Rows under the pointer or the focus keep their place; new ones are announced. */
import Link from "next/link";
import { ageAt, relativeTo } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { reasonWords, resultText, STATE_WORDS } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { formatAge } from "#domain/queue-age.ts";
import { HeldMark } from "./held-mark.tsx";

export const DELIVERY_COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "state", label: "State" },
  { key: "tenant", label: "Tenant" },
  { key: "destination", label: "Destination" },
  { key: "event", label: "Event type" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "result", label: "Last result" },
  { key: "age", label: "Age", align: "right" },
  { key: "next", label: "Next or end", align: "right" },
];

const SKELETON_ROWS = 12;

export interface DeliveriesTableProps {
  /** Null while nothing has been read. */
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
}

/** Ages are told against the database time of the answer. */
export function DeliveriesTable({ rows, asOf, busy }: DeliveriesTableProps) {
  return (
    <Table caption="Deliveries, newest first" columns={DELIVERY_COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={DELIVERY_COLUMNS.length} />
      ) : (
        rows.map((row) => <DeliveryLine key={row.id} row={row} asOf={asOf} />)
      )}
    </Table>
  );
}

function DeliveryLine({ row, asOf }: { row: DeliveryRow; asOf: string }) {
  const state = STATE_WORDS[row.state];
  return (
    <Row className="group">
      <HeadCell>
        <span className="inline-flex items-center gap-1">
          <Link
            href={`/deliveries/${row.id}`}
            prefetch={false}
            className="underline-offset-4 hover:underline"
          >
            <ShortId id={row.id} />
          </Link>
          <QuietCopy id={row.id} what="delivery id" />
        </span>
      </HeadCell>
      <Cell>
        <span className="inline-flex items-center gap-2 align-top">
          <StatusText tone={state.tone} icon={state.icon} label={state.label} />
          {row.reason ? <span className="text-muted">{reasonWords(row.reason)}</span> : null}
        </span>
      </Cell>
      <Cell>{row.tenant.name}</Cell>
      <Cell>
        <span title={row.destination.host}>{row.destination.name}</span>
      </Cell>
      <Cell className="text-muted">
        {row.eventType}
        {row.serviceClass === "urgent" ? <span className="ml-2 font-medium text-fg">urgent</span> : null}
      </Cell>
      <Cell align="right">{row.attempts}</Cell>
      <Cell className="text-muted">{resultText(row.lastOutcome, row.lastStatus)}</Cell>
      <Cell align="right">{formatAge(ageAt(row.createdAt, asOf))}</Cell>
      <Cell align="right">
        <NextAttempt row={row} asOf={asOf} />
      </Cell>
    </Row>
  );
}

function NextAttempt({ row, asOf }: { row: DeliveryRow; asOf: string }) {
  if (row.finishedAt !== null) return <NearTimestamp iso={row.finishedAt} asOf={asOf} />;
  if (row.state === "leased") return <span className="text-muted">in flight</span>;
  // What holds a row says more than a due time that has passed.
  if (row.held.length > 0) return <HeldMark blockers={row.held} />;
  return (
    <>
      <NearTimestamp iso={row.dueAt} asOf={asOf} />{" "}
      <span className="text-faint">{relativeTo(row.dueAt, asOf)}</span>
    </>
  );
}
