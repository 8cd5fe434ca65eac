"use client";
/** Dead letters one by one: reason and code, how long each has waited for a person, whether its body is still there. */
import Link from "next/link";
import type { MouseEvent } from "react";
import { SelectBox } from "#components/deliveries/select-box.tsx";
import type { Selection } from "#components/deliveries/use-selection.ts";
import { ageAt } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { DeadLetterRow } from "#db/console/list-dead-letters.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { ReasonCell } from "./cause-cells.tsx";
import { codeText } from "./cause-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "id", label: "Delivery" },
  { key: "tenant", label: "Tenant" },
  { key: "region", label: "Region" },
  { key: "destination", label: "Destination" },
  { key: "reason", label: "Reason" },
  { key: "code", label: "Code", align: "right" },
  { key: "attempts", label: "Attempts", align: "right" },
  { key: "died", label: "Died at", align: "right" },
  { key: "age", label: "Age", align: "right" },
  { key: "payload", label: "Payload available until" },
  { key: "replays", label: "Previous replays", align: "right" },
];

const SKELETON_ROWS = 12;

export interface DeadLettersTableProps {
  caption: string;
  region: Region;
  /** Null while nothing has been read. */
  rows: readonly DeadLetterRow[] | null;
  asOf: string | null;
  busy: boolean;
  /** Left out where rows are only looked at. */
  selection?: Selection;
}

/** Latest death first. What can be done to one stands on its own page. */
export function DeadLettersTable({ caption, region, rows, asOf, busy, selection }: DeadLettersTableProps) {
  const ids = rows?.map(({ id }) => id) ?? [];
  const columns =
    selection === undefined
      ? COLUMNS
      : [
          { key: "select", label: <SelectAll ids={ids} selection={selection} />, className: "w-8" },
          ...COLUMNS,
        ];
  return (
    <Table caption={caption} columns={columns} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={columns.length} />
      ) : (
        rows.map((row) => (
          <DeadLetterLine
            key={row.id}
            row={row}
            asOf={asOf}
            region={region}
            select={
              selection === undefined
                ? null
                : {
                    on: selection.ids.has(row.id),
                    press: (event) => selection.toggle(row.id, event.shiftKey, ids),
                  }
            }
          />
        ))
      )}
    </Table>
  );
}

function SelectAll({ ids, selection }: { ids: readonly string[]; selection: Selection }) {
  return (
    <SelectBox
      label={`Select the ${ids.length} on this page`}
      checked={ids.length > 0 && ids.every((id) => selection.ids.has(id))}
      disabled={ids.length === 0}
      onPress={() => selection.toggleAll(ids)}
    />
  );
}

interface DeadLetterLineProps {
  row: DeadLetterRow;
  asOf: string;
  region: Region;
  /** Null where rows are only looked at. */
  select: { on: boolean; press: (event: MouseEvent) => void } | null;
}

function DeadLetterLine({ row, asOf, region, select }: DeadLetterLineProps) {
  return (
    <Row className={select?.on ? "group bg-accent-soft" : "group"}>
      {select === null ? null : (
        <Cell className="w-8">
          <SelectBox label={`Select delivery ${row.id}`} checked={select.on} onPress={select.press} />
        </Cell>
      )}
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
      <Cell>{row.tenant.name}</Cell>
      <Cell>{region.toUpperCase()}</Cell>
      <Cell>
        <span title={row.destination.host}>{row.destination.name}</span>
      </Cell>
      <Cell>
        <ReasonCell row={row} />
      </Cell>
      <Cell align="right">{codeText(row)}</Cell>
      <Cell align="right">{row.attempts}</Cell>
      <Cell align="right">
        <NearTimestamp iso={row.diedAt} asOf={asOf} />
      </Cell>
      <Cell align="right">{formatAge(ageAt(row.diedAt, asOf))}</Cell>
      <Cell>
        <PayloadCell row={row} asOf={asOf} />
      </Cell>
      <Cell align="right">{row.replays}</Cell>
    </Row>
  );
}

/** Retention keeps the payload of a dead letter for as long as it is one. */
export function PayloadCell({ row, asOf }: { row: DeadLetterRow; asOf: string }) {
  if (row.payload === "kept") {
    return (
      <span className="text-muted" title="It is kept for as long as this is a dead letter">
        no end date
      </span>
    );
  }
  if (row.payload === "missing") return "not there";
  if (row.payload === "restricted") return "restricted, can be given back";
  return (
    <>
      erased {row.payloadErasedAt === null ? null : <NearTimestamp iso={row.payloadErasedAt} asOf={asOf} />}
    </>
  );
}
