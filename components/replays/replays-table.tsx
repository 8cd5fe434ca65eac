"use client";
/** Replay batches as a table: state, people, what is in them, how far they are, and why they stopped. */
import Link from "next/link";
import { actorWords } from "#components/ui/actor-words.ts";
import { formatCount, plural } from "#components/ui/format.ts";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { useZone } from "#components/ui/zone.tsx";
import type { ReplayRow, ReplayScope } from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { rateWords, shareWords, stateWords } from "./replay-words.ts";
import { storedText } from "./stored-text.ts";

const COLUMNS: readonly Column[] = [
  { key: "name", label: "Name" },
  { key: "state", label: "State" },
  { key: "by", label: "Requested by" },
  { key: "reviewer", label: "Reviewer" },
  { key: "items", label: "Items", align: "right" },
  { key: "scope", label: "Scope" },
  { key: "rate", label: "Rate", align: "right" },
  { key: "progress", label: "Progress", align: "right" },
  { key: "success", label: "Success", align: "right" },
  { key: "cause", label: "Stop reason" },
  { key: "updated", label: "Updated", align: "right" },
];
const SKELETON_ROWS = 6;

export interface ReplaysTableProps {
  caption: string;
  region: Region;
  /** Null while nothing has been read. */
  rows: readonly ReplayRow[] | null;
  asOf: string | null;
  busy: boolean;
}

export function ReplaysTable({ caption, region, rows, asOf, busy }: ReplaysTableProps) {
  return (
    <Table pinned caption={caption} columns={COLUMNS} busy={busy}>
      {rows === null || asOf === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        rows.map((row) => <ReplayLine key={row.id} row={row} region={region} asOf={asOf} />)
      )}
    </Table>
  );
}

function ReplayLine({ row, region, asOf }: { row: ReplayRow; region: Region; asOf: string }) {
  return (
    <Row>
      <HeadCell className="max-w-72">
        <ReplayLink row={row} region={region} />
      </HeadCell>
      <Cell>
        <StatusText {...stateWords(row.state, row.pausedBy)} />
        {row.mayReview ? <span className="ml-1.5 text-warn">by you</span> : null}
      </Cell>
      <Cell>{actorWords(row.requestedBy)}</Cell>
      <Cell>{reviewerWords(row)}</Cell>
      <Cell align="right">{formatCount(row.items)}</Cell>
      <Cell>{scopeWords(row.scope)}</Cell>
      <Cell align="right">{rateWords(row.ratePerSecond)}</Cell>
      <Cell align="right">{row.progress}</Cell>
      <Cell align="right">{shareWords(row.successShare)}</Cell>
      <Cell className="max-w-80 truncate">{row.cause === null ? "" : <StopReason cause={row.cause} />}</Cell>
      <Cell align="right">
        <NearTimestamp iso={row.updatedAt} asOf={asOf} />
      </Cell>
    </Row>
  );
}

/** The whole of it stands on the batch's page. */
function StopReason({ cause }: { cause: string }) {
  const words = storedText(cause, useZone());
  return <span title={words}>{words}</span>;
}

/** The name, leading to the batch. */
export function ReplayLink({ row, region }: { row: Pick<ReplayRow, "id" | "name">; region: Region }) {
  return (
    <Link
      href={`/replays/${row.id}?region=${region}`}
      prefetch={false}
      className="inline-flex min-h-6 max-w-full items-center truncate font-medium underline-offset-4 hover:underline"
    >
      {row.name}
    </Link>
  );
}

/** "nobody yet", or who it was, and that the glass was broken. */
export function reviewerWords({ reviewer, breakGlassBy }: Pick<ReplayRow, "reviewer" | "breakGlassBy">) {
  if (reviewer === null) return "nobody yet";
  const name = actorWords(reviewer);
  return breakGlassBy === null ? name : `${name}, break-glass`;
}

/** "Summit Gear Exchange: Ledger", "3 tenants, 4 destinations". */
export function scopeWords({ tenant, destination, tenants, destinations }: ReplayScope): string {
  const whom = tenant?.name ?? plural(tenants, "tenant");
  return destination === null
    ? `${whom}, ${plural(destinations, "destination")}`
    : `${whom}: ${destination.name}`;
}
