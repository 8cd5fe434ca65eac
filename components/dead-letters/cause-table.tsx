"use client";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
/** One page of causes: what it is, how many, whom it hits, whether it goes on, and who looks after it. */
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import type { DeadLetterGroupRow } from "#db/console/list-dead-letter-groups.ts";
import { ClassCell, CodeCell, CountCell, DestinationCell, StateCell, TenantsCell } from "./cause-cells.tsx";
import type { CauseRowsProps } from "./cause-list.tsx";
import { CauseMenu } from "./cause-menu.tsx";
import { causeWords } from "./cause-words.ts";
import { TrendBars } from "./trend-bars.tsx";
import type { DeadLetterFilters } from "./use-dead-letter-filters.ts";

const COLUMNS: readonly Column[] = [
  { key: "cause", label: "Cause" },
  { key: "class", label: "Class and code" },
  { key: "count", label: "Count", align: "right" },
  { key: "trend", label: "Trend 24 h" },
  { key: "status", label: "Status" },
  { key: "destination", label: "Destination" },
  { key: "tenants", label: "Tenants and region" },
  { key: "first", label: "First seen", align: "right" },
  { key: "last", label: "Last seen", align: "right" },
  { key: "assignee", label: "Assignee" },
  { key: "more", label: "", srLabel: "More" },
];

const SKELETON_ROWS = 8;

export function CauseTable({ rows, asOf, busy, list }: CauseRowsProps) {
  return (
    <Table caption="Causes of dead letters, newest entry first" columns={COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <CauseLine key={row.id} row={row} asOf={asOf} list={list} />)
      )}
    </Table>
  );
}

function CauseLine({ row, asOf, list }: { row: DeadLetterGroupRow; asOf: string; list: DeadLetterFilters }) {
  return (
    <Row className="align-top *:py-1.5">
      <HeadCell>
        <CauseButton row={row} list={list} />
      </HeadCell>
      <Cell>
        <ClassCell row={row} />
        <span className="block text-muted">
          <CodeCell row={row} />
        </span>
      </Cell>
      <Cell align="right">
        <CountCell row={row} />
      </Cell>
      <Cell>
        <TrendBars values={row.trend} />
      </Cell>
      <Cell>
        <StateCell row={row} />
      </Cell>
      <Cell>
        <DestinationCell row={row} />
      </Cell>
      <Cell>
        <TenantsCell row={row} />
        <span className="block text-axis text-faint">{list.region.toUpperCase()}</span>
      </Cell>
      <Cell align="right">
        <NearTimestamp iso={row.firstSeenAt} asOf={asOf} />
      </Cell>
      <Cell align="right">
        <NearTimestamp iso={row.lastSeenAt} asOf={asOf} />
      </Cell>
      <Cell>{row.assignee ?? <span className="text-faint">nobody</span>}</Cell>
      <Cell className="w-8">
        <CauseMenu row={row} asOf={asOf} list={list} />
      </Cell>
    </Row>
  );
}

/** Opens the panel beside the list. The tag tells causes of one reason, code and destination apart. */
export function CauseButton({ row, list }: { row: DeadLetterGroupRow; list: DeadLetterFilters }) {
  return (
    <button
      type="button"
      aria-expanded={list.group === row.id}
      onClick={() => list.open(row.id)}
      className="min-h-6 text-left font-medium underline-offset-4 hover:underline max-md:min-h-11"
    >
      {causeWords(row).title}
      <span className="block font-mono font-normal text-axis text-faint">#{row.tag}</span>
    </button>
  );
}
