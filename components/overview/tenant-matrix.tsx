"use client";
/**
 * Who is affected: one line per tenant and region, the worst lag first. Work that people hold stands in columns of its own;
 * work behind a gate, a rate or a cap stays in the lag. Lines under the pointer or the focus do not move.
 */
import Link from "next/link";
import { Button } from "#components/ui/button.tsx";
import { plural } from "#components/ui/format.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { type Column, Table } from "#components/ui/table.tsx";
import { useSettledRows } from "#components/ui/use-settled-rows.ts";
import type { Overview } from "#db/console/read-overview.ts";
import { MatrixCard, MatrixLine } from "./matrix-line.tsx";
import { keyOf, type Line, leftOutOf, linesOf } from "./matrix-lines.ts";

const COLUMNS: readonly Column[] = [
  { key: "tenant", label: "Tenant" },
  { key: "region", label: "Region" },
  { key: "state", label: "State" },
  { key: "first", label: "First attempt", srLabel: ", oldest", align: "right" },
  { key: "p95", label: "p95, 5 m", align: "right" },
  { key: "due", label: "Due", srLabel: ", oldest and count", align: "right" },
  { key: "held", label: "Held", srLabel: " apart, oldest and count", align: "right" },
  { key: "dead", label: "Dead letters", srLabel: ", count and oldest", align: "right" },
  {
    key: "share",
    label: "Requests, 5 m",
    srLabel: ", part of the region's",
    align: "right",
    className: "max-xl:hidden",
  },
  { key: "throttled", label: "429, 5 m", align: "right" },
  { key: "flight", label: "In flight", srLabel: " of limit", align: "right" },
  { key: "last", label: "Delivered", srLabel: ", last", align: "right" },
  { key: "menu", label: "", srLabel: "Actions" },
];

export interface TenantMatrixProps {
  /** Null while nothing has been read. */
  overview: Overview | null;
  stale: boolean;
}

/** A table; cards on narrow screens. */
export function TenantMatrix({ overview, stale }: TenantMatrixProps) {
  const lines = overview === null ? [] : linesOf(overview);
  const scope = overview?.regions.map((answer) => answer.region).join() ?? "";
  const { rows, waiting, release, hold } = useSettledRows(lines, keyOf, scope);
  const silent = overview?.regions.filter((answer) => answer.status === "unavailable") ?? [];
  return (
    <div {...hold}>
      <Panel
        flush
        stale={stale}
        title="Tenants by worst lag"
        note={
          silent.length > 0
            ? `${silent.map((answer) => answer.region.toUpperCase()).join(", ")} did not answer and is not in this table`
            : undefined
        }
        actions={waiting ? <Button onClick={release}>Show the new order</Button> : undefined}
      >
        {overview !== null && lines.length === 0 ? (
          <Notice kind="empty" title="No tenant has work waiting" compact>
            A tenant shows up here when it has deliveries that are not finished, or dead letters.
          </Notice>
        ) : (
          <Lines rows={rows} overview={overview} />
        )}
        <LeftOut
          lines={leftOutOf(overview, lines.length)}
          regions={overview?.regions.map(({ region }) => region) ?? []}
        />
      </Panel>
    </div>
  );
}

function Lines({ rows, overview }: { rows: readonly Line[]; overview: Overview | null }) {
  return (
    <>
      <div className="max-md:hidden">
        <Table pinned caption="Tenants by region, worst lag first" columns={COLUMNS}>
          {overview === null ? (
            <SkeletonRows rows={8} columns={COLUMNS.length} />
          ) : (
            rows.map((line) => <MatrixLine key={keyOf(line)} line={line} overview={overview} />)
          )}
        </Table>
      </div>
      {overview === null ? null : (
        <ul aria-label="Tenants by region, worst lag first" className="divide-y divide-line md:hidden">
          {rows.map((line) => (
            <MatrixCard key={keyOf(line)} line={line} overview={overview} />
          ))}
        </ul>
      )}
    </>
  );
}

function LeftOut({ lines, regions }: { lines: number; regions: readonly string[] }) {
  return (
    <p className="flex flex-wrap gap-x-4 border-line border-t px-4 py-2.5 text-muted text-table">
      {lines === 0
        ? null
        : `${plural(lines, "more line")} with a smaller lag ${lines === 1 ? "is" : "are"} not shown.`}
      <Link
        href={regions.length === 1 ? `/tenants?region=${regions[0]}` : "/tenants"}
        prefetch={false}
        className="text-accent underline-offset-4 hover:underline"
      >
        All tenants
      </Link>
    </p>
  );
}
