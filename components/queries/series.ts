"use client";
/** Reads the time series that charts draw. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { RegionAnswer } from "#db/console/read-region.ts";
import type { Series } from "#db/console/read-series.ts";
import type { Region } from "#domain/region.ts";
import type { SeriesRange } from "#domain/series.ts";
import { useLive } from "./live.tsx";

export interface SeriesQuery {
  region: Region;
  range: SeriesRange;
  /** `ten_...` */
  tenant?: string;
  /** `dst_...` */
  destination?: string;
}

/** Of a region, a tenant or a destination. */
export function useSeries(query: SeriesQuery, enabled = true): UseQueryResult<RegionAnswer<Series>, Error> {
  const { region, range, tenant, destination } = query;
  const parameters = new URLSearchParams({
    region,
    range,
    ...(tenant === undefined ? {} : { tenant }),
    ...(destination === undefined ? {} : { destination }),
  });
  return useLive<RegionAnswer<Series>>(`/api/v1/series?${parameters}`, enabled);
}
