"use client";
/** One page of tenants, a line for each region. Held work stands apart from late work. */
import Link from "next/link";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import type { TenantList, TenantRow } from "#db/console/list-tenants.ts";
import { Nothing } from "./figures.tsx";
import { DeadCell, DueCell, FailingCell, FirstAttemptCell, HeldCell, LimitCell } from "./tenant-cells.tsx";
import { TenantStateMark } from "./tenant-state.tsx";

const OUR_OWNER = "sluice";
const SKELETON_ROWS = 12;

const COLUMNS: readonly Column[] = [
  { key: "tenant", label: "Tenant" },
  { key: "region", label: "Region" },
  { key: "state", label: "State" },
  { key: "first", label: "First attempt", srLabel: ", oldest", align: "right" },
  { key: "due", label: "Due, oldest", align: "right" },
  { key: "held", label: "Held", align: "right" },
  { key: "dead", label: "Dead letters", align: "right" },
  { key: "failing", label: "Failing", srLabel: " destinations", align: "right" },
  { key: "limit", label: "In flight / limit", align: "right" },
  { key: "class", label: "Class" },
  { key: "owner", label: "Owner" },
];

export interface TenantsTableProps {
  /** Null while nothing has been read. */
  rows: readonly TenantRow[] | null;
  list: TenantList | null;
  busy: boolean;
}

export function TenantsTable({ rows, list, busy }: TenantsTableProps) {
  return (
    <Table pinned caption="Tenants by region" columns={COLUMNS} busy={busy}>
      {rows === null || list === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <TenantLine key={`${row.region}:${row.id}`} row={row} list={list} />)
      )}
    </Table>
  );
}

function TenantLine({ row, list }: { row: TenantRow; list: TenantList }) {
  return (
    <Row className="group">
      <HeadCell>
        <Link
          href={`/tenants/${row.id}?region=${row.region}`}
          prefetch={false}
          title={row.slug}
          className="inline-flex min-h-6 items-center font-medium underline-offset-4 hover:underline"
        >
          {row.name}
        </Link>
      </HeadCell>
      <Cell className="text-muted">{row.region.toUpperCase()}</Cell>
      <Cell>
        <TenantStateMark state={row.state} until={row.stateUntil} reason={row.stateReason} />
      </Cell>
      <Cell align="right">
        <FirstAttemptCell row={row} list={list} />
      </Cell>
      <Cell align="right">
        <DueCell row={row} list={list} />
      </Cell>
      <Cell align="right">
        <HeldCell row={row} />
      </Cell>
      <Cell align="right">
        <DeadCell row={row} />
      </Cell>
      <Cell align="right">
        <FailingCell row={row} />
      </Cell>
      <Cell align="right">
        <LimitCell row={row} />
      </Cell>
      <Cell className="text-muted">
        {row.classes[0] === undefined ? (
          <Nothing label="no live work" />
        ) : (
          <span title={row.classes.join(", ")}>{row.classes[0]}</span>
        )}
      </Cell>
      <Cell className={row.claimOwner === OUR_OWNER ? "text-muted" : "font-medium"}>{row.claimOwner}</Cell>
    </Row>
  );
}
