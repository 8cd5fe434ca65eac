"use client";
/** The charts of one tenant over a range: charts 1 to 4 of the overview, filtered. Its samples are taken once a minute. */
import { useSeries } from "#components/queries/series.ts";
import type { Region } from "#domain/region.ts";
import type { SeriesRange } from "#domain/series.ts";
import type { ChartKind } from "./chart-data.ts";
import { ChartGrid } from "./chart-grid.tsx";

const KINDS: readonly ChartKind[] = ["first-attempt", "due", "outcomes", "dead"];

export interface TenantChartsProps {
  region: Region;
  /** `ten_...` */
  tenantId: string;
  range: SeriesRange;
}

export function TenantCharts({ region, tenantId, range }: TenantChartsProps) {
  const query = useSeries({ region, range, tenant: tenantId });
  return <ChartGrid kinds={KINDS} rows={[{ key: region, name: region.toUpperCase(), query }]} />;
}
