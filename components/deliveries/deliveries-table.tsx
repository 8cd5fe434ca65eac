"use client";
/** One page of deliveries. Rows under the pointer or the focus keep their place; new ones are announced. */
import { PanelRight } from "lucide-react";
import Link from "next/link";
import type { MouseEvent } from "react";
import { replayPath } from "#components/queries/replays.ts";
import { IconButton } from "#components/ui/button.tsx";
import { ageAt } from "#components/ui/relative.ts";
import { QuietCopy, ShortId } from "#components/ui/short-id.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, Clipped, type Column, HeadCell, Lines, Row, Table } from "#components/ui/table.tsx";
import { resultText } from "#components/ui/words.ts";
import type { DeliveryRow } from "#db/console/list-deliveries.ts";
import { formatAge } from "#domain/queue-age.ts";
import type { Region } from "#domain/region.ts";
import { AttemptsCell, NextCell, StateCell } from "./delivery-cells.tsx";
import { SelectBox } from "./select-box.tsx";
import type { Selection } from "./use-selection.ts";

/** What the list's own filters have said is not said again in each row. */
export type SaidByFilters = Readonly<Record<"tenant", boolean>>;

interface ListColumn extends Column {
  said?: keyof SaidByFilters;
  /** Only drawn when a row of the page belongs to a batch. */
  ofBatches?: true;
}

const COLUMNS: readonly ListColumn[] = [
  { key: "id", label: "Delivery" },
  { key: "tenant", label: "Tenant", said: "tenant" },
  { key: "destination", label: "Destination", srLabel: " and event type" },
  { key: "state", label: "State" },
  { key: "next", label: "Next attempt", align: "right" },
  { key: "result", label: "Last result", srLabel: ", attempts, and failures of the most" },
  { key: "age", label: "Age", align: "right" },
  { key: "replay", label: "Replay batch", ofBatches: true },
];

const SKELETON_ROWS = 12;

export interface DeliveriesTableProps {
  /** Null while nothing has been read. */
  rows: readonly DeliveryRow[] | null;
  asOf: string | null;
  busy: boolean;
  /** "Deliveries, newest first" */
  caption: string;
  region: Region;
  said: SaidByFilters;
  selection: Selection;
  /** The delivery in the side panel. */
  open: string | null;
  onPeek: (id: string) => void;
}

/** Ages are told against the database time of the answer. */
export function DeliveriesTable({
  rows,
  asOf,
  busy,
  caption,
  region,
  said,
  selection,
  open,
  onPeek,
}: DeliveriesTableProps) {
  const ids = rows?.map(({ id }) => id) ?? [];
  const inBatches = rows?.some(({ replayId }) => replayId !== null) ?? false;
  const columns = [
    {
      key: "select",
      label: (
        <SelectBox
          label={`Select the ${ids.length} on this page`}
          checked={ids.length > 0 && ids.every((id) => selection.ids.has(id))}
          disabled={ids.length === 0}
          onPress={() => selection.toggleAll(ids)}
        />
      ),
      className: "w-8",
    },
    ...COLUMNS.filter((column) => !(column.said && said[column.said]) && (!column.ofBatches || inBatches)),
  ];
  return (
    <Table caption={caption} columns={columns} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={columns.length} />
      ) : (
        rows.map((row) => (
          <DeliveryLine
            key={row.id}
            row={row}
            asOf={asOf}
            region={region}
            said={said}
            inBatches={inBatches}
            selected={selection.ids.has(row.id)}
            current={open === row.id}
            onSelect={(event) => selection.toggle(row.id, event.shiftKey, ids)}
            onPeek={() => onPeek(row.id)}
          />
        ))
      )}
    </Table>
  );
}

interface DeliveryLineProps {
  row: DeliveryRow;
  asOf: string;
  region: Region;
  said: SaidByFilters;
  inBatches: boolean;
  selected: boolean;
  current: boolean;
  onSelect: (event: MouseEvent) => void;
  onPeek: () => void;
}

function DeliveryLine(props: DeliveryLineProps) {
  const { row, asOf, region, said, inBatches, selected, current, onSelect, onPeek } = props;
  return (
    <Row className={selected || current ? "group bg-accent-soft" : "group"}>
      <Cell className="w-8">
        <SelectBox label={`Select delivery ${row.id}`} checked={selected} onPress={onSelect} />
      </Cell>
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
          <span className="opacity-0 focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
            <IconButton label="Show beside the list" size="small" onClick={onPeek} pressed={current}>
              <PanelRight aria-hidden="true" className="size-3.5" />
            </IconButton>
          </span>
        </span>
      </HeadCell>
      {said.tenant ? null : (
        <Cell>
          <Clipped text={row.tenant.name} />
        </Cell>
      )}
      <Cell>
        <Destination row={row} />
      </Cell>
      <Cell>
        <StateCell row={row} asOf={asOf} stacked />
      </Cell>
      <Cell align="right">
        <NextCell row={row} asOf={asOf} />
      </Cell>
      <Cell className="text-muted">
        <Lines under={<AttemptsCell row={row} />}>
          {resultText(row.lastOutcome, row.lastStatus) || <span className="text-faint">not tried</span>}
        </Lines>
      </Cell>
      <Cell align="right">{formatAge(ageAt(row.createdAt, asOf))}</Cell>
      {inBatches ? (
        <Cell>
          {row.replayId === null ? null : (
            <Link
              href={replayPath(region, row.replayId)}
              prefetch={false}
              className="inline-flex min-h-6 items-center underline-offset-4 hover:underline"
            >
              <ShortId id={row.replayId} />
            </Link>
          )}
        </Cell>
      ) : null}
    </Row>
  );
}

function Destination({ row: { destination, eventType, serviceClass } }: { row: DeliveryRow }) {
  const urgent =
    serviceClass === "urgent" ? <span className="ml-1.5 font-medium text-fg">urgent</span> : null;
  return (
    <Lines
      under={
        <>
          {eventType}
          {urgent}
        </>
      }
    >
      <Clipped text={destination.name} title={`${destination.name}, ${destination.host}`} />
    </Lines>
  );
}
