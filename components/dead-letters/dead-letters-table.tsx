"use client";
/** One page of dead letters: reason and class in words, the code, and how long each has waited for a person. */
import Link from "next/link";
import { ageAt } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText, type Tone } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { DEAD_REASON_WORDS } from "#components/ui/words.ts";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import type { DeadClass } from "#domain/delivery.ts";
import { formatAge } from "#domain/queue-age.ts";

const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "reason", label: "Reason" },
  { key: "class", label: "Class" },
  { key: "code", label: "Code", align: "right" },
  { key: "tenant", label: "Tenant" },
  { key: "destination", label: "Destination" },
  { key: "event", label: "Event type" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "age", label: "Age", align: "right" },
];

const SKELETON_ROWS = 12;

/** Only system reasons page a person, so only they are drawn as danger. */
const CLASS_TONES: Readonly<Record<DeadClass, Tone>> = {
  receiver: "neutral",
  exhausted: "warn",
  poison: "warn",
  system: "danger",
};

const CLASS_LABELS: Readonly<Record<DeadClass, string>> = {
  receiver: "Receiver",
  exhausted: "Exhausted",
  poison: "Poison",
  system: "System",
};

export interface DeadLettersTableProps {
  /** Null while nothing has been read. */
  rows: readonly DeadLetterRow[] | null;
  asOf: string | null;
  busy: boolean;
}

/** Latest death first. */
export function DeadLettersTable({ rows, asOf, busy }: DeadLettersTableProps) {
  return (
    <Table caption="Dead letters, latest first" columns={COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <DeadLetterLine key={row.id} row={row} asOf={asOf} />)
      )}
    </Table>
  );
}

function DeadLetterLine({ row, asOf }: { row: DeadLetterRow; asOf: string }) {
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
        {DEAD_REASON_WORDS[row.reason]}
        {row.willNotReplay ? <span className="text-faint"> (will not be replayed)</span> : null}
      </Cell>
      <Cell>
        <StatusText tone={CLASS_TONES[row.reasonClass]} label={CLASS_LABELS[row.reasonClass]} />
      </Cell>
      <Cell align="right">{row.lastStatus ?? <span className="text-faint">–</span>}</Cell>
      <Cell>{row.tenant.name}</Cell>
      <Cell>
        <span title={row.destination.host}>{row.destination.name}</span>
      </Cell>
      <Cell className="text-muted">{row.eventType}</Cell>
      <Cell align="right">{row.attempts}</Cell>
      <Cell align="right">
        <NearTimestamp iso={row.diedAt} asOf={asOf} />
      </Cell>
      <Cell align="right">{formatAge(ageAt(row.diedAt, asOf))}</Cell>
    </Row>
  );
}
