"use client";
/**
 * One chart: a picture for each region (or the one thing that is looked at) on one scale, the same numbers as a table and
 * as CSV, and what stands in place of a picture that cannot be drawn. The picture keeps its height in every state.
 */
import type { UseQueryResult } from "@tanstack/react-query";
import { Download, Table2, TrendingUp } from "lucide-react";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useDeferredValue, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Series } from "#db/console/read-series.ts";
import { chartCsv } from "./chart-csv.ts";
import { CHARTS, type ChartKind, isEmpty, summaryOf } from "./chart-data.ts";
import { type ChartScale, scaleOf } from "./chart-scale.ts";
import { ChartTable } from "./chart-table.tsx";

const LazyPictures = dynamic(() => import("./pictures.tsx"), {
  ssr: false,
  loading: () => <Skeleton className="h-44 w-full" />,
});
/** Drawn anew only for new numbers, and after what is more urgent than a picture. */
const Pictures = memo(LazyPictures);

/** One picture of a chart. */
export interface ChartRow {
  /** Stable; also the end of the test id: "us". */
  key: string;
  /** "US", or the name of what is looked at. */
  name: string;
  query: UseQueryResult<RegionAnswer<Series>, Error>;
}

export interface ChartPanelProps {
  kind: ChartKind;
  rows: readonly ChartRow[];
  stale?: boolean;
}

export function ChartPanel({ kind, rows, stale = false }: ChartPanelProps) {
  const [asTable, setAsTable] = useState(false);
  const { title, unit, about } = CHARTS[kind];
  const answered = rows.flatMap(({ name, query }) => {
    const series = seriesOf(query);
    return series === null ? [] : [{ name, series }];
  });
  const scale = useSameScale(scaleOf(answered.map(({ series }) => series)));
  const Icon = asTable ? TrendingUp : Table2;
  return (
    <Panel
      title={title}
      note={unit}
      stale={stale}
      actions={
        <span className="flex items-center gap-1">
          <Button
            variant="quiet"
            label={`View ${title.toLowerCase()} as ${asTable ? "chart" : "table"}`}
            onClick={() => setAsTable(!asTable)}
          >
            <Icon aria-hidden="true" className="size-3.5" />
            {asTable ? "Chart" : "Table"}
          </Button>
          <Button
            variant="quiet"
            label={`Download ${title.toLowerCase()} as CSV`}
            disabled={answered.length === 0}
            onClick={() =>
              download(
                `sluice-${kind}.csv`,
                chartCsv(answered.map(({ name, series }) => ({ name, table: CHARTS[kind].table(series) }))),
              )
            }
          >
            <Download aria-hidden="true" className="size-3.5" />
            CSV
          </Button>
        </span>
      }
    >
      <p className="-mt-2 mb-3 text-faint text-table">
        {about}
        {kind !== "ends" && answered.some(({ series }) => series.annotations.length > 0)
          ? "; letters stand for what people did, listed below the charts"
          : ""}
      </p>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        {rows.map((row) => (
          <Figure key={row.key} kind={kind} row={row} scale={scale} asTable={asTable} />
        ))}
      </div>
    </Panel>
  );
}

/** Keeps the object while its values stay, so that a picture on the same scale is not drawn again for it. */
function useSameScale(scale: ChartScale): ChartScale {
  const [kept, keep] = useState(scale);
  const same = (Object.keys(scale) as (keyof ChartScale)[]).every((key) => kept[key] === scale[key]);
  if (!same) keep(scale);
  return same ? kept : scale;
}

function seriesOf(query: ChartRow["query"]): Series | null {
  // The answer to another range or filter is not shown under this one's name.
  if (query.isPlaceholderData || query.data?.status !== "ok") return null;
  return query.data.data;
}

interface FigureProps {
  kind: ChartKind;
  row: ChartRow;
  scale: ChartScale;
  asTable: boolean;
}

/** Test id `ages-us` for the first chart of us: the names that e2e knows. */
function Figure(props: FigureProps) {
  const { kind, row } = props;
  // The verdict and the tables come first; a picture may follow a moment later.
  const series = useDeferredValue(seriesOf(row.query));
  return (
    <figure
      className="min-w-0"
      data-testid={kind === "first-attempt" ? `ages-${row.key}` : `${kind}-${row.key}`}
    >
      <figcaption className="mb-1 flex min-h-6 flex-wrap items-center gap-x-3 text-table">
        <span className="font-medium">{row.name}</span>
        {series === null ? null : <Latest kind={kind} series={series} />}
      </figcaption>
      <div className="min-h-44">{bodyOf(props, series)}</div>
    </figure>
  );
}

function Latest({ kind, series }: { kind: ChartKind; series: Series }) {
  if (!series.sampling && kind !== "ends") {
    return (
      <StatusText
        tone="warn"
        label={
          series.lastSampleAt === null ? "No data: nothing was ever sampled" : "No data: sampling has stopped"
        }
      />
    );
  }
  const { now, alert } = series.amplification;
  if (kind === "ends" && now !== null && now > alert) {
    return <StatusText tone="danger" label={CHARTS[kind].latest(series)} wrap />;
  }
  return (
    <span className="text-muted">
      {CHARTS[kind].latest(series)} at{" "}
      <Timestamp iso={new Date(series.toMs).toISOString()} form="clock" named />
    </span>
  );
}

function bodyOf({ kind, row, scale, asTable }: FigureProps, series: Series | null): ReactNode {
  const { query, name } = row;
  if (query.data === undefined && query.error !== null) {
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} compact />;
  }
  if (query.data?.status === "unavailable" && !query.isPlaceholderData) {
    return (
      <Notice kind="unavailable" title={`Region ${query.data.region.toUpperCase()} does not answer`} compact>
        {query.data.detail}
      </Notice>
    );
  }
  if (series === null) return <Skeleton className="h-44 w-full" />;
  if (isEmpty(kind, series)) return <Nothing kind={kind} />;
  const { title, table } = CHARTS[kind];
  return asTable ? (
    <ChartTable caption={`${title}, ${name}`} table={table(series)} />
  ) : (
    <Pictures kind={kind} series={series} scale={scale} summary={summaryOf(kind, name, series)} />
  );
}

function Nothing({ kind }: { kind: ChartKind }) {
  if (kind === "ends" || kind === "service") {
    return (
      <Notice kind="empty" title="Nothing was sent in this range" compact>
        Deliveries are counted here when they end.
      </Notice>
    );
  }
  return (
    <Notice kind="empty" title="No data in this range" compact>
      The workers of the region store a sample every 5 s. None was stored in this time.
    </Notice>
  );
}

function download(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
