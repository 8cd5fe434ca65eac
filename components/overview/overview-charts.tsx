"use client";
/** The charts of the overview: one picture for each region on one scale, over the range of the page's address. */
import type { ReactNode } from "react";
import { ChartGrid } from "#components/charts/chart-grid.tsx";
import { REGION_CHARTS } from "#components/charts/region-charts.tsx";
import { useSeries } from "#components/queries/series.ts";
import { useRange } from "#components/shell/time-range.tsx";
import type { Region } from "#domain/region.ts";

export interface OverviewChartsProps {
  regions: readonly Region[];
  stale: boolean;
  /** A panel after the charts. */
  children?: ReactNode;
}

export function OverviewCharts({ regions, stale, children }: OverviewChartsProps) {
  const [range] = useRange();
  const us = useSeries({ region: "us", range }, regions.includes("us"));
  const eu = useSeries({ region: "eu", range }, regions.includes("eu"));
  const queries = { us, eu };
  return (
    <section aria-label="Charts">
      <ChartGrid
        kinds={REGION_CHARTS}
        stale={stale}
        rows={regions.map((region) => ({ key: region, name: region.toUpperCase(), query: queries[region] }))}
      >
        {children}
      </ChartGrid>
    </section>
  );
}
