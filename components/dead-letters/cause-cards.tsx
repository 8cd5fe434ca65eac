"use client";
/** The causes on a narrow screen: one card each with the fields that decide what to do. */
import { CardField, CardFields, CardSkeletons, Cards } from "#components/ui/cards.tsx";
import { relativeTo } from "#components/ui/relative.ts";
import { ClassCell, CodeCell, CountCell, DestinationCell, StateCell, TenantsCell } from "./cause-cells.tsx";
import type { CauseRowsProps } from "./cause-list.tsx";
import { CauseButton } from "./cause-table.tsx";
import { TrendBars } from "./trend-bars.tsx";

const SKELETON_CARDS = 4;

export function CauseCards({ rows, asOf, busy, list }: CauseRowsProps) {
  if (rows === null || asOf === null) return <CardSkeletons cards={SKELETON_CARDS} className="h-36" />;
  return (
    <Cards caption="Causes of dead letters, newest entry first" busy={busy}>
      {rows.map((row) => (
        <li key={row.id} className="border-line border-b px-4 py-3 last:border-b-0">
          <CauseButton row={row} list={list} />
          <CardFields className="mt-1">
            <CardField label="Class">
              <span className="inline-flex flex-wrap gap-x-2">
                <ClassCell row={row} /> <CodeCell row={row} />
              </span>
            </CardField>
            <CardField label="Count">
              <CountCell row={row} />
              <TrendBars values={row.trend} />
            </CardField>
            <CardField label="Where">
              <TenantsCell row={row} />: <DestinationCell row={row} />
            </CardField>
            <CardField label="Last seen">{relativeTo(row.lastSeenAt, asOf)}</CardField>
            <CardField label="Status">
              <StateCell row={row} />
              {row.assignee === null ? null : <span className="block break-words">{row.assignee}</span>}
            </CardField>
          </CardFields>
        </li>
      ))}
    </Cards>
  );
}
