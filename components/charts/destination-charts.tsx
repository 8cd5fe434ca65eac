"use client";
/** The charts of one destination over a range: service time, outcomes by code, first attempts, attempts per delivery. */
import { useSeries } from "#components/queries/series.ts";
import type { Region } from "#domain/region.ts";
import type { SeriesRange } from "#domain/series.ts";
import type { ChartKind } from "./chart-data.ts";
import { ChartGrid } from "./chart-grid.tsx";

const KINDS: readonly ChartKind[] = ["service", "outcomes", "first-attempt", "ends"];

export interface DestinationChartsProps {
  region: Region;
  /** `dst_...` */
  destinationId: string;
  range: SeriesRange;
}

export function DestinationCharts({ region, destinationId, range }: DestinationChartsProps) {
  const query = useSeries({ region, range, destination: destinationId });
  return <ChartGrid kinds={KINDS} rows={[{ key: region, name: region.toUpperCase(), query }]} />;
}
