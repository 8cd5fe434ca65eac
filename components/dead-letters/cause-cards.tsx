"use client";
/** The causes on a narrow screen: one card each with the fields that decide what to do. */
import type { ReactNode } from "react";
import { relativeTo } from "#components/ui/relative.ts";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { ClassCell, CodeCell, CountCell, DestinationCell, StateCell, TenantsCell } from "./cause-cells.tsx";
import type { CauseRowsProps } from "./cause-list.tsx";
import { CauseButton } from "./cause-table.tsx";
import { TrendBars } from "./trend-bars.tsx";

const SKELETON_CARDS = 4;

export function CauseCards({ rows, asOf, busy, list }: CauseRowsProps) {
  if (rows === null || asOf === null) {
    return (
      <div aria-hidden="true" className="grid gap-3 p-4">
        {Array.from({ length: SKELETON_CARDS }, (_, card) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the stand-ins have no identity and never move.
          <Skeleton key={card} className="h-36 w-full" />
        ))}
      </div>
    );
  }
  return (
    <ul aria-label="Causes of dead letters, newest entry first" aria-busy={busy}>
      {rows.map((row) => (
        <li key={row.id} className="border-line border-b px-4 py-3 last:border-b-0">
          <CauseButton row={row} list={list} />
          <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-table">
            <Field label="Class">
              <span className="inline-flex flex-wrap gap-x-2">
                <ClassCell row={row} /> <CodeCell row={row} />
              </span>
            </Field>
            <Field label="Count">
              <CountCell row={row} />
              <TrendBars values={row.trend} />
            </Field>
            <Field label="Where">
              <TenantsCell row={row} />: <DestinationCell row={row} />
            </Field>
            <Field label="Last seen">{relativeTo(row.lastSeenAt, asOf)}</Field>
            <Field label="Status">
              <StateCell row={row} />
              {row.assignee === null ? null : <span className="block break-words">{row.assignee}</span>}
            </Field>
          </dl>
        </li>
      ))}
    </ul>
  );
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-faint">{label}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
