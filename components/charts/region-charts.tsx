"use client";
/** The charts of one region over a range: first attempts, due work, outcomes, dead letters, attempts per delivery. */
import { useSeries } from "#components/queries/series.ts";
import type { Region } from "#domain/region.ts";
import type { SeriesRange } from "#domain/series.ts";
import type { ChartKind } from "./chart-data.ts";
import { ChartGrid } from "./chart-grid.tsx";

export const REGION_CHARTS: readonly ChartKind[] = ["first-attempt", "due", "outcomes", "dead", "ends"];

export interface RegionChartsProps {
  region: Region;
  range: SeriesRange;
}

export function RegionCharts({ region, range }: RegionChartsProps) {
  const query = useSeries({ region, range });
  return <ChartGrid kinds={REGION_CHARTS} rows={[{ key: region, name: region.toUpperCase(), query }]} />;
}
