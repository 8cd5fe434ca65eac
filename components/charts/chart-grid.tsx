"use client";
/** Several charts of the same thing side by side, and what people did in the range below them. */
import type { ReactNode } from "react";
import { AnnotationList } from "./annotation-list.tsx";
import type { ChartKind } from "./chart-data.ts";
import { ChartPanel, type ChartRow } from "./chart-panel.tsx";

export interface ChartGridProps {
  kinds: readonly ChartKind[];
  rows: readonly ChartRow[];
  stale?: boolean;
  /** Panels after the charts. */
  children?: ReactNode;
}

/** Two columns on wide screens. */
export function ChartGrid({ kinds, rows, stale = false, children }: ChartGridProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 xl:grid-cols-2">
        {kinds.map((kind) => (
          <ChartPanel key={kind} kind={kind} rows={rows} stale={stale} />
        ))}
        {children}
      </div>
      {rows.map(({ key, name, query }) =>
        query.data?.status === "ok" ? (
          <AnnotationList key={key} name={name} annotations={query.data.data.annotations} />
        ) : null,
      )}
    </div>
  );
}
